"""What an object is, by the name of its class and the module that class lives in."""

from __future__ import annotations

import sys
from typing import Any

TORCH_DATA = "torch.utils.data"
V1_MODULES = ("torchvision.transforms.transforms", "torchvision.transforms.autoaugment")
V2_MODULE = "torchvision.transforms.v2"
ALBUMENTATIONS_COMPOSITION = "albumentations.core.composition"
_LIBRARIES = frozenset(
    {"PIL", "albumentations", "cv2", "numpy", "pandas", "skimage", "torch", "torchvision"}
)


def full_name(thing: Any) -> str:
    """Return the name of a class or function, from its module on."""
    name = getattr(thing, "__qualname__", type(thing).__qualname__)
    return f"{getattr(thing, '__module__', None) or 'builtins'}.{name}"


def class_name(thing: Any) -> str:
    """Return the name of an object's class."""
    return type(thing).__name__


def is_exactly(thing: Any, *names: str) -> bool:
    """Whether the object's own class, not a base of it, has one of these full names."""
    return full_name(type(thing)) in names


def owner_of(thing: Any, method: str) -> str:
    """Return the full name of the class that an object has a method from."""
    for base in type(thing).__mro__:
        if method in vars(base):
            return full_name(base)
    return ""


def torchvision_generation(transform: Any) -> int | None:
    """Return 1 or 2 for torchvision's own transforms, None for all others."""
    module = type(transform).__module__
    if module in V1_MODULES:
        return 1
    return 2 if module.startswith(V2_MODULE) else None


def is_of_albumentations(transform: Any) -> bool:
    """Whether an object is a transform of Albumentations, or of a class derived from one."""
    return any(base.__module__.startswith("albumentations.") for base in type(transform).__mro__)


def is_composed(transform: Any) -> bool:
    """Whether a transform of Albumentations is made of others."""
    composed = f"{ALBUMENTATIONS_COMPOSITION}.BaseCompose"
    return composed in map(full_name, type(transform).__mro__)


def is_of_a_library(function: Any) -> bool:
    """Whether a function comes with Python or a well-known library, and not with a Dataset."""
    module = getattr(function, "__module__", None) or "builtins"
    if module.startswith("torchvision.datasets."):
        return False
    return module.partition(".")[0] in sys.stdlib_module_names | _LIBRARIES


def imported(module: str) -> Any:
    """Return a module that somebody has imported already, or None."""
    return sys.modules.get(module)


def describe(thing: Any, most: int = 90) -> str:
    """Return how an object prints, on one line and not too long; of a composition, its class."""
    name = class_name(thing) if is_composed(thing) else getattr(thing, "__qualname__", None)
    text = name if isinstance(name, str) else " ".join(repr(thing).split())
    if " object at 0x" in text:  # nothing of its own to say
        text = type(thing).__qualname__
    return text if len(text) <= most else text[: most - 3] + "..."
