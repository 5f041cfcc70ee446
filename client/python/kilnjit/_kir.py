# SPDX-License-Identifier: Apache-2.0
"""Numbers of KIR and of types. Written by proto/ir/generate.py from the .def files there: don't edit."""

VERSION = 1

# Nodes
CONST = 1
LOCAL = 2
FREE = 3
ENV = 4
FUNC = 5
LIB = 6
UNARY = 7
BINARY = 8
COMPARE = 9
AND = 10
OR = 11
IFEXP = 12
CALL = 13
ATTR = 14
SUBSCRIPT = 15
SLICE = 16
TUPLE = 17
LIST = 18
SET = 19
DICT = 20
STAR = 21
COMP = 22
COMPFOR = 23
CLOSURE = 24
FSTRING = 25
FORMAT = 26
WALRUS = 27
YIELD = 28
YIELDFROM = 29
BLOCK = 32
ASSIGN = 33
AUGASSIGN = 34
EXPR = 35
IF = 36
WHILE = 37
FOR = 38
PARFOR = 39
BREAK = 40
CONTINUE = 41
RETURN = 42
RAISE = 43
TRY = 44
HANDLER = 45
WITH = 46
WITHITEM = 47
ASSERT = 48
DEL = 49
PASS = 50

#: op -> its name in the text form
OP_TEXT = {
    CONST: "const",
    LOCAL: "local",
    FREE: "free",
    ENV: "env",
    FUNC: "func",
    LIB: "lib",
    UNARY: "unary",
    BINARY: "binary",
    COMPARE: "compare",
    AND: "and",
    OR: "or",
    IFEXP: "ifexp",
    CALL: "call",
    ATTR: "attr",
    SUBSCRIPT: "subscript",
    SLICE: "slice",
    TUPLE: "tuple",
    LIST: "list",
    SET: "set",
    DICT: "dict",
    STAR: "star",
    COMP: "comp",
    COMPFOR: "compfor",
    CLOSURE: "closure",
    FSTRING: "fstring",
    FORMAT: "format",
    WALRUS: "walrus",
    YIELD: "yield",
    YIELDFROM: "yieldfrom",
    BLOCK: "block",
    ASSIGN: "assign",
    AUGASSIGN: "augassign",
    EXPR: "expr",
    IF: "if",
    WHILE: "while",
    FOR: "for",
    PARFOR: "parfor",
    BREAK: "break",
    CONTINUE: "continue",
    RETURN: "return",
    RAISE: "raise",
    TRY: "try",
    HANDLER: "handler",
    WITH: "with",
    WITHITEM: "withitem",
    ASSERT: "assert",
    DEL: "del",
    PASS: "pass",
}
#: op -> class: E expression, S statement, B block, G clause, H handler, W with-item
OP_CLASS = {
    CONST: "E",
    LOCAL: "E",
    FREE: "E",
    ENV: "E",
    FUNC: "E",
    LIB: "E",
    UNARY: "E",
    BINARY: "E",
    COMPARE: "E",
    AND: "E",
    OR: "E",
    IFEXP: "E",
    CALL: "E",
    ATTR: "E",
    SUBSCRIPT: "E",
    SLICE: "E",
    TUPLE: "E",
    LIST: "E",
    SET: "E",
    DICT: "E",
    STAR: "E",
    COMP: "E",
    COMPFOR: "G",
    CLOSURE: "E",
    FSTRING: "E",
    FORMAT: "E",
    WALRUS: "E",
    YIELD: "E",
    YIELDFROM: "E",
    BLOCK: "B",
    ASSIGN: "S",
    AUGASSIGN: "S",
    EXPR: "S",
    IF: "S",
    WHILE: "S",
    FOR: "S",
    PARFOR: "S",
    BREAK: "S",
    CONTINUE: "S",
    RETURN: "S",
    RAISE: "S",
    TRY: "S",
    HANDLER: "H",
    WITH: "S",
    WITHITEM: "W",
    ASSERT: "S",
    DEL: "S",
    PASS: "S",
}
#: op -> operand letters, as ops.def explains them
OPERANDS = {
    CONST: "c",
    LOCAL: "l",
    FREE: "u",
    ENV: "v",
    FUNC: "f",
    LIB: "s",
    UNARY: "ie",
    BINARY: "iee",
    COMPARE: "*i*e",
    AND: "*e",
    OR: "*e",
    IFEXP: "eee",
    CALL: "e*e*s*e",
    ATTR: "es",
    SUBSCRIPT: "ee",
    SLICE: "?e?e?e",
    TUPLE: "*e",
    LIST: "*e",
    SET: "*e",
    DICT: "*e*e",
    STAR: "e",
    COMP: "i?ee*g",
    COMPFOR: "te*e",
    CLOSURE: "f*l*u",
    FSTRING: "*e",
    FORMAT: "ei?e",
    WALRUS: "le",
    YIELD: "?e",
    YIELDFROM: "e",
    BLOCK: "*S",
    ASSIGN: "e*t",
    AUGASSIGN: "ite",
    EXPR: "e",
    IF: "eb?b",
    WHILE: "eb?b",
    FOR: "teb?b",
    PARFOR: "teb?b",
    BREAK: "",
    CONTINUE: "",
    RETURN: "?e",
    RAISE: "?e?e",
    TRY: "b*h?b?b",
    HANDLER: "?e?lb",
    WITH: "*wb",
    WITHITEM: "e?t",
    ASSERT: "e?e",
    DEL: "*t",
    PASS: "",
}

# enums.def, UNARY
U_NEG = 1
U_POS = 2
U_INVERT = 3
U_NOT = 4
UNARY_OPS = {
    "-": U_NEG,
    "+": U_POS,
    "~": U_INVERT,
    "not": U_NOT,
}

# enums.def, BINARY
B_ADD = 1
B_SUB = 2
B_MUL = 3
B_DIV = 4
B_FLOORDIV = 5
B_MOD = 6
B_POW = 7
B_MATMUL = 8
B_LSHIFT = 9
B_RSHIFT = 10
B_BITAND = 11
B_BITOR = 12
B_BITXOR = 13
BINARY_OPS = {
    "+": B_ADD,
    "-": B_SUB,
    "*": B_MUL,
    "/": B_DIV,
    "//": B_FLOORDIV,
    "%": B_MOD,
    "**": B_POW,
    "@": B_MATMUL,
    "<<": B_LSHIFT,
    ">>": B_RSHIFT,
    "&": B_BITAND,
    "|": B_BITOR,
    "^": B_BITXOR,
}

# enums.def, COMPARE
C_EQ = 1
C_NE = 2
C_LT = 3
C_LE = 4
C_GT = 5
C_GE = 6
C_IS = 7
C_ISNOT = 8
C_IN = 9
C_NOTIN = 10
COMPARE_OPS = {
    "==": C_EQ,
    "!=": C_NE,
    "<": C_LT,
    "<=": C_LE,
    ">": C_GT,
    ">=": C_GE,
    "is": C_IS,
    "is-not": C_ISNOT,
    "in": C_IN,
    "not-in": C_NOTIN,
}

# enums.def, COMP
COMP_LIST = 1
COMP_SET = 2
COMP_DICT = 3
COMP_GEN = 4
COMP_KINDS = {
    "list": COMP_LIST,
    "set": COMP_SET,
    "dict": COMP_DICT,
    "gen": COMP_GEN,
}

# enums.def, PARAM
P_POSONLY = 1
P_NORMAL = 2
P_STAR = 3
P_KWONLY = 4
P_KWSTAR = 5
PARAM_KINDS = {
    "posonly": P_POSONLY,
    "normal": P_NORMAL,
    "star": P_STAR,
    "kwonly": P_KWONLY,
    "kwstar": P_KWSTAR,
}

# enums.def, KONST
K_NONE = 1
K_ELLIPSIS = 2
K_BOOL = 3
K_INT = 4
K_BIGINT = 5
K_FLOAT = 6
K_COMPLEX = 7
K_STR = 8
K_BYTES = 9
K_TUPLE = 10
K_SCALAR = 11
K_TYPE = 12
K_ARRAY = 13
K_EXCEPTION = 14
K_ENUM = 15
K_NAMEDTUPLE = 16
K_USERTYPE = 17
CONST_KINDS = {
    "none": K_NONE,
    "ellipsis": K_ELLIPSIS,
    "bool": K_BOOL,
    "int": K_INT,
    "bigint": K_BIGINT,
    "float": K_FLOAT,
    "complex": K_COMPLEX,
    "str": K_STR,
    "bytes": K_BYTES,
    "tuple": K_TUPLE,
    "scalar": K_SCALAR,
    "type": K_TYPE,
    "array": K_ARRAY,
    "exception": K_EXCEPTION,
    "enum": K_ENUM,
    "namedtuple": K_NAMEDTUPLE,
    "usertype": K_USERTYPE,
}

# enums.def, USERTYPE
UT_NAMEDTUPLE = 1
UT_ENUM = 2
UT_RECORD = 3
UT_JITCLASS = 4
UT_INTENUM = 5
USERTYPE_KINDS = {
    "namedtuple": UT_NAMEDTUPLE,
    "enum": UT_ENUM,
    "record": UT_RECORD,
    "jitclass": UT_JITCLASS,
    "intenum": UT_INTENUM,
}

# enums.def, METHOD
M_METHOD = 1
M_GETTER = 2
M_SETTER = 3
M_STATIC = 4
M_NEW = 5
METHOD_KINDS = {
    "method": M_METHOD,
    "getter": M_GETTER,
    "setter": M_SETTER,
    "static": M_STATIC,
    "new": M_NEW,
}

# enums.def, FLAG
F_GENERATOR = 0x0001
F_KERNEL = 0x0002
F_DEVICE = 0x0004
F_INLINE = 0x0008
F_BOUNDSCHECK = 0x0010
F_NUMPY_ERRORS = 0x0020
F_PARALLEL = 0x0040
F_NNAN = 0x0100
F_NINF = 0x0200
F_NSZ = 0x0400
F_ARCP = 0x0800
F_CONTRACT = 0x1000
F_AFN = 0x2000
F_REASSOC = 0x4000
FLAGS = {
    "generator": F_GENERATOR,
    "kernel": F_KERNEL,
    "device": F_DEVICE,
    "inline": F_INLINE,
    "boundscheck": F_BOUNDSCHECK,
    "error_model_numpy": F_NUMPY_ERRORS,
    "parallel": F_PARALLEL,
    "nnan": F_NNAN,
    "ninf": F_NINF,
    "nsz": F_NSZ,
    "arcp": F_ARCP,
    "contract": F_CONTRACT,
    "afn": F_AFN,
    "reassoc": F_REASSOC,
}

#: types with a name: text -> (class letter of types.def, bits, numpy's type_num or -1)
TYPES = {
    "none": ("N", 0, -1),
    "bool": ("B", 8, 0),
    "int8": ("I", 8, 1),
    "int16": ("I", 16, 3),
    "int32": ("I", 32, 5),
    "int64": ("I", 64, 7),
    "uint8": ("U", 8, 2),
    "uint16": ("U", 16, 4),
    "uint32": ("U", 32, 6),
    "uint64": ("U", 64, 8),
    "float16": ("F", 16, 23),
    "float32": ("F", 32, 11),
    "float64": ("F", 64, 12),
    "complex64": ("C", 64, 14),
    "complex128": ("C", 128, 15),
    "pyint": ("W", 64, -1),
    "pyfloat": ("W", 64, -1),
    "pycomplex": ("W", 128, -1),
    "unicode_type": ("S", 0, -1),
    "bytes_type": ("S", 0, -1),
}
