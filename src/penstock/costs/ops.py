"""The ops of a data set or a pipeline, whichever library composed them, and what to call them.

`replaced_ops` is the only walk over a data set: it goes through Subset, ConcatDataset and the like,
finds the transforms that they hold, and the single ops inside those.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from penstock.transforms.python_step import PythonStep

_COMPOSED = {"Compose", "Sequential", "ReplayCompose"}  # what libraries call a list of ops
_HOLDERS = {"transform", "augment"}  # attributes that may also hold a single op
_FILE_LISTS = ("samples", "imgs", "images", "files", "paths", "image_paths", "filenames", "ids")
PILLOW, TORCH, OPENCV, PYTHON, CORE = "Pillow", "torch", "OpenCV", "Python", "core"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What an op is called with: by position, or by name as Albumentations has it."""

    positional: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)

    def bind(self, op: Callable[..., Any]) -> Callable[[], Any]:
        """Return the call."""
        return partial(op, *self.positional, **self.named)

    def after(self, returned: Any) -> Arguments:
        """Return what the next op is called with."""
        if self.named:
            return Arguments(named=dict(returned))
        if len(self.positional) > 1 and isinstance(returned, tuple):
            return Arguments(returned)
        return Arguments((returned,))

    @property
    def image(self) -> Any:
        """The image, or what stands in its place."""
        if self.named or not self.positional:
            return self.named.get("image")
        return self.positional[0]


class StandIn:
    """Stands in the place of an op and calls it; everything else is the op's own.

    `isinstance` sees the op's class, since libraries ask for it.
    """

    def __init__(self, op: Any) -> None:
        self._op = op

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Call the op."""
        return self._op(*positional, **named)

    @property
    def op(self) -> Any:
        """The op itself."""
        return self._op

    def _class(self) -> type:
        return type(self._op)

    __class__ = property(_class)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)


def is_pipeline(value: Any) -> bool:
    """Whether `value` is a list of ops that all run one after another, composed or not."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(callable(op) for op in value)
    if type(value).__name__ not in _COMPOSED or not callable(value):
        return False
    # Albumentations' compositions may be left out as a whole, and then none of their ops runs.
    return bool(getattr(value, "p", 1) >= 1)


def is_dataset(value: Any) -> bool:
    """Whether `value` gives samples by number."""
    is_stream = any(base.__name__ == "IterableDataset" for base in type(value).__mro__)
    has_both = hasattr(value, "__getitem__") and hasattr(value, "__len__")
    return has_both and not is_stream and not is_pipeline(value)


def single_ops(pipeline: Any) -> Iterator[Callable[..., Any]]:
    """Yield the ops in the order they are called; one that chooses among others stays whole."""
    if not is_pipeline(pipeline):
        yield pipeline
        return
    for op in getattr(pipeline, "transforms", pipeline):
        yield from single_ops(op)


def op_name(op: Any, taken: Container[str] = ()) -> str:
    """Return what to call an op: a function's name, or a class's; numbered if that is taken."""
    called = op.name if isinstance(op, PythonStep) else getattr(op, "__qualname__", None)
    name = called if isinstance(called, str) else type(op).__name__
    numbered, number = name, 1
    while numbered in taken:
        number += 1
        numbered = f"{name} ({number})"
    return numbered


def library_of(value: Any) -> str:
    """Return the package that an op or an image comes from."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).split(".", maxsplit=1)[0]


def runs_in(op: Any, image: Any) -> str:
    """Return what does the work of an op of a known library, or Python."""
    library = library_of(op)
    if library == "albumentations":
        return OPENCV
    if library in {"torchvision", "torch"}:
        return PILLOW if library_of(image) == "PIL" else TORCH
    return PYTHON


def chain(dataset: Any) -> Iterator[Any]:
    """Yield the data set, and those inside it as Subset and its like hold them."""
    seen: list[Any] = []
    while dataset is not None and not any(dataset is other for other in seen):
        seen.append(dataset)
        yield dataset
        dataset = getattr(dataset, "dataset", None)


def layers(dataset: Any) -> Iterator[Any]:
    """Yield the data set and all inside it, also those that ConcatDataset puts together."""
    for layer in chain(dataset):
        yield layer
        inner = getattr(layer, "datasets", ())
        for one in inner if isinstance(inner, (list, tuple)) else ():
            yield from layers(one)


@contextmanager
def replaced_ops(dataset: Any, replace: Callable[[Any], Any]) -> Iterator[list[Any]]:
    """Put `replace(op)` in the place of each op of a data set's transforms.

    Ops are taken in the order in which they are called, and put back at the end. Yields the
    compositions that hold them.
    """
    composed: dict[int, Any] = {}
    seen: dict[int, Any] = {}  # an op that is held twice is the same op
    with ExitStack() as undo:

        def put(owner: Any, name: str, value: Any) -> None:
            # A torch module refuses to have a submodule replaced by anything but a module.
            undo.callback(vars(owner).__setitem__, name, vars(owner)[name])
            vars(owner)[name] = value

        def visit(op: Any) -> Any:
            kept = vars(op) if is_pipeline(op) and hasattr(op, "__dict__") else {}
            # torch.nn.Sequential has a dictionary of modules, all others a list.
            name = next((name for name in ("transforms", "_modules") if name in kept), None)
            if name is None:
                return replace(op)
            if id(op) not in composed:
                composed[id(op)] = op
                inner = kept[name]
                if isinstance(inner, dict):
                    put(op, name, {key: visit(one) for key, one in inner.items()})
                else:
                    put(op, name, [visit(one) for one in inner])
            return op

        for owner, name in _places(dataset):
            op = vars(owner)[name]
            if id(op) not in seen:
                seen[id(op)] = visit(op)
            put(owner, name, seen[id(op)])
        yield list(composed.values())


def _places(dataset: Any) -> list[tuple[Any, str]]:
    """Return where a data set keeps its transforms: objects, and names of their attributes."""
    found: list[tuple[Any, str]] = []
    for layer in layers(dataset):
        for name, value in vars(layer).items() if hasattr(layer, "__dict__") else ():
            if type(value).__name__ == "StandardTransform" and callable(value.transform):
                found.append((value, "transform"))  # torchvision's, around what the user gave
            elif callable(value) and (name in _HOLDERS or _holds_ops(value)):
                found.append((layer, name))
    return found


def _holds_ops(value: Any) -> bool:
    inner = getattr(value, "transforms", None)
    chooses = isinstance(inner, (list, tuple)) and bool(inner) and all(map(callable, inner))
    return chooses or (is_pipeline(value) and not isinstance(value, (list, tuple)))


def list_ops(dataset: Any) -> list[Any]:
    """Return the single ops of a data set's transforms."""
    found: list[Any] = []

    def note(op: Any) -> Any:
        found.append(op)
        return op

    with replaced_ops(dataset, note):
        return found


def list_composes(dataset: Any) -> list[Any]:
    """Return what a data set holds that keeps its ops in a list `transforms`."""
    with replaced_ops(dataset, lambda op: op) as composed:
        return [one for one in composed if hasattr(one, "transforms")]


def file_name(dataset: Any, index: int) -> str:
    """Return the file of a sample, where the data set has a list of them; else its number."""
    for layer in chain(dataset):
        positions = getattr(layer, "indices", None)
        if positions is not None and hasattr(layer, "dataset"):
            index = int(positions[index])
            continue
        for attribute in _FILE_LISTS:
            if (name := _listed(layer, attribute, index)) is not None:
                return name
    return f"sample {index}"


def _listed(dataset: Any, attribute: str, index: int) -> str | None:
    listed = getattr(dataset, attribute, None)
    if not isinstance(listed, (list, tuple)) or not 0 <= index < len(listed):
        return None
    entry = listed[index]
    if isinstance(entry, (list, tuple)) and entry:
        entry = entry[0]
    if isinstance(entry, (str, os.PathLike)):
        return os.fspath(entry)
    return f"id {entry}" if isinstance(entry, int) else None
