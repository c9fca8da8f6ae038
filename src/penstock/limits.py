"""How much memory and time one input may ask for: one budget, which every reader obeys.

A small file can announce terabytes: a compressed image, a sparse archive, an enormous polygon.
Each limit here is far above what real data sets need. An input that exceeds one is refused before
anything is allocated; the error names the limit and says how to raise it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from penstock.errors import PenstockError

_MEBI = 1 << 20
_PILLOW_PIXELS = 2 * (1024 * 1024 * 1024 // 4 // 3)  # an image with more is an error to Pillow
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_SUFFIXES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_VALUE = re.compile(r"([0-9]{1,18})([KMGT]?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest inputs that are read; anything beyond is an error that names the limit.

    - `pixels`: height x width of one image or one mask. By default, that of Pillow.
    - `mask_pixels`: pixels of all masks of one image together.
    - `outline_steps`: steps along one outline (polygon) on the grid that it is drawn on, which is
      five times finer than the pixels.
    - `record_bytes`: one file with an image or a mask, one member of an archive, one record, value,
      row or cell, and what has to be inflated at a time to get at it.
    - `text_bytes`: one text file that is read as a whole, such as a list of images.
    - `document_bytes`: one XML or YAML file, one element of a JSON list, one image's labels.
    - `nodes`: values or elements in one such document or record.
    - `depth`: how deep they are nested.
    - `columns`: columns, features or fields of a data set.
    """

    pixels: int = _PILLOW_PIXELS
    mask_pixels: int = 1 << 33
    outline_steps: int = 1 << 22
    record_bytes: int = 256 * _MEBI
    text_bytes: int = 128 * _MEBI
    document_bytes: int = 16 * _MEBI
    nodes: int = 1_000_000
    depth: int = 100
    columns: int = 1_000

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise PenstockError(
                    f"Limits: {name} must be a whole number from 1 on, got {value!r}."
                )


NAMES = tuple(field.name for field in fields(Limits))
_in_force: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039 (frozen)


def limits_in_force() -> Limits:
    """Return the limits that hold here: those of the innermost `using`, or the defaults."""
    return _in_force.get()


def limits_or_in_force(limits: Limits | None) -> Limits:
    """Return what a caller gave as `limits`, checked; if that is None, the limits in force."""
    if limits is not None and not isinstance(limits, Limits):
        raise PenstockError(f"limits: penstock.Limits(...) is needed, got {limits!r}.")
    return limits or _in_force.get()


@contextmanager
def using(limits: Limits | None) -> Iterator[Limits]:
    """Let `limits` hold until the end of the block; None changes nothing."""
    held = limits_or_in_force(limits)
    token = _in_force.set(held)
    try:
        with pillow_limit.at_least(held.pixels):
            yield held
    finally:
        _in_force.reset(token)


class _PillowLimit:
    """Pillow's own limit, one for the whole process: raised as long as somebody needs that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: int | None = None
        self._raised_to: list[int] = []

    @contextmanager
    def at_least(self, pixels: int) -> Iterator[None]:
        """Let Pillow read images of up to this many pixels until the end of the block."""
        if pixels <= _PILLOW_PIXELS:
            yield
            return
        import PIL.Image

        with self._lock:
            if not self._raised_to:
                self._own = PIL.Image.MAX_IMAGE_PIXELS
            self._raised_to.append(pixels)
            if self._own is not None:
                PIL.Image.MAX_IMAGE_PIXELS = max(self._own, *self._raised_to)
        try:
            yield
        finally:
            with self._lock:
                self._raised_to.remove(pixels)
                if self._own is not None:
                    PIL.Image.MAX_IMAGE_PIXELS = max([self._own, *self._raised_to])


pillow_limit = _PillowLimit()


def obeying_limits(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the keyword argument `limits` of a function hold while it runs."""

    @wraps(function)
    def obeying(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with using(cast("Limits | None", kwargs.get("limits"))):
            return function(*args, **kwargs)

    return obeying


def limits_from_text(given: Iterable[str]) -> Limits:
    """Read `pixels=400M`, `record-bytes=2G` and the like, on top of the limits in force."""
    changed = {}
    for text in given:
        name, _, value = text.partition("=")
        name = name.strip().replace("-", "_")
        match = _VALUE.fullmatch(value.strip())
        if name not in NAMES or match is None or int(match.group(1)) < 1:
            known = ", ".join(known.replace("_", "-") for known in NAMES)
            raise PenstockError(
                f"--limit {text}: a name and a number are needed, such as pixels=400M (K, M, G and "
                f"T are thousands, millions and so on). Names: {known}."
            )
        changed[name] = int(match.group(1)) * _SUFFIXES[match.group(2).upper()]
    return replace(limits_in_force(), **changed)


def beyond(name: str, needed: int) -> bool:
    """Return whether something needs more than the limit `name` in force."""
    allowed: int = getattr(limits_in_force(), name)
    return needed > allowed


def how_to_allow(name: str, needed: int | None = None) -> str:
    """Return what an error about a limit ends in: how much is allowed, and how to allow more.

    Without a full stop. If what is needed is not known, four times the limit is proposed.
    """
    allowed: int = getattr(limits_in_force(), name)
    wanted = _rounded_up(4 * allowed if needed is None else needed)
    return (
        f"At most {allowed:,} {name.replace('_', ' ')} are read. If you trust it, allow more: "
        f"--limit {name.replace('_', '-')}={_short(wanted)}, or limits=Limits({name}={wanted:_})"
    )


def too_many_pixels(height: int, width: int, what: str = "the header says") -> str | None:
    """Return why an image or mask of this size is not read, without a full stop; None if it is."""
    pixels = height * width
    if not beyond("pixels", pixels):
        return None
    return f"{what} {height}x{width}, {pixels:,} pixels. {how_to_allow('pixels', pixels)}"


def too_many_masks(count: int, height: int, width: int) -> str | None:
    """Return why so many masks of one image are not read, without a full stop; None if they are."""
    area = count * height * width
    problem = too_many_pixels(height, width, "its masks are")
    if problem is None and beyond("mask_pixels", area):
        problem = (
            f"it has {count:,} masks of {height}x{width}, {area:,} pixels together. "
            f"{how_to_allow('mask_pixels', area)}"
        )
    return problem


def _rounded_up(number: int) -> int:
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step


def _short(number: int) -> str:
    for suffix in ("T", "G", "M", "K"):
        if number % _SUFFIXES[suffix] == 0:
            return f"{number // _SUFFIXES[suffix]}{suffix}"
    return str(number)
