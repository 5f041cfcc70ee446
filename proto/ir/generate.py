# SPDX-License-Identifier: Apache-2.0
"""Write the Python constants of KIR from ops.def, enums.def, types.def and kir.h.

    python3 proto/ir/generate.py [--check] [OUTPUT]     default: client/python/kilnjit/_kir.py

The result is checked in, so that the frontend is importable without a build; tests/vectors/test_kir.py
fails when it is not current."""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parent.parent / "client" / "python" / "kilnjit" / "_kir.py"

#: list in enums.def -> (prefix of its constants, name of its dictionary text -> number)
ENUMS = {
    "UNARY": ("U_", "UNARY_OPS"),
    "BINARY": ("B_", "BINARY_OPS"),
    "COMPARE": ("C_", "COMPARE_OPS"),
    "COMP": ("COMP_", "COMP_KINDS"),
    "PARAM": ("P_", "PARAM_KINDS"),
    "KONST": ("K_", "CONST_KINDS"),
    "USERTYPE": ("UT_", "USERTYPE_KINDS"),
    "METHOD": ("M_", "METHOD_KINDS"),
    "FLAG": ("F_", "FLAGS"),
}


def rows(name, macro):
    """The arguments of every use of a macro, as text."""
    text = re.sub(r"/\*.*?\*/", "", (HERE / name).read_text(), flags=re.S)
    for line in re.findall(rf"^{macro}\((.*)\)\s*$", text, flags=re.M):
        yield [field.strip() for field in re.findall(r'"[^"]*"|[^,]+', line) if field.strip()]


def generate():
    version = re.search(r"#define KIR_VERSION (\d+)u", (HERE / "kir.h").read_text()).group(1)
    out = [
        "# SPDX-License-Identifier: Apache-2.0",
        '"""Numbers of KIR and of types. Written by proto/ir/generate.py from the .def files there: don\'t edit."""',
        "",
        f"VERSION = {version}",
        "",
        "# Nodes",
    ]
    ops = list(rows("ops.def", "X"))
    out += [f"{name} = {wire}" for name, wire, *_ in ops]
    out += ["", "#: op -> its name in the text form", "OP_TEXT = {"]
    out += [f"    {name}: {text}," for name, _, text, _, _ in ops]
    out += ["}", "#: op -> class: E expression, S statement, B block, G clause, H handler, W with-item", "OP_CLASS = {"]
    out += [f'    {name}: "{kind}",' for name, _, _, kind, _ in ops]
    out += ["}", "#: op -> operand letters, as ops.def explains them", "OPERANDS = {"]
    out += [f"    {name}: {operands}," for name, _, _, _, operands in ops]
    out += ["}"]
    for macro, (prefix, dictionary) in ENUMS.items():
        values = list(rows("enums.def", f"KIR_{macro}"))
        out += ["", f"# enums.def, {macro}"]
        out += [f"{prefix}{name} = {wire}" for name, wire, _ in values]
        out += [f"{dictionary} = {{"]
        out += [f"    {text}: {prefix}{name}," for name, _, text in values]
        out += ["}"]
    out += ["", "#: types with a name: text -> (class letter of types.def, bits, numpy's type_num or -1)", "TYPES = {"]
    out += [f'    {text}: ("{kind}", {bits}, {numpy}),' for _, text, kind, bits, numpy in rows("types.def", "X") if text != '""']
    out += ["}", ""]
    return "\n".join(out)


def main(arguments):
    check = "--check" in arguments
    paths = [a for a in arguments if a != "--check"]
    output = Path(paths[0]) if paths else OUTPUT
    text = generate()
    if check:
        if not output.exists() or output.read_text() != text:
            print(f"{output} is not current: run proto/ir/generate.py", file=sys.stderr)
            return 1
        return 0
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
