"""torchvision's transforms, as the peers that use them need them."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from benchmarks.case import Case
from benchmarks.dataset import CHECKOUT


def _import_torchvision() -> ModuleType:
    """Import torchvision as `penstock demo` does, but without penstock, which takes memory too."""
    path = CHECKOUT / "src" / "penstock" / "demo" / "torchvision_import.py"
    spec = spec_from_file_location("torchvision_import", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: cannot be imported. Run the benchmarks from a whole checkout.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # the operators it declares must outlive this function
    spec.loader.exec_module(module)
    torchvision: ModuleType = module.import_torchvision()[1]
    return torchvision


torchvision = _import_torchvision()
v2 = torchvision.transforms.v2


def augmentations(case: Case) -> list[Any]:
    """Return the layers asked for, as one transform, or nothing."""
    if not case.augment_layers:
        return []
    return [v2.RandAugment(case.augment_layers, case.augment_magnitude)]
