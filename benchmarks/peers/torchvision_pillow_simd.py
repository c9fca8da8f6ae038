"""torchvision's transforms on pillow-simd, a Pillow compiled for newer CPUs, in a DataLoader."""

from __future__ import annotations

import PIL
import torch

from benchmarks.peers.torchvision_pillow import batches
from benchmarks.peers.torchvision_v2 import torchvision

__all__ = ["batches", "label", "versions"]

label = "torchvision + pillow-simd, DataLoader"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    if "post" not in PIL.__version__:
        raise ModuleNotFoundError(f"Pillow {PIL.__version__} is installed, but not pillow-simd")
    return {
        "torchvision": torchvision.__version__,
        "pillow-simd": PIL.__version__,
        "torch": torch.__version__,
    }
