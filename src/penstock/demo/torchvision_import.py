"""Import torch and torchvision, also where the two come from different builds.

Imports nothing of ours: the benchmarks load this file alone, where penstock is not installed.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

# What torchvision's compiled part would declare, and its Python part asks for on import.
MISSING_OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)

_declared: list[object] = []  # operators vanish with the library object that declared them


def import_torch_if_there() -> ModuleType | None:
    """Return torch, or None where it is not installed."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        return None


def import_torchvision() -> tuple[ModuleType, ModuleType]:
    """Return torch and torchvision with its data sets and v2 transforms; else raise ImportError.

    A torchvision built for CUDA cannot load its compiled part beside a torch for the CPU.
    It carries on without, but then stops at two detection operators nobody declared.
    Image transforms need neither, so declaring the two is enough.
    """
    torch = importlib.import_module("torch")
    try:
        torchvision = importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise ImportError(f"torchvision does not import: {error}") from error
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "DEF")
        for operator in MISSING_OPERATORS:
            library.define(operator)
        _declared.append(library)
        torchvision = importlib.import_module("torchvision")
    importlib.import_module("torchvision.datasets")
    importlib.import_module("torchvision.transforms.v2")
    return torch, torchvision
