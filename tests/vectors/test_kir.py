# SPDX-License-Identifier: Apache-2.0
"""KIR's vectors and the Python constants. `test_kir.py --update` writes the bytes of proto/vectors/kir.txt anew."""
import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from kir_checker import K, ROOT, problem, vectors  # noqa: E402

ALL = list(vectors())


def unpack(data):
    return msgpack.unpackb(data, strict_map_key=False, unicode_errors="strict")


@pytest.mark.parametrize("data", [pytest.param(v[3], id=v[1]) for v in ALL if v[0] == "ok"])
def test_good(data):
    module = unpack(data)
    assert problem(module) is None
    assert msgpack.packb(module) == data, "msgpack's shortest forms are KIR's"


@pytest.mark.parametrize("body,data", [pytest.param(v[2], v[3], id=v[1]) for v in ALL if v[0] == "bad"])
def test_bad(body, data):
    if body.strip() != "-":
        value = ast.literal_eval(body)
        assert msgpack.packb(value) == data
        assert problem(value) is not None
        return
    try:
        value = unpack(data)
    except ValueError:
        return  # no msgpack at all
    except msgpack.ExtraData:
        return
    assert problem(value) is not None or msgpack.packb(value) != data, "only the form may be wrong here"


def test_every_op_is_in_a_vector():
    seen = set()
    for kind, _, _, data, _ in ALL:
        for f in unpack(data)[5] if kind == "ok" else []:
            code, at = f[5], 0
            for _ in range(f[4]):
                op, at = code[at], at + 1
                seen.add(op)
                for many, _ in re.findall(r"([?*]?)(\w)", K.OPERANDS[op]):
                    at += 1 + (code[at] if many == "*" else 0)
    assert seen == set(K.OPERANDS), {K.OP_TEXT[op] for op in set(K.OPERANDS) - seen}


def test_every_kind_of_constant_is_in_a_vector():
    kinds = {c[0] for v in ALL if v[0] == "ok" for c in unpack(v[3])[3]}
    assert kinds == set(K.CONST_KINDS.values())


def test_constants_are_current():
    done = subprocess.run([sys.executable, ROOT / "proto/ir/generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_page_names_every_constant_kind():
    page = (ROOT / "docs" / "kir.md").read_text()
    for text, number in K.CONST_KINDS.items():
        assert f"| {number} | {text} |" in page


def test_page_names_every_op():
    page = (ROOT / "docs" / "kir.md").read_text()
    for op, letters in K.OPERANDS.items():
        name = K.OP_TEXT[op].upper()
        row = re.search(rf"^\| {op} \| {name} \| {K.OP_CLASS[op]} \| `?([^|`]*)`? \|", page, flags=re.M)
        assert row and row.group(1).replace(" ", "") == letters, name


def test_page_examples():
    """The bytes of docs/kir.md are modules, and what the texts above them assemble to is in the vectors."""
    page = (ROOT / "docs" / "kir.md").read_text()
    texts = re.findall(r"^```\n(\(kir 1\n.*?)```", page, flags=re.S | re.M)
    listings = re.findall(r"^```\n(96 .*?|96  .*?)```", page, flags=re.S | re.M)
    assert len(texts) == len(listings) == 2
    by_text = {v[2]: v[3] for v in ALL if v[0] == "ok"}
    for text, listing in zip(texts, listings):
        digits = [line.strip().split("   ")[0] for line in listing.splitlines()]  # then comes the comment
        data = bytes.fromhex("".join("".join(digits).split()))
        assert problem(unpack(data)) is None
        assert by_text[text] == data


def test_page_of_signatures_names_every_type():
    page = (ROOT / "docs" / "signatures.md").read_text()
    for name in K.TYPES:
        assert f"`{name}`" in page


def update():
    """Assemble the texts with the C tool, pack the values with msgpack."""
    builds = [os.environ.get("KILN_BUILD", ""), "build/release", "build/dev"]
    tool = next(p for p in (ROOT / b / "bin/test_kir_vectors" for b in builds if b) if p.exists())
    path = ROOT / "proto" / "vectors" / "kir.txt"

    def rewrite(match):
        kind, name, rest = match.groups()
        parts = re.split(r"^--\n", rest, flags=re.M)
        if kind == "ok":
            done = subprocess.run([tool, "--assemble"], input=parts[0], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name}: {done.stderr}")
            return f"== ok {name}\n{done.stdout}\n"
        if parts[0].strip() != "-":
            digits = msgpack.packb(ast.literal_eval(parts[0])).hex()
            parts[1] = "".join(digits[i:i + 120] + "\n" for i in range(0, len(digits), 120))
        return f"== bad {name}\n{parts[0]}--\n{parts[1]}--\n{parts[2].strip()}\n\n"

    text = re.sub(r"^== (ok|bad) (\S+)\n(.*?)(?=^== |\Z)", rewrite, path.read_text(), flags=re.S | re.M)
    path.write_text(text.rstrip("\n") + "\n")


if __name__ == "__main__" and "--update" in sys.argv:
    update()
