"""SECURITY.md promises nothing without a test."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
LINK = re.compile(r"\[`([^`]+)::(\w+)`\]\(([^)]+)\)")
PROMISES = PAGE[PAGE.index("## What we promise") : PAGE.index("## What we do not promise")]
ROWS = [
    line
    for line in PROMISES.splitlines()
    if line.startswith("|") and not line.startswith(("| promise", "|---"))
]
TESTS = sorted(set(LINK.findall(PAGE)))


def test_there_are_promises():
    assert len(ROWS) > 15


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:50])
def test_every_promise_names_a_test(row):
    promise, tests = row.strip("| ").split(" | ")

    assert promise.endswith(".")
    assert LINK.findall(tests)
    assert LINK.sub("", tests).strip(", ") == "", "something else than links to tests"


@pytest.mark.parametrize(("path", "name", "target"), TESTS, ids=[name for _, name, _ in TESTS])
def test_every_test_named_exists(path, name, target):
    assert path == target
    in_python, in_cpp = rf"^(async )?def {name}\(", rf"^TEST(_EACH_ISA)?\({name}\)"
    definition = in_python if path.endswith(".py") else in_cpp
    assert re.search(definition, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
