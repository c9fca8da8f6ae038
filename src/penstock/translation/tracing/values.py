"""What names in a Dataset's code stand for while it is followed, and what known calls make of it.

All samples are followed at once: what is the same for all of them is `Known`; what differs from
sample to sample is a `Column`. Known calls open an image and work out its path; make an array of
it, by NumPy or OpenCV; give it to Albumentations; and make tensors of numbers.
"""

from __future__ import annotations

import builtins
import os
import pathlib
import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from penstock.translation.transforms.identify import full_name, imported, is_of_albumentations

# Functions that only compute their result, so they may be called for each sample in advance.
_PURE: tuple[Any, ...] = (
    *(str, int, float, len, os.fspath, posixpath.join, pathlib.Path, pathlib.PurePosixPath),
    *(os.path.join, os.path.abspath, os.path.basename, os.path.dirname, os.path.expanduser),
    *(os.path.normpath, os.path.splitext),
)
_PURE_METHODS = {
    *("as_posix", "format", "item", "joinpath", "lower", "lstrip", "removeprefix"),
    *("removesuffix", "replace", "rstrip", "split", "strip", "tolist", "upper", "with_suffix"),
    "zfill",
}
_CONTAINER_LIBRARIES = {"builtins", "collections", "numpy", "pandas", "torch"}
_IMAGE_MODES = ("RGB", "L")
_LOADERS = ("torchvision.datasets.folder.default_loader", "torchvision.datasets.folder.pil_loader")
_COLOR_SWAP = 4  # OpenCV's number for both BGR to RGB and RGB to BGR
_COLOR_READ = 1  # OpenCV's number for reading in colour


class UnfollowableError(Exception):
    """The code does something whose effect on a sample is not known here; says what and where."""

    def __init__(self, why: str, code: str | None = None) -> None:
        super().__init__(why if code is None else f"`{code}`: {why}")
        self.has_code = code is not None


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """An object that is the same for every sample."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One object per sample."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tensors:
    """What torch.tensor or torch.as_tensor makes of one object per sample."""

    column: Column
    make: Callable[[Any], Any]
    are_labels: bool  # whole numbers as int64, whose batch is that of Python's own numbers


@dataclass(frozen=True, slots=True, eq=False)
class OpenFile:
    """A file opened for reading bytes, for each sample."""

    paths: Column


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An image for each sample: a file, converted to Pillow modes and then put through steps."""

    paths: Column
    modes: tuple[str, ...] = ()
    steps: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Tuple:
    """Several values side by side."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Values by name."""

    items: dict[str, Value]


Value: TypeAlias = Known | Column | Tensors | OpenFile | Picture | Tuple | Named


def known(value: Value, what: str) -> Any:
    """Return the object that a value stands for; it must not depend on the sample."""
    if not isinstance(value, Known):
        raise UnfollowableError(f"{what} depends on the sample")
    return value.value


def map_columns(function: Callable[..., Any], *values: Value) -> Value:
    """Call a function that only computes: once per sample if anything differs, else once."""
    columns = [value for value in values if isinstance(value, Column)]
    if any(not isinstance(value, (Known, Column)) for value in values):
        name = getattr(function, "__name__", function)
        raise UnfollowableError(f"{name} is given an image or a tensor")
    if not columns:
        return Known(function(*(value.value for value in values if isinstance(value, Known))))
    count = len(columns[0].values)
    rows = [
        value.values if isinstance(value, Column) else (value.value,) * count
        for value in values
        if isinstance(value, (Known, Column))
    ]
    return Column(tuple(function(*row) for row in zip(*rows, strict=True)))


@dataclass(frozen=True, slots=True, repr=False)
class AsArray:
    """`np.array(image)`: a Pillow image becomes height x width x 3 bytes."""

    def __repr__(self) -> str:
        return "np.array(image)"


@dataclass(frozen=True, slots=True, repr=False)
class ReadByOpenCV:
    """`cv2.imread(path)`, an array from the start; blue comes first until cv2.cvtColor."""

    blue_first: bool

    def __repr__(self) -> str:
        return "cv2.imread(path)"


def look_up(container: Value, key: Value) -> Value:
    """Return `container[key]`."""
    if isinstance(container, Named):
        return container.items[known(key, "the name that is looked up")]
    if isinstance(container, Known):
        library = type(container.value).__module__.partition(".")[0]
        if library not in _CONTAINER_LIBRARIES:
            raise UnfollowableError(f"what {type(container.value).__name__}[...] does is not known")
    return map_columns(lambda values, index: values[index], container, key)


def call_method(owner: Value, name: str, arguments: list[Value]) -> Value:
    """Return what a method gives, of an image or of what differs between samples."""
    if isinstance(owner, Picture):
        return _call_on_picture(owner, name, arguments)
    if isinstance(owner, Column) and name in _PURE_METHODS:
        return map_columns(lambda value, *rest: getattr(value, name)(*rest), owner, *arguments)
    raise UnfollowableError(f"what .{name}() does to a {type(owner).__name__.lower()} is not known")


def call_function(function: Any, arguments: list[Value], named: dict[str, Value]) -> Value | None:
    """Return what a function that is known by name gives; None if it is not."""
    of_array = _call_on_array(function, arguments, named)
    if of_array is not None:
        return of_array
    name = full_name(function)
    first = arguments[0] if arguments else None
    if isinstance(first, (Column, Tuple)) and _makes_tensors(function):
        options = named if len(arguments) == 1 else {**named, "dtype": arguments[1]}
        return _make_tensors(function, first, options)
    if name == "PIL.Image.open" and len(arguments) == 1 and not named:
        return _open_image(arguments[0])
    if not isinstance(first, Column):
        return map_columns(function, *arguments) if function in _PURE and not named else None
    if function is builtins.open:
        return _open_file(first, [*arguments[1:], *named.values()])
    if name in _LOADERS and len(arguments) == 1:
        return _load_as_torchvision(first)
    if function is isinstance:
        kinds = known(arguments[1], "the second argument of isinstance")
        return _same_for_all(isinstance(value, kinds) for value in first.values)
    if name == "torch.is_tensor":
        return _same_for_all(full_name(type(value)) == "torch.Tensor" for value in first.values)
    if function in _PURE and not named:
        return map_columns(function, *arguments)
    return None


def _same_for_all(answers: Iterable[bool]) -> Known:
    different = set(answers)
    if len(different) != 1:
        raise UnfollowableError("the answer depends on the sample")
    return Known(different.pop())


def _open_image(file: Value) -> Picture:
    if isinstance(file, OpenFile):
        return Picture(file.paths)
    if isinstance(file, Column):
        return Picture(file)
    raise UnfollowableError("Image.open is given something other than the sample's file")


def _open_file(path: Column, options: list[Value]) -> OpenFile:
    if [option.value for option in options if isinstance(option, Known)] != ["rb"]:
        raise UnfollowableError('a file is not opened for reading bytes ("rb")')
    return OpenFile(path)


def _load_as_torchvision(path: Column) -> Picture:
    torchvision = imported("torchvision")
    if torchvision is not None and torchvision.get_image_backend() != "PIL":
        raise UnfollowableError(
            f"torchvision loads images by {torchvision.get_image_backend()}, not by Pillow"
        )
    return Picture(path, modes=("RGB",))


def _call_on_picture(picture: Picture, name: str, arguments: list[Value]) -> Picture:
    if name in ("copy", "load") and not arguments:
        return picture
    if name == "convert" and len(arguments) == 1 and not picture.steps:
        mode = known(arguments[0], "the mode of .convert()")
        if mode in _IMAGE_MODES:
            return replace(picture, modes=(*picture.modes, mode))
        raise UnfollowableError(f"images are converted to mode {mode!r}; known are RGB and L")
    raise UnfollowableError(f"what .{name}() does to the image is not known")


def _makes_tensors(function: Any) -> bool:
    torch = imported("torch")
    return torch is not None and function in (torch.tensor, torch.as_tensor)


def _make_tensors(function: Any, values: Value, named: dict[str, Value]) -> Tensors:
    options = {name: known(value, f"{name}= of a tensor") for name, value in named.items()}
    column = _as_column(values)
    are_whole = all(
        isinstance(value, int) or full_name(type(value)) == "numpy.int64" for value in column.values
    )
    are_labels = are_whole and [str(option) for option in options.values()] in ([], ["torch.int64"])
    return Tensors(column, partial(function, **options), are_labels)


def _as_column(values: Value) -> Column:
    """One object per sample, also of what stands in brackets, as in torch.tensor([index])."""
    if isinstance(values, Tuple):
        values = map_columns(lambda *parts: list(parts), *values.items)
    if not isinstance(values, Column):
        raise UnfollowableError("a tensor is made of something other than a sample's own numbers")
    return values


def _call_on_array(
    function: Any, arguments: list[Value], named: dict[str, Value]
) -> Picture | Named | None:
    """What a call gives that makes or takes arrays; None if it does neither."""
    if is_of_albumentations(function):
        return _augment(function, arguments, named)
    given = [*arguments, *named.values()]
    cv2 = imported("cv2")
    first = given[0] if given else None
    if isinstance(first, Picture) and (function is np.array or function is np.asarray):
        return _as_array(first, given[1:])
    if cv2 is not None and function is cv2.imread and isinstance(first, Column):
        return _read_by_opencv(first, given[1:])
    if cv2 is not None and function is cv2.cvtColor and isinstance(first, Picture):
        return _swap_colours(first, given[1:])
    return None


def makes_array(picture: Picture, earlier: Picture) -> bool:
    """Whether an image became an array between two points of the code."""
    return any(isinstance(step, AsArray) for step in picture.steps[len(earlier.steps) :])


def _augment(transform: Any, arguments: list[Value], named: dict[str, Value]) -> Named:
    if arguments:
        raise UnfollowableError("Albumentations takes arguments by name: transform(image=image)")
    beside = ", ".join(sorted(set(named) - {"image"}))
    if beside:
        raise UnfollowableError(f"Albumentations is given {beside}; known is image= alone")
    image = named.get("image")
    if not isinstance(image, Picture):
        raise UnfollowableError("Albumentations is given something other than the sample's image")
    return Named({"image": replace(image, steps=(*image.steps, transform))})


def _as_array(picture: Picture, options: list[Value]) -> Picture:
    kinds = [known(option, "the dtype of an array") for option in options]
    if len(kinds) > 1 or any(not _is_bytes(kind) for kind in kinds):
        raise UnfollowableError("an array of an image is made with more than dtype=np.uint8")
    return replace(picture, steps=(*picture.steps, AsArray()))


def _is_bytes(dtype: Any) -> bool:
    try:
        return bool(np.dtype(dtype) == np.uint8)
    except TypeError:
        return False


def _read_by_opencv(path: Column, options: list[Value]) -> Picture:
    if [known(option, "the flags of cv2.imread") for option in options] not in ([], [_COLOR_READ]):
        raise UnfollowableError("cv2.imread is known with cv2.IMREAD_COLOR, or without flags")
    return Picture(path, modes=("RGB",), steps=(ReadByOpenCV(blue_first=True),))


def _swap_colours(picture: Picture, options: list[Value]) -> Picture:
    codes = [known(option, "the code of cv2.cvtColor") for option in options]
    if picture.steps != (ReadByOpenCV(blue_first=True),) or codes != [_COLOR_SWAP]:
        raise UnfollowableError("cv2.cvtColor is known as cv2.COLOR_BGR2RGB right after cv2.imread")
    return replace(picture, steps=(ReadByOpenCV(blue_first=False),))
