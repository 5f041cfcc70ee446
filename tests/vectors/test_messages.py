# SPDX-License-Identifier: Apache-2.0
"""proto/vectors/messages.txt against python3-msgpack. `test_messages.py --update` writes the frames of the cases with
a value anew (those of error cases are written by hand)."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from messages import BY_TYPE, ERRORS, ROOT, TABLE, VECTORS, Bad, cases, decode, frame, ordered  # noqa: E402

ALL = list(cases())
GOOD = [c for c in ALL if "value" in c]
BAD = [c for c in ALL if "error" in c]


def test_each_case_is_whole():
    names = [c["name"] for c in ALL]
    assert len(set(names)) == len(names)
    for c in ALL:
        assert "frame" in c and ("value" in c) != ("error" in c), c["name"]


@pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in GOOD])
def test_good(case):
    name, request, flags, value = case["value"]
    assert frame(name, request, flags, value) == case["frame"]
    assert case["name"].startswith(name)
    for data in [case["frame"], *case["also"]]:
        assert decode(data) == (name, request, flags, ordered(name, value))


@pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in BAD])
def test_bad(case):
    for data in [case["frame"], *case["also"]]:
        with pytest.raises(Bad) as e:
            decode(data)
        assert case["error"] in e.value.args[0].split("|")


def records(name, value, seen):
    """Every record that a value contains, with its fields."""
    seen.setdefault(name, set()).update(value)
    for field, v in value.items():
        kind = TABLE[name][2][field][0]
        if kind.startswith("LIST("):
            for x in v:
                records(kind[5:-1], x, seen)


def test_every_message_record_and_field_has_a_vector():
    seen = {}
    for c in GOOD:
        records(c["value"][0], c["value"][3], seen)
    for name, (_, _, fields) in TABLE.items():
        assert name in seen, f"no vector has a {name}"
        assert set(fields) <= seen[name], f"no vector has {name}.{set(fields) - seen[name]}"


def test_every_kind_of_decoding_error_has_a_vector():
    # A body of known fields is five levels deep at most and unknown fields are skipped at any depth, so that no body
    # can be too deep; WIRE_DEPTH is for KIR.
    kinds = {e for e in ERRORS if e.startswith("WIRE_")} - {"WIRE_DEPTH"} | {"LIMIT", "UNSUPPORTED", "MORE"}
    assert kinds == {c["error"] for c in BAD}


def test_every_error_of_the_table_travels():
    """ERROR vectors: one a row of err.def, by number."""
    sent = {c["value"][3]["code"] for c in GOOD if c["value"][0] == "error"}
    assert sent >= set(range(1, len(ERRORS) + 1))


def test_the_documentation_names_everything():
    text = (ROOT / "docs" / "protocol.md").read_text()
    for name, (number, direction, fields) in TABLE.items():
        section = re.search(rf"^### {name.upper()}\b(.*?)(?=^##)", text + "\n##", flags=re.M | re.S)
        assert section, f"docs/protocol.md has no section {name.upper()}"
        for field in fields:
            assert f"`{field}`" in section[1], f"docs/protocol.md: {name.upper()} lacks `{field}`"
        if number is not None:
            assert re.search(rf"^### {name.upper()} \({number}, {direction}\)", text, flags=re.M), name
    for e in ERRORS:
        assert f"`{e}`" in text, f"docs/protocol.md lacks the error {e}"


def test_numbers_are_unique():
    assert len(BY_TYPE) == sum(t is not None for t, _, _ in TABLE.values())


def update():
    lines, pending = [], None
    for line in VECTORS.read_text().splitlines():
        if line.startswith("frame"):
            pending = len(lines)
        if line.startswith("value"):
            case = next(c for c in GOOD if c["value"] and c["line"] == number)
            lines[pending] = "frame " + spaced(frame(*case["value"]))
        if line.startswith("case"):
            number = len(lines) + 1
        lines.append(line)
    VECTORS.write_text("\n".join(lines) + "\n")


def spaced(data):
    """Head in its parts, then the body."""
    h = data.hex()
    return " ".join(x for x in (h[:8], h[8:12], h[12:16], h[16:32], h[32:]) if x)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        sys.exit(pytest.main([__file__]))
