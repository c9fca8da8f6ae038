"""What is known about each op of a list of torchvision's transforms.

The planner knows drawn moves of ours; here it is the user's own objects that are looked at, by
their class and their arguments. What is not one of torchvision's own classes is opaque: nothing is
known about it, and nothing changes places with it, unless it is declared (`penstock.per_pixel`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from penstock.costs.ops import op_name, single_ops
from penstock.planner.access import Access
from penstock.transforms.declared import Declared, declared
from penstock.translation.transforms.identify import class_name, torchvision_generation


class Role(Enum):
    """What an op does to an image, as far as its place in the list is concerned."""

    FLIP = "mirrors"
    CROP = "crops at a random place"
    CENTER_CROP = "crops the middle"
    RESIZED_CROP = "crops and resizes"
    RESIZE = "resizes"
    EFFECT = "changes values"  # which ones it looks at for that: `access`
    COPY = "copies into a tensor"
    TO_FLOAT = "makes floating-point numbers"
    OPAQUE = "not known"


CROPS = (Role.CROP, Role.CENTER_CROP)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An op, its number in the user's list, and what is known about it."""

    op: Any
    number: int
    name: str
    role: Role = Role.OPAQUE
    access: frozenset[Access] = frozenset()
    # Whether averaging pixels before the op gives about the same as averaging them after it.
    is_smooth: bool = False

    @property
    def is_declared(self) -> bool:
        """Whether it is a function of the user's of which they say that it is per pixel."""
        return torchvision_generation(self.op) is None and self.role is Role.EFFECT

    @property
    def statistics(self) -> set[str]:
        """Which figures over the whole image it asks for."""
        return _statistics(self.op) if Access.STATISTIC in self.access else set()

    def looks_only_at(self, *kinds: Access) -> bool:
        """Whether it is an op that changes values and looks at nothing else to do so."""
        return self.role is Role.EFFECT and self.access <= set(kinds)

    def is_a(self, *names: str) -> bool:
        """Whether it is an op of one of torchvision's classes of these names."""
        return self.role is not Role.OPAQUE and class_name(self.op) in names

    def argument(self, name: str) -> Any:
        """Return what the op keeps under this name; an enum as its value."""
        value = getattr(self.op, name, None)
        return value.value if isinstance(value, Enum) else value


def read_steps(pipeline: Any) -> tuple[Step, ...]:
    """Return the single ops of a composition in the order in which they are called."""
    steps: list[Step] = []
    for number, op in enumerate(single_ops(pipeline)):
        name = op_name(op, taken=[step.name for step in steps])
        steps.append(Step(op, number, name, *_known(op)))
    return tuple(steps)


_Known = tuple[Role, frozenset[Access], bool]
_OPAQUE: _Known = (Role.OPAQUE, frozenset(), False)


def _effect(*access: Access, smooth: bool = False) -> _Known:
    return Role.EFFECT, frozenset(access), smooth


_WARP = _effect(Access.GATHER)
# A policy draws among warps, statistics and tables; whatever holds for all of them holds for it.
_POLICY = _effect(Access.GATHER, Access.STATISTIC, Access.TABLE, Access.PIXEL, Access.NEIGHBOURHOOD)

_BY_CLASS: dict[str, _Known] = {
    "RandomHorizontalFlip": (Role.FLIP, frozenset(), False),
    "RandomVerticalFlip": (Role.FLIP, frozenset(), False),
    "RandomCrop": (Role.CROP, frozenset(), False),
    "CenterCrop": (Role.CENTER_CROP, frozenset(), False),
    "RandomResizedCrop": (Role.RESIZED_CROP, frozenset(), False),
    "Resize": (Role.RESIZE, frozenset(), False),
    "Grayscale": _effect(Access.PIXEL, smooth=True),
    "RandomGrayscale": _effect(Access.PIXEL, smooth=True),
    "RandomInvert": _effect(Access.TABLE, smooth=True),
    "RandomChannelPermutation": _effect(Access.PIXEL, smooth=True),
    "Normalize": _effect(Access.PIXEL, smooth=True),
    "RandomPosterize": _effect(Access.TABLE),
    "RandomSolarize": _effect(Access.TABLE),
    "RandomAutocontrast": _effect(Access.STATISTIC),
    "RandomEqualize": _effect(Access.STATISTIC),
    "RandomAdjustSharpness": _effect(Access.NEIGHBOURHOOD),
    "GaussianBlur": _effect(Access.NEIGHBOURHOOD),
    "RandomRotation": _WARP,
    "RandomAffine": _WARP,
    "RandomPerspective": _WARP,
    "ElasticTransform": _WARP,
    "AutoAugment": _POLICY,
    "RandAugment": _POLICY,
    "TrivialAugmentWide": _POLICY,
    "AugMix": _POLICY,
    "ToImage": (Role.COPY, frozenset(), False),
    "PILToTensor": (Role.COPY, frozenset(), False),
    "ToTensor": (Role.TO_FLOAT, frozenset(), False),
}


def _known(op: Any) -> _Known:
    if torchvision_generation(op) is None:
        is_per_pixel = declared(op) >= Declared.PER_PIXEL
        return _effect(Access.PIXEL) if is_per_pixel else _OPAQUE
    name = class_name(op)
    if name in _READERS:
        return _READERS[name](op)
    return _BY_CLASS.get(name, _OPAQUE)


def _jitter(op: Any) -> _Known:
    """Contrast pulls every pixel towards the mean of the image; the others ask for no such figure.

    The mean of an image that was resized is nearly the same, so all of them are smooth.
    """
    access = {Access.TABLE, Access.PIXEL}
    if op.contrast is not None:
        access.add(Access.STATISTIC)
    return _effect(*access, smooth=True)


def _conversion(op: Any) -> _Known:
    """A conversion of images to floating-point numbers of 0 to 1; any other one is not known."""
    dtype = op.dtype
    if isinstance(dtype, dict) or not getattr(dtype, "is_floating_point", False):
        return _OPAQUE
    return (Role.TO_FLOAT, frozenset(), False) if getattr(op, "scale", True) else _OPAQUE


def _container(op: Any) -> _Known:
    """A random choice among ops that change values looks at whatever one of them looks at."""
    return _together(_known(inner) for inner in _inner_ops(op.transforms))


def _inner_ops(transforms: Iterable[Any]) -> Iterable[Any]:
    for inner in transforms:
        yield from single_ops(inner)


def _together(all_known: Iterable[_Known]) -> _Known:
    access: frozenset[Access] = frozenset()
    is_smooth = True
    for role, one, smooth in all_known:
        if role is not Role.EFFECT:
            return _OPAQUE
        access |= one
        is_smooth &= smooth
    return (Role.EFFECT, access, is_smooth) if access else _OPAQUE


def _statistics(op: Any) -> set[str]:
    inner = getattr(op, "transforms", None)
    if inner is not None:
        return set().union(*map(_statistics, _inner_ops(inner)))
    if class_name(op) in _OF_POLICIES:
        return set(_STATISTICS.values())
    name = _STATISTICS.get(class_name(op))
    return {name} if name and _known(op)[1] >= {Access.STATISTIC} else set()


_STATISTICS = {
    "ColorJitter": "contrast",
    "RandomPhotometricDistort": "contrast",
    "RandomAutocontrast": "autocontrast",
    "RandomEqualize": "equalize",
}
_OF_POLICIES = {"AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix"}

_READERS: dict[str, Callable[[Any], _Known]] = {
    "ColorJitter": _jitter,
    "RandomPhotometricDistort": _jitter,
    "ToDtype": _conversion,
    "ConvertImageDtype": _conversion,
    "RandomApply": _container,
    "RandomChoice": _container,
    "RandomOrder": _container,
}
