# SPDX-License-Identifier: Apache-2.0
"""Every row of the project's tables is named once and documented."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def rows(path, pattern):
    return re.findall(pattern, (ROOT / path).read_text(), re.M)


def page(name):
    return (ROOT / "docs" / name).read_text()


@pytest.mark.parametrize("path,pattern", [
    ("proto/base/err.def", r"^X\((\w+),"), ("proto/base/err.def", r"^X\(\w+,\s*(\d+),"),
    ("proto/base/limits.def", r"^X\((\w+),"), ("proto/ir/ops.def", r"^X\((\w+),"), ("proto/ir/ops.def", r"^X\(\w+,\s*(\d+),"),
    ("proto/ir/types.def", r"^X\((\w+),"), ("proto/abi/exceptions.def", r"^X\(\w+,\s*(\d+),"),
    ("proto/codec/messages.def", r"^(?:MESSAGE|RECORD)\((\w+),"), ("proto/codec/messages.def", r"^MESSAGE\(\w+, (\d+),"),
    ("daemon/compiler/library.def", r"^X\((\w+),"), ("daemon/compiler/library.def", r'^X\(\w+,\s*("[^"]+"),'),
    ("daemon/compiler/target/targets.def", r'^X\(\w+,\s*("[^"]+"),'), ("daemon/server/settings.def", r"^X\((\w+),"),
    ("daemon/server/stats.def", r"^[XG]\((\w+),"), ("client/cli/commands.def", r"^X\((\w+),"),
])
def test_named_once(path, pattern):
    found = rows(path, pattern)
    assert len(found) > 3
    assert sorted(found) == sorted(set(found))


@pytest.mark.parametrize("path,pattern,document", [
    ("daemon/server/settings.def", r"^X\((\w+),", "operations.md"), ("daemon/server/stats.def", r"^[XG]\((\w+),", "operations.md"),
    ("client/cli/commands.def", r"^X\((\w+),", "cli.md"), ("daemon/compiler/target/targets.def", r'^X\(\w+,\s*"([^"]+)",', "targets.md"),
])
def test_documented(path, pattern, document):
    text = page(document)
    missing = [name for name in rows(path, pattern) if name not in text]
    assert not missing


def test_limits_have_reasons():
    for name, reason in rows("proto/base/limits.def", r'^X\((\w+),.*"([^"]+)"\)'):
        assert len(reason) > 10, name


def test_links_between_pages_lead_somewhere():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([\w./-]+)\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name}: {link}"
