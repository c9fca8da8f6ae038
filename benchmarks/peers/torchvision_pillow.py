"""torchvision's transforms on Pillow images in a DataLoader: what most people train with."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import PIL
import PIL.Image
import torch

from benchmarks.case import Case
from benchmarks.dataset import CHECKOUT
from benchmarks.peers.data_loader import make_data_loader


def _import_torchvision() -> ModuleType:
    """Import torchvision as `penstock demo` does, but without penstock, which takes memory too."""
    path = CHECKOUT / "src" / "penstock" / "cli" / "torchvision_import.py"
    spec = spec_from_file_location("torchvision_import", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: cannot be imported. Run the benchmarks from a whole checkout.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # the operators it declares must outlive this function
    spec.loader.exec_module(module)
    torchvision: ModuleType = module.import_torchvision()[1]
    return torchvision


label = "torchvision + Pillow, DataLoader"
torchvision = _import_torchvision()
v2 = torchvision.transforms.v2


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {
        "torchvision": torchvision.__version__,
        "Pillow": PIL.__version__,
        "torch": torch.__version__,
    }


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(case.crop_px),
            v2.RandomHorizontalFlip(),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(case.mean, case.std),
        ]
    )

    def prepare(path: str) -> torch.Tensor:
        with open(path, "rb") as file:
            image = PIL.Image.open(file).convert("RGB")
        tensor: torch.Tensor = transform(image)
        return tensor

    return make_data_loader(case, cores, prepare)
