"""torchvision's transforms, as the peers that use them need them."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import torch

from benchmarks.case import CENTRE, FLOAT32, RANDOM, Case
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


def transform_of(case: Case, *, from_tensors: bool = False) -> Any:
    """Return the case's pipeline, for Pillow images unless they are tensors already."""
    return v2.Compose(
        [
            *_crop(case),
            *([v2.RandomHorizontalFlip()] if case.flips else []),
            *augmentations(case),
            *([] if from_tensors else [v2.PILToTensor()]),
            *normalisation(case),
        ]
    )


def _crop(case: Case) -> list[Any]:
    if case.crop == RANDOM:
        return [v2.RandomResizedCrop(case.crop_px, antialias=True)]
    if case.crop == CENTRE:
        return [v2.Resize(case.resize_px, antialias=True), v2.CenterCrop(case.crop_px)]
    return [v2.RandomCrop(case.crop_px, padding=case.pad_px)]


def normalisation(case: Case) -> list[Any]:
    """Return the steps from pixels to what the case asks for."""
    if case.output != FLOAT32:
        return []
    return [v2.ToDtype(torch.float32, scale=True), v2.Normalize(case.mean, case.std)]


def augmentations(case: Case) -> list[Any]:
    """Return the layers asked for, as one transform, or nothing."""
    if not case.augment_layers:
        return []
    return [v2.RandAugment(case.augment_layers, case.augment_magnitude)]
