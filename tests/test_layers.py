"""Imports flow one way, and each outside library has one place that knows it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "penstock"

# What each part of the package may import of the others.
BASE = {
    *("_core", "_version", "errors", "geometry", "limits", "printable", "progress"),
    *("regular_file", "resources"),
    *("usable_cores", "user_cache"),
}
MAY_IMPORT = {
    "_version": set(),
    "errors": {"printable"},
    "geometry": set(),
    "limits": {"errors"},
    "drawing": set(),
    "printable": set(),
    "progress": {"printable"},
    "regular_file": set(),
    "resources": {"errors"},
    "usable_cores": set(),
    "user_cache": {"errors"},
    "rng": BASE,
    "pillow_messages": BASE,
    "pillow_order": BASE,
    "results": BASE,
    "report": BASE | {"results"},
    "transforms": BASE | {"pillow_order", "rng"},
    "planner": BASE | {"pillow_order", "rng", "transforms"},
    "translation.transforms": BASE | {"rng", "transforms", "planner"},
    "sources": BASE,
    "storage": BASE,
    "packing": BASE | {"drawing", "pillow_messages", "sources", "storage"},
    "data": BASE | {"transforms", "sources", "storage", "packing"},
    "reference": BASE | {"pillow_messages", "rng", "transforms", "planner", "sources"},
    "loading": BASE
    | {
        *("pillow_messages", "pillow_order", "rng", "transforms", "planner", "reference"),
        *("translation.transforms", "sources", "storage", "packing", "data"),
    },
    "showing": BASE
    | {
        *("drawing", "transforms", "planner", "reference", "translation.transforms"),
        *("sources", "data", "loading"),
    },
    "translation": BASE
    | {
        *("rng", "transforms", "planner", "translation.transforms", "sources", "packing"),
        *("loading", "deferring"),
    },
    "torch": BASE
    | {
        *("rng", "transforms", "planner", "translation.transforms", "sources", "data"),
        "loading",
    },
    "deferring": BASE | {"pillow_order", "transforms", "planner", "loading", "torch"},
    "lightning": BASE | {"loading", "torch"},
    "timm": BASE | {"loading", "torch", "translation", "translation.transforms"},
    "transformers": BASE | {"data", "loading", "torch"},
    "watching": BASE | {"results"},
    "costs": BASE
    | {
        *("rng", "transforms", "planner", "sources", "storage", "packing", "data", "loading"),
        *("results", "watching"),
    },
    "reordering": BASE
    | {
        *("transforms", "planner", "translation.transforms", "translation", "loading"),
        *("results", "costs"),
    },
    "analysis": BASE
    | {
        *("rng", "transforms", "planner", "translation.transforms", "translation"),
        *("sources", "packing", "data", "loading", "results", "report", "watching", "costs"),
        *("reordering", "storage"),
    },
    "demo": BASE
    | {
        *("transforms", "planner", "sources", "packing", "loading", "translation"),
        *("results", "report", "costs", "analysis"),
    },
}

MAY_IMPORT["certifying"] = BASE | {
    *("rng", "sources", "packing", "data", "loading", "translation", "results", "report"),
}
MAY_IMPORT["grain"] = BASE | {"rng", "transforms", "planner", "loading"}
MAY_IMPORT["ray"] = BASE | {"rng", "transforms", "planner", "sources", "data", "loading"}
MAY_IMPORT["webdataset"] = BASE | {"packing", "data", "loading", "transforms"}
MAY_IMPORT["experiments"] = BASE | {
    *("rng", "transforms", "planner", "translation.transforms", "translation", "reference"),
    *("sources", "packing", "data", "loading", "results", "report", "watching", "costs"),
    *("reordering", "analysis", "demo"),
}

# What each folder of the core may include of the others.
MAY_INCLUDE = {
    "base": set(),
    "kernels": {"base"},
    "codec": {"base", "kernels"},
    "tiles": {"base", "codec"},
    "records": {"base", "codec", "tiles"},
    "engine": {"base", "kernels", "codec", "tiles", "records"},
    "bindings": {"base", "kernels", "codec", "tiles", "records", "engine"},
    "guard": {"base", "kernels", "codec", "tiles", "records", "engine", "tests"},
}

PYTHON_FILES = sorted(PACKAGE.rglob("*.py"))
CPP_FILES = sorted(path for path in (ROOT / "cpp").rglob("*") if path.suffix in {".h", ".cpp"})


def imported_modules(path):
    """Full names of the modules a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            if node.module == "penstock":
                yield from (f"penstock.{alias.name}" for alias in node.names)


def from_penstock(path):
    """`penstock` itself, if a file takes a module or `__version__` from it by `from ... import`."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    is_from = any(isinstance(node, ast.ImportFrom) and node.module == "penstock" for node in nodes)
    return {"penstock"} if is_from else set()


def part_of(module):
    """The part of the package that a module belongs to, by its name from the package on."""
    words = module.split(".")
    inner = ".".join(words[:2])
    return inner if inner in MAY_IMPORT else words[0]


def relative(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_imports_flow_one_way(path):
    part = part_of(".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    if part not in MAY_IMPORT:  # the top: the public names, the command line
        return
    modules = set(imported_modules(path))
    assert "penstock" not in modules - from_penstock(path), "name the module that is meant"
    names = (name for name in modules if name.startswith("penstock."))
    imported = {part_of(name.removeprefix("penstock.")) for name in names}

    assert imported <= MAY_IMPORT[part] | {part}


def test_a_held_loader_is_used_by_its_public_names():
    """`accelerate` holds a Loader; what it needs of it has a name without an underscore."""
    for path in (PACKAGE / "translation").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("loader"):
                assert not node.attr.startswith("_"), f"{relative(path)}: {ast.unparse(node)}"


def libraries_of(path):
    return {name.split(".")[0] for name in imported_modules(path)}


# Optional libraries, and the modules or packages that may import each.
PLACES = {
    "torch": (
        "src/penstock/deferring/",
        "src/penstock/lightning/",
        "src/penstock/loading/to_torch.py",
        "src/penstock/timm/",
        "src/penstock/torch/",
        "src/penstock/transformers/",
        "src/penstock/transforms/functional/native/tensors/",
        "src/penstock/transforms/functional/tensors/",
    ),
    "lightning": ("src/penstock/lightning/base.py",),
    "pytorch_lightning": ("src/penstock/lightning/base.py",),
    "timm": ("src/penstock/timm/",),
    "transformers": ("src/penstock/transformers/",),
    "torchvision": ("src/penstock/deferring/torchvision_",),
    "jax": ("src/penstock/loading/to_jax.py",),
    "ml_dtypes": ("src/penstock/loading/to_jax.py",),
    "datasets": (),
    "grain": ("src/penstock/grain/source.py",),
    "ray": ("src/penstock/ray/",),
    "webdataset": (),
    "cv2": ("src/penstock/reference/libraries/opencv.py", "src/penstock/deferring/opencv_"),
    "obstore": ("src/penstock/storage/by_obstore.py",),
    "fsspec": ("src/penstock/storage/by_fsspec.py",),
    "vl_convert": ("src/penstock/report/vega.py",),
}


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_optional_libraries_have_their_places(path):
    elsewhere = {
        library for library, places in PLACES.items() if not relative(path).startswith(places)
    }
    if path.is_relative_to(PACKAGE / "experiments"):  # which compare libraries, where installed
        elsewhere = {"vl_convert"}

    assert not libraries_of(path) & elsewhere


@pytest.mark.parametrize("path", PYTHON_FILES, ids=relative)
def test_no_file_is_executed(path):
    """Modules and calls that run what a file holds; scripts are what the user asks to be run."""
    libraries = libraries_of(path)
    assert not libraries & {"cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
    assert "pickle" not in libraries
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if is_call(node)]
    names = {ast.unparse(call.func) for call in calls}

    assert "eval" not in names
    assert relative(path) == "src/penstock/cli/in_script/sitecustomize.py" or "exec" not in names
    assert not names & {"yaml.load", "yaml.unsafe_load", "yaml.full_load", "torch.load"}
    for call in calls:
        if ast.unparse(call.func) in {"np.load", "numpy.load"}:
            assert "allow_pickle=False" in ast.unparse(call)


def test_only_penstock_torch_needs_torch():
    """And what is built on it; so that whoever has no torch never meets it."""
    on_torch = {"torch", "deferring", "lightning", "timm", "transformers"}
    for path in PYTHON_FILES:
        if path.relative_to(PACKAGE).parts[0] not in on_torch:
            names = set(imported_modules(path))
            assert not [name for name in names if f"{name}.".startswith("penstock.torch.")]


def is_call(node):
    return isinstance(node, ast.Call)


@pytest.mark.parametrize("path", CPP_FILES, ids=relative)
def test_outside_libraries_have_one_place_each(path):
    included = re.findall(r'#include\s*[<"]([^>"]+)[>"]', path.read_text(encoding="utf-8"))
    folder = path.relative_to(ROOT / "cpp").parts[0]

    if folder != "bindings":
        assert not [name for name in included if name.startswith(("nanobind/", "Python.h"))]
    if folder not in {"codec", "tests"}:
        assert not [name for name in included if name in {"jpeglib.h", "turbojpeg.h", "jerror.h"}]


@pytest.mark.parametrize("path", CPP_FILES, ids=relative)
def test_includes_flow_one_way(path):
    folder = path.relative_to(ROOT / "cpp").parts[0]
    if folder == "tests":
        return
    names = re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))
    included = {name.split("/")[0] for name in names}

    assert included <= MAY_INCLUDE[folder] | {folder}
