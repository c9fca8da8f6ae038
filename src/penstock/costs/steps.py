"""The single ops of a pipeline, whichever library composed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

COMPOSED = {"Compose", "Sequential", "ReplayCompose"}  # what libraries call a list of ops
PILLOW, TORCH, OPENCV, PYTHON = "Pillow", "torch", "OpenCV", "Python"


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
        return self.named.get("image") if self.named else self.positional[0]


def is_pipeline(value: Any) -> bool:
    """Whether `value` is a list of ops, composed or not."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(callable(op) for op in value)
    # Albumentations' compositions may be left out as a whole, and then none of their ops runs.
    always_runs = getattr(value, "p", 1) >= 1
    return type(value).__name__ in COMPOSED and callable(value) and always_runs


def takes_names(pipeline: Any) -> bool:
    """Whether the ops are called with `image=...`."""
    first = next(single_ops(pipeline), None)
    return library_of(first) == "albumentations"


def single_ops(pipeline: Any) -> Iterator[Callable[..., Any]]:
    """Yield the ops in the order they are called; one that chooses among others stays whole."""
    if not is_pipeline(pipeline):
        yield pipeline
        return
    inner = getattr(pipeline, "transforms", pipeline)
    for op in inner:
        yield from single_ops(op)


def op_name(op: Any) -> str:
    """Return what to call an op."""
    name = getattr(op, "__qualname__", None)
    return name if isinstance(name, str) else type(op).__name__


def library_of(op: Any) -> str:
    """Return the package an op comes from."""
    module = getattr(op, "__module__", None) or type(op).__module__
    return str(module).split(".", maxsplit=1)[0]


def runs_in(op: Any, arguments: Arguments) -> str:
    """Return what does the work of an op of a known library, or Python."""
    library = library_of(op)
    if library == "albumentations":
        return OPENCV
    if library in {"torchvision", "torch"}:
        return PILLOW if library_of(arguments.image) == "PIL" else TORCH
    return PYTHON
