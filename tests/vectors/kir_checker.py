# SPDX-License-Identifier: Apache-2.0
"""docs/kir.md once more, in Python, written from the page and not from the C code: reads vectors and says
whether a decoded msgpack value is a canonical module. test_kir.py holds the two against each other."""
import re
import sys
from pathlib import Path

import msgpack

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client" / "python" / "kilnjit"))
import _kir as K  # noqa: E402

NUMPY = {name: bits // 8 for name, (_, bits, number) in K.TYPES.items() if number >= 0}
BITS = set(K.FLAGS.values())
ENUMS = {K.UNARY: K.UNARY_OPS, K.BINARY: K.BINARY_OPS, K.AUGASSIGN: K.BINARY_OPS, K.COMPARE: K.COMPARE_OPS,
         K.COMP: K.COMP_KINDS}


class Bad(Exception):
    """Not a canonical module."""


def need(condition, why):
    if not condition:
        raise Bad(why)


def vectors():
    """(kind, name, body, bytes, error) of each vector; error is "" for good ones."""
    text = (ROOT / "proto" / "vectors" / "kir.txt").read_text()
    for kind, name, rest in re.findall(r"^== (ok|bad) (\S+)\n(.*?)(?=^== |\Z)", text, flags=re.S | re.M):
        parts = re.split(r"^--\n", rest, flags=re.M)
        yield kind, name, parts[0], bytes.fromhex("".join(parts[1].split())), parts[2].strip() if len(parts) > 2 else ""


def split(f):
    """The nodes of a function: (op, [(letter, operand number, value or list)])."""
    code, at, nodes = f[5], 0, []
    for _ in range(f[4]):
        need(at < len(code) and code[at] in K.OPERANDS, "op")
        op, at, operands = code[at], at + 1, []
        for kind, letter in re.findall(r"([?*]?)(\w)", K.OPERANDS[op]):
            need(at < len(code), "operands")
            x, at = code[at], at + 1
            if kind == "*":
                need(x <= len(code) - at, "list")
                operands.append((letter, code[at:at + x]))
                at += x
            elif kind == "?":
                operands.append((letter, [x - 1] if x else []))
            else:
                operands.append((letter, [x]))
        nodes.append((op, operands))
    need(at == len(code) and nodes, "code")
    return nodes


class Checker:
    """One module."""

    def __init__(self, module):
        need(isinstance(module, list) and len(module) == 6 and module[:2] == ["KIR", K.VERSION], "head")
        _, _, self.n_env, self.consts, self.usertypes, self.functions = module
        need(self.functions, "functions")
        self.const_order, self.usertype_order, self.env_order, self.function_order = [], [], [], [0]

    def check(self):
        self.check_consts()
        for number, f in enumerate(self.functions):
            need(number < len(self.function_order), "unreached function")
            self.check_function(number, f)
        need(self.const_order == list(range(len(self.consts))), "order of constants")
        need(self.usertype_order == list(range(len(self.usertypes))), "order of user types")
        need(self.env_order == list(range(self.n_env)), "order of slots")
        need(self.function_order == list(range(len(self.functions))), "order of functions")

    # -- constants

    def check_consts(self):
        need(len(set(map(msgpack.packb, self.consts))) == len(self.consts), "equal constants")  # NaNs by their bits
        need(len(set(map(msgpack.packb, self.usertypes))) == len(self.usertypes), "equal user types")
        for i, (kind, *payload) in enumerate(self.consts):
            need(kind in K.CONST_KINDS.values(), "kind")
            shapes = {K.K_NONE: [], K.K_ELLIPSIS: [], K.K_BOOL: [bool], K.K_INT: [int], K.K_BIGINT: [str],
                      K.K_FLOAT: [float], K.K_COMPLEX: [float, float], K.K_STR: [str], K.K_BYTES: [bytes],
                      K.K_TUPLE: [list], K.K_SCALAR: [str, bytes], K.K_TYPE: [str], K.K_ARRAY: [str, list, bytes],
                      K.K_EXCEPTION: [str], K.K_ENUM: [int, int], K.K_NAMEDTUPLE: [int, list], K.K_USERTYPE: [int]}
            need([type(p) for p in payload] == shapes[kind], "payload")
            self.check_const(i, kind, payload)
        for kind, name, names, rest, *methods in self.usertypes:
            need(len(methods) == (kind == K.UT_JITCLASS), "methods")
            for row in methods[0] if methods else []:
                need([type(x) for x in row] == [str, int, int] and row[1] in K.METHOD_KINDS.values() and
                     (row[1] == K.M_NEW) == (row[0] == "") and "\0" not in row[0], "method")
            named = [(r[0], r[1] if r[1] in (K.M_GETTER, K.M_SETTER) else 0) for r in (methods[0] if methods else [])]
            need(len(set(named)) == len(named) and
                 not any((n, 0) in named for n, k in named if k), "two methods of a name")
            need(kind in K.USERTYPE_KINDS.values() and name and len(set(names)) == len(names) == len(rest), "user type")
            if kind == K.UT_ENUM:
                need(all(r < len(self.consts) for r in rest), "enum value")
            else:
                need(all(r in K.TYPES or r in ("", "optional(object(0))") for r in rest), "field type")  # vectors have no others

    def check_const(self, i, kind, payload):
        if kind == K.K_BIGINT:
            need(re.fullmatch(r"-?[1-9][0-9]*", payload[0]) and not -2**63 <= int(payload[0]) < 2**64, "bigint")
        elif kind in (K.K_SCALAR, K.K_ARRAY):
            need(payload[0] in NUMPY, "element type")
            size = NUMPY[payload[0]]
            for d in payload[1] if kind == K.K_ARRAY else []:
                size *= d
            need(kind == K.K_SCALAR or len(payload[1]) <= 32, "dimensions")
            need(len(payload[-1]) == size and (payload[0] != "bool" or set(payload[-1]) <= {0, 1}), "content")
        elif kind == K.K_TYPE:
            need(payload[0] in K.TYPES or payload[0] == "float64[:, ::1]", "type")  # as above
        elif kind == K.K_EXCEPTION:
            need(payload[0], "exception")
        if kind in (K.K_TUPLE, K.K_NAMEDTUPLE):
            need(all(item < i for item in payload[-1]), "tuple items")
        if kind in (K.K_ENUM, K.K_NAMEDTUPLE, K.K_USERTYPE):
            need(payload[0] < len(self.usertypes), "user type")
            what, _, names, *_ = self.usertypes[payload[0]]
            need(kind != K.K_ENUM or (what == K.UT_ENUM and payload[1] < len(names)), "enum")
            need(kind != K.K_NAMEDTUPLE or (what == K.UT_NAMEDTUPLE and len(payload[1]) == len(names)), "named tuple")

    def refer(self, c):
        """Visit a constant in canonical order."""
        need(c < len(self.consts), "constant")
        if c in self.const_order:
            return
        kind, *payload = self.consts[c]
        if kind in (K.K_ENUM, K.K_NAMEDTUPLE, K.K_USERTYPE) and payload[0] not in self.usertype_order:
            self.usertype_order.append(payload[0])
            what, _, _, values, *methods = self.usertypes[payload[0]]
            for _, _, function in methods[0] if methods else []:
                need(function < len(self.functions) and not self.functions[function][2], "method's function")
                if function not in self.function_order:
                    self.function_order.append(function)
            for value in values if what == K.UT_ENUM else []:
                need(value < c, "enum value after its use")
                self.refer(value)
        for item in payload[-1] if kind in (K.K_TUPLE, K.K_NAMEDTUPLE) else []:
            self.refer(item)
        self.const_order.append(c)

    # -- functions

    def check_params(self, params):
        kinds = [p[1] for p in params]
        need(all(len(p) == 3 and p[0] and "\0" not in p[0] and p[1] in K.PARAM_KINDS.values() for p in params), "parameter")
        need(len(params) <= 255 and len({p[0] for p in params}) == len(params) and kinds == sorted(kinds), "parameters")
        need(kinds.count(K.P_STAR) <= 1 and kinds.count(K.P_KWSTAR) <= 1, "stars")
        positional = [bool(p[2]) for p in params if p[1] in (K.P_POSONLY, K.P_NORMAL)]
        need(positional == sorted(positional), "default gap")
        for _, kind, default in params:
            need(not default or kind not in (K.P_STAR, K.P_KWSTAR), "star default")
            if default:
                self.refer(default - 1)

    def check_function(self, number, f):
        need(len(f) == 6, "function")
        params, n_locals, n_free, flags, _, _ = f
        need(len(params) <= n_locals and (number or not n_free), "locals")
        self.check_params(params)
        self.f, self.locals = f, list(range(len(params)))
        self.nodes, self.stack, self.info = split(f), [], []
        yields = False
        for n, (op, operands) in enumerate(self.nodes):
            self.check_node(n, op, operands)
            yields |= op in (K.YIELD, K.YIELDFROM)
        need(self.stack == [len(self.nodes) - 1] and self.nodes[-1][0] == K.BLOCK, "body")
        need(not self.info[-1]["jumps"], "jump")
        need(self.locals == list(range(n_locals)), "order of locals")
        need(not flags & ~sum(BITS) if number else not flags, "flags")
        need(not number or bool(flags & K.F_GENERATOR) == yields, "generator")

    def check_node(self, n, op, operands):
        children, jumps = [], False
        for place, (letter, values) in enumerate(operands):
            for x in values:
                if letter in "etbSghw":
                    need(x < n and self.fits(op, letter, place, x), "operand")
                    children.append(x)
                    body = 1 if op == K.WHILE else 2 if op in (K.FOR, K.PARFOR) else None
                    jumps |= self.info[x]["jumps"] and place != body
                else:
                    self.check_number(op, letter, x)
        need(children == self.stack[len(self.stack) - len(children):] and len(children) <= len(self.stack), "post-order")
        del self.stack[len(self.stack) - len(children):]
        self.stack.append(n)
        lists = [values for _, values in operands]
        info = {"jumps": jumps or op in (K.BREAK, K.CONTINUE), "target": op in (K.LOCAL, K.FREE, K.ATTR, K.SUBSCRIPT)}
        if op == K.TUPLE:
            stars = [c for c in children if self.nodes[c][0] == K.STAR]
            info["target"] = len(stars) < 2 and all(self.info[c]["target"] for c in children)
        elif op == K.STAR:
            info["target"] = self.info[children[0]]["target"]
        self.info.append(info)
        self.check_rules(op, lists, children)

    def fits(self, op, letter, place, x):
        child = self.nodes[x][0]
        if letter == "e":
            if child == K.STAR:
                return op in (K.TUPLE, K.LIST, K.SET) or (op == K.CALL and place == 1)
            return K.OP_CLASS[child] == "E" and (child != K.FORMAT or op == K.FSTRING)
        if letter == "t":
            return self.info[x]["target"] and child != K.STAR
        return K.OP_CLASS[child] == {"b": "B", "S": "S", "g": "G", "h": "H", "w": "W"}[letter]

    def check_number(self, op, letter, x):
        if letter in "cs":
            self.refer(x)
            need(letter == "c" or (self.consts[x][0] == K.K_STR and 0 < len(self.consts[x][1].encode()) < 256 and
                                   "\0" not in self.consts[x][1]), "name")
        elif letter == "l":
            need(x < self.f[1], "local")
            if x not in self.locals:
                self.locals.append(x)
        elif letter == "u":
            need(x < self.f[2], "free variable")
        elif letter == "v":
            need(x < self.n_env, "slot")
            if x not in self.env_order:
                self.env_order.append(x)
        elif letter == "f":
            need(x < len(self.functions) and bool(self.functions[x][2]) == (op == K.CLOSURE), "function")
            if x not in self.function_order:
                self.function_order.append(x)
        elif op == K.FORMAT:
            need(x in (0, ord("s"), ord("r"), ord("a")), "conversion")
        else:
            need(x in ENUMS[op].values(), "enum")

    def check_rules(self, op, lists, children):
        kinds = [self.nodes[c][0] for c in children]
        if op == K.COMPARE:
            need(lists[0] and len(lists[1]) == len(lists[0]) + 1, "compare")
        elif op in (K.AND, K.OR):
            need(len(lists[0]) > 1, "and, or")
        elif op == K.DICT:
            need(len(lists[0]) == len(lists[1]), "dict")
        elif op == K.CALL:
            need(len(lists[2]) == len(lists[3]) == len(set(lists[2])), "call")
        elif op == K.COMP:
            need((lists[0] == [K.COMP_DICT]) == bool(lists[1]) and lists[3], "comp")
        elif op == K.CLOSURE:
            need(len(lists[1]) + len(lists[2]) == self.functions[lists[0][0]][2], "closure")
        elif op == K.FSTRING:
            for c in children:
                kind, operands = self.nodes[c]
                need(kind == K.FORMAT or (kind == K.CONST and self.consts[operands[0][1][0]][0] == K.K_STR), "fstring")
        elif op in (K.ASSIGN, K.DEL):
            need(lists[-1] and not (op == K.DEL and K.TUPLE in kinds), "targets")
        elif op == K.AUGASSIGN:
            need(kinds[0] != K.TUPLE, "augassign")
        elif op == K.WITH:
            need(lists[0], "with")
        elif op in (K.RAISE, K.HANDLER):
            need(lists[0] or not lists[1], "raise, handler")
        elif op == K.TRY:
            bare = [not self.nodes[h][1][0][1] for h in lists[1]]
            need((lists[1] or lists[3]) and (lists[1] or not lists[2]) and not any(bare[:-1]), "try")


def problem(module):
    """None for a canonical module, else what is wrong."""
    try:
        Checker(module).check()
    except Bad as e:
        return str(e)
    except (TypeError, ValueError, IndexError, KeyError) as e:
        return f"shape: {e!r}"
    return None
