"""What a called transform is given: any nesting of images, boxes, masks, keypoints and the rest.

The rules are torchvision v2's. Images, videos, masks, boxes and keypoints are transformed wherever
they stand; plain tensors only if there is no Pillow image, Image or Video, and then only the first.
NumPy arrays, which torchvision passes on, are images here if nothing else is, and again only the
first. torch and torchvision need not be installed: what is of them has been made by them, so their
modules are looked up, never imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from PIL import Image

from penstock.errors import TransformError, TransformTypeError

# Kinds of values, as bits, so that one number says which of them a transform takes.
PILLOW = 1
ARRAY = 2
TENSOR = 4  # a plain one, of none of torchvision's classes
IMAGE = 8
VIDEO = 16
MASK = 32
BOXES = 64
KEYPOINTS = 128
OWN_CLASS = 256  # of the user's own, derived from torchvision's TVTensor
OTHER = 512  # labels, names, numbers

SINGLE_IMAGES = PILLOW | ARRAY | TENSOR | IMAGE
IMAGES = SINGLE_IMAGES | VIDEO
TARGETS = MASK | BOXES | KEYPOINTS
TV_TENSORS = IMAGE | VIDEO | TARGETS | OWN_CLASS
TENSORS = TENSOR | TV_TENSORS
EVERYTHING = PILLOW | ARRAY | TENSORS
ANYTHING = EVERYTHING | OTHER

_HAVE_SIZES = IMAGES | TARGETS

_KINDS: dict[type, int] = {}


def kind_of(value: Any) -> int:
    """Which kind of input a value is."""
    known = _KINDS.get(type(value))
    return kind_of_type(type(value)) if known is None else known


def kind_of_type(cls: type) -> int:
    """Which kind of input the values of a type are."""
    # What is found stays true: a class cannot be derived from one of a module that comes later.
    kind = OTHER
    torch, tv_tensors = sys.modules.get("torch"), sys.modules.get("torchvision.tv_tensors")
    if issubclass(cls, Image.Image):
        kind = PILLOW
    elif issubclass(cls, np.ndarray):
        kind = ARRAY
    elif torch is not None and issubclass(cls, torch.Tensor):
        kind = TENSOR
        if tv_tensors is not None and issubclass(cls, tv_tensors.TVTensor):
            kind = OWN_CLASS
            for name, known in _TV_NAMES:
                if issubclass(cls, getattr(tv_tensors, name, ())):
                    kind = known
    _KINDS[cls] = kind
    return kind


_TV_NAMES = (
    ("Image", IMAGE),
    ("Video", VIDEO),
    ("Mask", MASK),
    ("BoundingBoxes", BOXES),
    ("KeyPoints", KEYPOINTS),
)


def wrap_like(output: Any, like: Any) -> Any:
    """A tensor as one of torchvision's classes again, if `like` is of one."""
    if kind_of(like) & TV_TENSORS:
        return sys.modules["torchvision.tv_tensors"].wrap(output, like=like)
    return output


def plain(tensor: Any) -> Any:
    """A tensor without torchvision's class."""
    return tensor.as_subclass(sys.modules["torch"].Tensor)


def chosen_kinds(values: Sequence[Any], takes: int, *, every_array: bool = False) -> list[int]:
    """For each value its kind if it is to be transformed, else 0.

    With `every_array`, all arrays are: that is torchvision's rule where it makes images of them.
    """
    kinds = [kind_of(value) for value in values]
    present = 0
    for kind in kinds:
        present |= kind
    tensor_is_image = not present & (IMAGE | VIDEO | PILLOW)
    array_is_image = not present & (IMAGE | VIDEO | PILLOW | TENSOR)
    for place, kind in enumerate(kinds):
        if not kind & takes:
            kinds[place] = 0
        elif kind == TENSOR:
            kinds[place] = TENSOR if tensor_is_image else 0
            tensor_is_image = False
        elif kind == ARRAY and not every_array:
            is_image = array_is_image and values[place].ndim >= 2
            kinds[place] = ARRAY if is_image else 0
            array_is_image = array_is_image and not is_image
    return kinds


def has_any(values: Iterable[Any], kinds: int) -> bool:
    """Whether one of the values is of these kinds."""
    return any(kind_of(value) & kinds for value in values)


def first_of(values: Iterable[Any], kind: int) -> Any:
    """The first value of a kind, or None."""
    return next((value for value in values if kind_of(value) == kind), None)


def size_of(value: Any) -> tuple[int, int]:
    """(height, width) of an image, or of the image that a target belongs to."""
    kind = kind_of(value)
    if kind == PILLOW:
        width, height = value.size
        return height, width
    if kind & (BOXES | KEYPOINTS):
        height, width = value.canvas_size
    elif kind == ARRAY:
        height, width = value.shape[:2]
    else:
        height, width = value.shape[-2:]
    return int(height), int(width)


def query_size(values: Sequence[Any]) -> tuple[int, int]:
    """(height, width) of a sample, all of whose images and targets must agree."""
    if len(values) == 1 and kind_of(values[0]) & _HAVE_SIZES:
        return size_of(values[0])
    sizes = {size_of(value) for value in values if kind_of(value) & _HAVE_SIZES}
    if not sizes:
        raise TransformTypeError(
            "No image, video, mask, bounding box or keypoint was found in the sample. "
            "Give at least one."
        )
    height, width = _only("HxW", sizes)
    return height, width


def query_chw(values: Sequence[Any]) -> tuple[int, int, int]:
    """(channels, height, width) of a sample, all of whose images must agree."""
    if len(values) == 1 and kind_of(values[0]) & IMAGES:
        return (_channels(values[0]), *size_of(values[0]))
    shapes = {(_channels(value), *size_of(value)) for value in values if kind_of(value) & IMAGES}
    if not shapes:
        raise TransformTypeError("No image or video was found in the sample. Give at least one.")
    channels, height, width = _only("CxHxW", shapes)
    return channels, height, width


def _only(what: str, found: AbstractSet[tuple[int, ...]]) -> tuple[int, ...]:
    if len(found) > 1:
        listed = ", ".join("x".join(map(str, one)) for one in sorted(found))
        raise TransformError(
            f"Found multiple {what} dimensions in the sample: {listed}. "
            "All images and targets of a sample must agree."
        )
    (only,) = found
    return only


def _channels(value: Any) -> int:
    kind = kind_of(value)
    if kind == PILLOW:
        return len(value.getbands())
    if kind == ARRAY:
        return 1 if value.ndim == 2 else int(value.shape[2])
    return 1 if value.ndim == 2 else int(value.shape[-3])


def read_labels_getter(where: str, given: Any) -> None:
    """Raise unless it is one of the forms that `find_labels` takes."""
    if not (given is None or callable(given) or given == "default"):
        raise TransformError(
            f"{where}: labels_getter should either be 'default', a callable, or None, "
            f"got {given!r}."
        )


def find_labels(getter: Callable[[Any], Any] | str | None, inputs: Any) -> Any:
    """The labels of a sample as `getter` finds them, or by their key, or as the second of two."""
    if getter is None:
        return None
    if callable(getter):
        return getter(inputs)
    if isinstance(inputs, (tuple, list)):
        inputs = inputs[1]
    if kind_of(inputs) == TENSOR:
        return inputs
    if not isinstance(inputs, Mapping):
        raise TransformError(
            "When using the default labels_getter, the input must be a dictionary or a two-tuple "
            f"whose second item is a dictionary or a tensor, got {type(inputs).__name__}."
        )
    lowered = {key: key.lower() for key in inputs if isinstance(key, str)}
    exact = [key for key, name in lowered.items() if name == "labels"]
    similar = [key for key, name in lowered.items() if "label" in name]
    if not similar:
        raise TransformError(
            "Could not infer where the labels are in the sample. Give a function as "
            "labels_getter, or None if there are no labels."
        )
    return inputs[(exact or similar)[0]]


def flatten(inputs: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The values in a nesting, and what puts new ones in their places.

    Where torch is loaded this is its pytree, which knows more containers, and users' own.
    """
    torch = sys.modules.get("torch")
    if torch is not None:
        from importlib import import_module

        pytree = import_module("torch.utils._pytree")
        values, spec = pytree.tree_flatten(inputs)
        return values, lambda outputs: pytree.tree_unflatten(outputs, spec)
    values = []
    _collect(inputs, values)
    return values, lambda outputs: _rebuild(inputs, iter(outputs))


def _collect(node: Any, values: list[Any]) -> None:
    if isinstance(node, Mapping):
        for inner in node.values():
            _collect(inner, values)
    elif isinstance(node, (tuple, list)):
        for inner in node:
            _collect(inner, values)
    else:
        values.append(node)


def _rebuild(node: Any, outputs: Any) -> Any:
    if isinstance(node, Mapping):
        return type(node)({key: _rebuild(inner, outputs) for key, inner in node.items()})  # type: ignore[call-arg]  # dictionaries and those like them
    if isinstance(node, (tuple, list)):
        inner = [_rebuild(one, outputs) for one in node]
        return type(node)(*inner) if hasattr(node, "_fields") else type(node)(inner)
    return next(outputs)
