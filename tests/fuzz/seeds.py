# SPDX-License-Identifier: Apache-2.0
"""Seeds of a fuzz driver, from the vectors:  seeds.py NAME FOLDER"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "vectors"))


def kir():
    from kir_checker import vectors
    for kind, name, body, data, _ in vectors():
        yield f"{kind}-{name}", b"\0" + data
        if kind == "ok":
            yield f"text-{name}", b"\1" + body.encode()
    for i, text in enumerate(["f8[:, ::1](i4, Tuple((i8, f8)))", "(Array(f8, 2, 'C', readonly=True), UniTuple(i4 x 3))",
                              "optional(f8[:]), CPointer(i1), NamedTuple(0, (i8,))"]):
        yield f"signature-{i}", b"\3" + text.encode()


def infer():
    for path in sorted((Path(__file__).resolve().parents[1] / "golden" / "infer").glob("*.txt")):
        text, *sections = path.read_text().split("\n---- ")
        module = text[text.index("(kir"):]
        for i, section in enumerate(sections):
            sig, *options = section.split("\n")[0].split(" | ")
            flags = b"\2" if "numba" in options else b"\0"
            yield f"{path.stem}-{i}", flags + sig.encode() + b"\n" + module.encode()


def lower():
    for name, data in infer():
        for options in (0, 4, 24):
            yield f"{name}-{options}", bytes([data[0] | options]) + data[1:]


def messages():
    from messages import cases
    for case in cases():
        for i, data in enumerate([case["frame"], *case["also"]]):
            yield f"{case['name'].replace('/', '-')}-{i}", data


SEEDS = {"kir": kir, "infer": infer, "lower": lower, "messages": messages}

if __name__ == "__main__":
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in SEEDS[sys.argv[1]]():
        (folder / name).write_bytes(data)
