"""What ran: the versions of whatever may decide about pixels, and what the CPU can do."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from penstock import _core
from penstock._version import __version__

# What a certificate calls a library, and its module; only those that were imported are named.
LIBRARIES = {
    "numpy": "numpy",
    "Pillow": "PIL",
    "torch": "torch",
    "torchvision": "torchvision",
    "OpenCV": "cv2",
    "DALI": "nvidia.dali",
    "timm": "timm",
    "albumentations": "albumentations",
    "jax": "jax",
}


def versions_in_use() -> Mapping[str, str]:
    """Return the versions of the libraries that this process has imported."""
    found = {"penstock": __version__, "Python": platform.python_version()}
    for name, module in LIBRARIES.items():
        version = getattr(sys.modules.get(module), "__version__", None)
        if version is not None:
            found[name] = f"{version}"
    if "Pillow" in found:
        turbo = import_module("PIL.features").version("libjpeg_turbo")
        if turbo is not None:
            found["libjpeg-turbo of Pillow"] = f"{turbo}"
    return found


def cpu_in_use() -> Mapping[str, str]:
    """Return the instruction sets that may decide about the last bit of a sum."""
    found = {"Python": platform.machine(), "penstock": _core.active_isa()}
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        found["torch"] = f"{torch.backends.cpu.get_cpu_capability()}"
    return found
