"""README, docs and examples use public names only: of penstock, and of its public modules."""

import ast
import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

import penstock
from penstock import transforms
from penstock.transforms import functional

ROOT = Path(__file__).parents[1]
FOR_CONTRIBUTORS = {"architecture"}  # about the inside, by its paths
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem not in FOR_CONTRIBUTORS),
    *sorted((ROOT / "docs" / "frameworks").glob("*.md")),
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MENTION = re.compile(r"(?<![\w/.-])penstock((?:\.[A-Za-z_]\w*)+)(?![\w/-])")
MODULES = {
    "penstock": penstock,
    "penstock.transforms": transforms,
    "penstock.transforms.functional": functional,
}
# Those that need a library that is not always there.
NEED_OTHERS = ("torch", "lightning", "timm", "transformers", "grain", "ray", "webdataset")
OPTIONAL = [f"penstock.{name}" for name in NEED_OTHERS]
for name in OPTIONAL:
    with suppress(ImportError):
        MODULES[name] = import_module(name)


def is_public(name):
    """Whether a dotted name is a public module, one of its names, or an attribute of those."""
    place, _, rest = name.partition(".")
    value = MODULES[place]
    for part in filter(None, rest.split(".")):
        place = f"{place}.{part}"
        if place in MODULES:
            value = MODULES[place]
            continue
        if place in OPTIONAL:  # not installed here
            return True
        is_module = value in MODULES.values()
        if not hasattr(value, part) or (is_module and part not in names_of(value)):
            return False
        value = getattr(value, part)
        if isinstance(value, type(ast)) and place not in MODULES:
            return False
    return True


def names_of(module):
    return getattr(module, "__all__", None) or [name for name in vars(module) if name[0] != "_"]


def imported_names(code):
    """Full names of what a piece of code imports of penstock."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def private(names):
    ours = {name for name in names if name.split(".")[0] == "penstock"}
    return sorted(name for name in ours if not is_public(name))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_names_nothing_private(page):
    text = page.read_text(encoding="utf-8")
    mentioned = {f"penstock{rest}" for rest in MENTION.findall(text)}
    imported = {name for block in BLOCK.findall(text) for name in imported_names(block)}

    assert not private(mentioned | imported)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_imports_nothing_private(example):
    assert not private(imported_names(example.read_text(encoding="utf-8")))


def test_private_paths_are_told_from_public_names():
    named = ["penstock.Loader", "penstock.transforms.Resize", "penstock.Analysis.from_json"]
    paths = ["penstock.results.from_json.read_analysis", "penstock.demo", "penstock.no_such_name"]

    assert not private(named)
    assert private(paths) == sorted(paths)


def test_every_public_name_is_there():
    assert all(hasattr(penstock, name) for name in penstock.__all__)
