"""Single modules of timm, which is installed without all that it asks for."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def timm_module(name: str) -> ModuleType:
    """Import timm/data/`name`.py on its own."""
    found = importlib.util.find_spec("timm")
    if found is None:
        pytest.skip("timm is not installed: pip install --no-deps timm")
    path = Path(found.submodule_search_locations[0]) / "data" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"timm_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
