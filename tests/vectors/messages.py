# SPDX-License-Identifier: Apache-2.0
"""The protocol, a second time: messages.def, the vectors' text form, an encoder and a checker over python3-msgpack.

Written from docs/protocol.md, not from the C code, so that a mistake in one shows against the other."""
import re
import struct
from pathlib import Path

import msgpack

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "proto" / "vectors" / "messages.txt"
DEF = ROOT / "proto" / "codec" / "messages.def"
#: of a frame, as tests/unit/test_messages.c passes it
FRAME_LIMIT = 1 << 20


# ---- messages.def ----
def load():
    """name -> (frame type or None for a record, direction or None, {field: (type, required)})"""
    text = re.sub(r"/\*.*?\*/", "", DEF.read_text(), flags=re.S)
    table, name = {}, None
    for macro, arguments in re.findall(r"^\s*(MESSAGE|RECORD|FIELD|END)\((.*)\)\s*$", text, flags=re.M):
        a = [x.strip() for x in arguments.split(",")]
        if macro == "MESSAGE":
            name = a[2]
            table[name] = (int(a[1]), a[3], {})
        elif macro == "RECORD":
            name = a[1]
            table[name] = (None, None, {})
        elif macro == "FIELD":
            table[name][2][a[0]] = (a[1], a[2] == "REQ")
    return table


TABLE = load()
BY_TYPE = {t: n for n, (t, _, _) in TABLE.items() if t is not None}
ERRORS = re.findall(r"^X\((\w+),", (ROOT / "proto" / "base" / "err.def").read_text(), flags=re.M)


def default(kind):
    return {"UINT": 0, "INT": -1, "BOOL": False, "STR": "", "BIN": b""}.get(kind, [])


# ---- the text form of a value:  {name: 1, text: "a", bytes: hex"00ff", list: [...], yes: true} ----
TOKEN = re.compile(r'\s*(?:(?P<hex>hex"(?:[0-9a-f]*)")|(?P<str>"(?:[^"\\]|\\.)*")|(?P<num>-?\d+)|(?P<word>\w+)|(?P<sign>[{}\[\]:,]))')


def parse(text):
    tokens = [(m.lastgroup, m.group(m.lastgroup)) for m in TOKEN.finditer(text)]
    value, rest = parse_value(tokens, 0)
    assert rest == len(tokens), text
    return value


def parse_value(tokens, i):
    kind, text = tokens[i]
    if kind == "hex":
        return bytes.fromhex(text[4:-1]), i + 1
    if kind == "str":
        return re.sub(r'\\(.)', r"\1", text[1:-1]), i + 1
    if kind == "num":
        return int(text), i + 1
    if kind == "word":
        return {"true": True, "false": False}[text], i + 1
    end, result = ("}", {}) if text == "{" else ("]", [])
    i += 1
    while tokens[i][1] != end:
        if tokens[i][1] == ",":
            i += 1
        if end == "}":
            name = tokens[i][1]
            result[name], i = parse_value(tokens, i + 2)
        else:
            item, i = parse_value(tokens, i)
            result.append(item)
    return result, i + 1


# ---- encoding ----
def ordered(name, value):
    """Fields in the order of messages.def; absent ones left out, as every writer does."""
    fields = TABLE[name][2]
    assert set(value) <= set(fields), f"{name} has no field {set(value) - set(fields)}"
    result = {}
    for field, (kind, required) in fields.items():
        v = value.get(field, default(kind))
        if kind.startswith("LIST("):
            v = [ordered(kind[5:-1], x) for x in v]
        if required or v != default(kind):
            result[field] = v
    return result


def frame(name, request, flags, value):
    body = msgpack.packb(ordered(name, value), use_bin_type=True)
    return struct.pack("<IHHQ", len(body), TABLE[name][0], flags, request) + body


# ---- checking ----
class Bad(Exception):
    """A frame or body is refused; args[0] is the error's name in err.def."""


def pairs(items):
    result = {}
    for k, v in items:
        if k in result:
            raise Bad("WIRE_RANGE")
        result[k] = v
    return result


def decode(data):
    """(name, request, flags, value) of a frame, or Bad."""
    if len(data) < 16:
        raise Bad("MORE")
    length, number, flags, request = struct.unpack_from("<IHHQ", data)
    if number == 0 or flags & ~1:
        raise Bad("WIRE_FRAME")
    if length > FRAME_LIMIT:
        raise Bad("LIMIT")
    if len(data) - 16 < length:
        raise Bad("MORE")
    if number not in BY_TYPE:
        raise Bad("UNSUPPORTED")
    name = BY_TYPE[number]
    try:
        value = msgpack.unpackb(data[16:16 + length], raw=False, object_pairs_hook=pairs, strict_map_key=False)
    except Bad:
        raise
    except msgpack.ExtraData:
        raise Bad("WIRE_COUNT")
    except UnicodeDecodeError:
        raise Bad("WIRE_TYPE")
    except ValueError as e:  # incomplete input: the exact kind depends on where the count stands
        text = str(e)
        raise Bad("WIRE_COUNT" if "exceeds" in text else "WIRE_SHORT|WIRE_COUNT" if "ncomplete" in text else "WIRE_TYPE")
    except RecursionError:
        raise Bad("WIRE_DEPTH")
    return name, request, flags, check(name, value)


PYTHON = {"UINT": int, "INT": int, "BOOL": bool, "STR": str, "BIN": bytes, "STRS": list, "BINS": list}


def scalar(kind, v):
    if type(v) is not PYTHON[kind]:
        raise Bad("WIRE_TYPE")
    if kind == "UINT" and v < 0:
        raise Bad("WIRE_TYPE")
    if kind == "INT" and v >= 1 << 63:
        raise Bad("WIRE_RANGE")
    if kind == "STR" and "\0" in v:
        raise Bad("WIRE_TYPE")
    return v


def check(name, value):
    """The value without unknown fields and without those that are at their default."""
    if not isinstance(value, dict) or any(type(k) is not str for k in value):
        raise Bad("WIRE_TYPE")
    result = {}
    for field, v in value.items():
        if field not in TABLE[name][2]:
            continue
        kind = TABLE[name][2][field][0]
        if kind.startswith("LIST("):
            if not isinstance(v, list):
                raise Bad("WIRE_TYPE")
            result[field] = [check(kind[5:-1], x) for x in v]
        else:
            result[field] = scalar(kind, v)
            if kind in ("STRS", "BINS"):
                for x in v:
                    scalar(kind[:-1], x)
    for field, (kind, required) in TABLE[name][2].items():
        if required and field not in result:
            raise Bad("WIRE_MISSING")
        if not required and result.get(field) == default(kind) and field in result:
            del result[field]
    return result


# ---- the file ----
def cases():
    """dicts with name, message, and the lines of each case."""
    case = None
    for number, line in enumerate(VECTORS.read_text().splitlines(), 1):
        line = line.split("#")[0].rstrip() if not line.startswith("value") else line.rstrip()
        if not line:
            continue
        word, rest = line.split(None, 1)
        if word == "case":
            if case:
                yield case
            case = {"name": rest, "also": [], "line": number}
        elif word in ("frame", "also"):
            data = bytes.fromhex(rest) if rest != "-" else b""
            if word == "also":
                case["also"].append(data)
            else:
                case["frame"] = data
        elif word == "value":
            m = re.match(r"(\w+) id=(\d+) flags=(\d+) (.*)", rest)
            case["value"] = (m[1], int(m[2]), int(m[3]), parse(m[4]))
        elif word == "error":
            case["error"] = rest.split()[0]
            case["at"] = rest.split(None, 1)[1] if " " in rest else ""
        else:
            raise ValueError(f"{VECTORS}:{number}: {line}")
    if case:
        yield case
