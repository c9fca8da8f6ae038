"""Who asked for the pixels of an image before the whole batch was ready, and how often."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

_OURS = "penstock."
_OUR_KERNELS = "penstock.transforms.functional."
_LOADER = "torch.utils.data."  # beyond that are those who ask for samples
_CALLS = frozenset({"forward", "transform", "__call__"})
_NOT_THEMSELVES = ("torch.", "torchvision.transforms.v2._utils")  # they call for others
_LIBRARIES = (
    *("PIL.", "torchvision.", "torch.", "numpy.", "albumentations.", "albucore.", "timm.", "cv2."),
    "imageio.",
)


@dataclass(slots=True)
class Counts:
    """What happened to the images of one Dataset in this process."""

    deferred: int = 0  # images that were opened and not decoded
    ordinary: Counter[str] = field(default_factory=Counter)  # files of other kinds, by why
    early: Counter[str] = field(default_factory=Counter)  # pixels asked for at once, by whom
    steps: Counter[str] = field(default_factory=Counter)  # the same, by steps that the core does
    kept: list[Any] = field(default_factory=list)  # files whose pixels are kept for a while
    error: BaseException | None = None  # what went wrong within our own code
    again: int = 0  # batches that were asked for a second time, with ordinary images
    are_arrays_taken: bool = True  # or does some code refuse arrays that are not computed yet?


class _State(threading.local):
    counts: Counts | None = None


_state = _State()


@dataclass(frozen=True, slots=True)
class Replaced:
    """A function of a module, and the wrapper that takes its place."""

    module: Any
    name: str
    original: Any
    wrapper: Any

    def put(self) -> None:
        """Put the wrapper there."""
        setattr(self.module, self.name, self.wrapper)

    def take_away(self) -> None:
        """Put the function back, unless somebody else has put something there meanwhile."""
        if getattr(self.module, self.name, None) is self.wrapper:
            setattr(self.module, self.name, self.original)


class _Scope:
    """Wrappers that are there while any thread asks a Dataset, or is in the `with` block."""

    def __init__(self) -> None:
        self.places: list[Replaced] = []
        self._asking = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self._asking += 1
            if self._asking == 1:
                for place in self.places:
                    place.put()

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._asking -= 1
            if self._asking == 0:
                for place in self.places:
                    place.take_away()

    def start_anew(self) -> None:
        """In a forked process, other threads are gone, and with them those who asked."""
        self._lock = threading.Lock()
        if self._asking and _state.counts is None:
            self._asking = 0
            for place in self.places:
                place.take_away()


wrapped = _Scope()
os.register_at_fork(after_in_child=wrapped.start_anew)


def replace_while_deferring(places: list[Replaced]) -> None:
    """Let wrappers be in the places of functions while a Dataset is asked, and only then."""
    wrapped.places += places


class deferring:  # noqa: N801 (it is used as a function: with deferring(counts))
    """While it lasts, images that this thread opens are not decoded."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._before: Counts | None = None

    def __enter__(self) -> None:
        self._before, _state.counts = _state.counts, self._counts
        wrapped.__enter__()

    def __exit__(self, *_error: object) -> None:
        wrapped.__exit__()
        for file in self._counts.kept:
            file.whole = None
        self._counts.kept.clear()
        _state.counts = self._before


def counts_here() -> Counts | None:
    """The counts of the Dataset that this thread is asking; None if images are to be ordinary."""
    return _state.counts


def may_defer_arrays() -> bool:
    """Whether arrays that are not computed yet have not been refused here."""
    return _state.counts is None or _state.counts.are_arrays_taken


def note_early() -> None:
    """Count whoever asked for pixels just now."""
    counts = _state.counts
    if counts is not None:
        who, is_ours = _asker()
        (counts.steps if is_ours else counts.early)[who] += 1


def _asker() -> tuple[str, bool]:
    """The function of a library that asked, with the line of the user's that called it.

    Also whether that function is done by one of ours.
    """
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 (who called is the question)
    called, is_ours = "", False
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(_LOADER):
            break
        is_ours |= module.startswith(_OUR_KERNELS)
        if module.startswith(_LIBRARIES):
            called = called or _name_in_library(module, frame)
        elif not module.startswith(_OURS):
            place = f"{frame.f_code.co_name}, line {frame.f_lineno}"
            return (f"{called} (in {place})" if called else place), is_ours
        frame = frame.f_back
    return called or "somebody", is_ours


def _name_in_library(module: str, frame: FrameType) -> str:
    """What users call the function of this frame; nothing for what they do not know."""
    name = frame.f_code.co_name
    if name in _CALLS and "self" in frame.f_locals and not module.startswith("PIL."):
        name = type(frame.f_locals["self"]).__name__
    if name.startswith("_") or module.startswith(_NOT_THEMSELVES):
        return ""
    return f"{module.partition('.')[0]}'s {name}"
