"""Import torchvision beside a CPU build of torch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

MISSING_OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
_declared: list[Any] = []  # the declarations live as long as the object that made them


def import_torchvision() -> ModuleType:
    """Return torchvision, or raise ImportError where it or torch is missing.

    Its Linux wheel is linked against CUDA: beside a CPU torch its operators cannot be loaded, and
    the import stops at two that it extends. Declaring them is enough for transforms and models.
    """
    import torch

    if not _declared and not hasattr(torch.ops.torchvision, "nms"):
        library = torch.library.Library("torchvision", "DEF")
        for schema in MISSING_OPERATORS:
            library.define(schema)
        _declared.append(library)

    import torchvision

    return torchvision  # type: ignore[no-any-return]
