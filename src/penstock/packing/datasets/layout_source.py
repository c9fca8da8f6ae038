"""What every reader of a layout is made of.

A reader is a function `open_<layout>(path, asked)` that returns a `LayoutSource`, and a `Layout`
beside it that says how such data is recognised. `open_dataset.py` has the list of all layouts.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from penstock.errors import PenstockError, SourceError
from penstock.packing.items import Column, PackItem, PackSource
from penstock.printable import printable
from penstock.resources import raise_if_refused

# Libraries whose exceptions are about the file that is read.
PARSERS = frozenset(
    [
        *("pyarrow", "h5py", "lmdb", "yaml", "PIL", "google_crc32c", "tarfile", "gzip", "bz2"),
        *("lzma", "_lzma", "zlib", "xml", "csv", "json", "struct", "mmap"),
    ]
)
REPORT = "Please report it with this traceback, and with the file if you can."

# Labels of boxes whose convention is not fixed by the layout.
FROM_0 = "boxes have labels that count from 0; detection models get one more"
FROM_1 = "boxes have labels without names and without a 0, which is taken for the background"

ALL = "all"  # the split of all images
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked for beside the path."""

    split: str | None = None
    images: str | None = None  # the folder of COCO's images

    @property
    def all_splits(self) -> bool:
        """Whether every image is meant, whatever split it belongs to."""
        return self.split == ALL

    def choose_split(self, title: str, available: Sequence[str]) -> str:
        """Return the split to read: the one asked for, or the only one."""
        title = printable(title)
        names = ", ".join(name or "(unnamed)" for name in available)
        if self.split is None:
            if len(available) == 1:
                return available[0]
            raise SourceError(
                f"{title}: it has several splits: {names}. "
                "Choose one, so that training and test images do not mix: --split, "
                "pack(..., split=...) or Loader(open_data(..., split=...))."
            )
        if self.split in available:
            return self.split
        raise SourceError(f"{title}: no split {self.split!r} in it; there are {names or 'none'}.")

    def title(self, path: str) -> str:
        """Return how the data is called: its path, and the split if one was asked for."""
        return printable(path) + (f", {self.split}" if self.split else "")


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to lay out a data set: how it is called, recognised and opened."""

    kind: str
    recognise: Callable[[str], str | None]  # the file by which it is recognised, or None
    open: Callable[[str, Asked], PackSource]
    splits: bool = True  # whether `split` means something
    images: bool = False  # whether `images` does


Finding: TypeAlias = tuple[str, str, int]  # what, where the first one is, how many


@dataclass(slots=True)
class Findings:
    """Counts what is odd but was kept as it is, with the first place of each kind."""

    _count: dict[str, int] = field(default_factory=dict)
    _first: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, where: str, count: int = 1) -> None:
        """Count one more of a kind; `what` reads well after a number: "boxes reach outside ..."."""
        if count:
            self._count[what] = self._count.get(what, 0) + count
            self._first.setdefault(what, where)

    def count(self, what: str) -> int:
        """Return how often a kind was seen."""
        return self._count.get(what, 0)

    def clear(self) -> None:
        """Forget everything, because the samples are about to be read again."""
        self._count.clear()
        self._first.clear()

    def extend(self, more: Iterable[Finding]) -> None:
        """Count others, which come after these."""
        for what, where, count in more:
            self.add(what, where, count)

    def without(self, known: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return all of them but those that are known, to be sent elsewhere."""
        fewer = {what: count for what, _, count in known}
        left = ((what, count - fewer.get(what, 0)) for what, count in self._count.items())
        return tuple((what, self._first[what], count) for what, count in left if count > 0)

    def sentences(self) -> list[str]:
        """Return one sentence per kind."""
        return [
            f"{count:,} {what} (first: {self._first[what]})." for what, count in self._count.items()
        ]


@dataclass(frozen=True, slots=True, eq=False)
class LayoutSource:
    """A `PackSource` with random access, made of the facts of a layout and how to read a sample.

    Samples may be read from several threads.
    """

    kind: str  # as `open_dataset` spells it
    title: str  # how the user named the data
    columns: tuple[Column, ...]
    read: Callable[[int], PackItem]  # the sample at a position
    length: int
    classes: tuple[str, ...] | None = None
    box_classes: tuple[str, ...] | None = None
    box_class_ids: tuple[int, ...] | None = None  # of each class of boxes; None: counted from 1
    details: str = ""  # goes on where `describe()` has given the counts
    findings: Findings = field(default_factory=Findings)
    known: tuple[Finding, ...] = ()  # findings of opening it
    # The samples from a position on, where that is faster than one by one.
    stream: Callable[[int], Iterator[PackItem]] | None = None
    read_unmasked: Callable[[int], PackItem] | None = None  # as `read`, without making masks
    files: tuple[str, ...] = ()  # those that hold many samples each
    sequential: str = ""  # why samples cannot be read in any order; empty if they can

    def __post_init__(self) -> None:
        for name in (*(self.classes or ()), *(self.box_classes or ())):
            try:
                name.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError as error:
                raise SourceError(
                    f"{self.title}: the class {name[:80]!r} has a name that cannot be written "
                    f"({error.reason}). Rename it."
                ) from error

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the samples from position `start` on; `findings` counts from there."""
        self.findings.clear()
        return self._items(start)

    def _items(self, start: int) -> Iterator[PackItem]:
        with explaining_parsers(self.title):
            for what, where, count in self.known:
                self.findings.add(what, where, count)
            if self.stream is not None:
                yield from self.stream(start)
                return
            for index in range(start, self.length):
                yield self._one(self.read, index)

    def at(self, index: int, *, masks: bool = True) -> PackItem:
        """Return the sample at a position; without `masks`, its column of masks may be missing."""
        if not 0 <= index < self.length:
            raise IndexError(f"{self.title}: sample {index:,} of {self.length:,}")
        read = self.read if masks or self.read_unmasked is None else self.read_unmasked
        with explaining_parsers(self.title):
            return self._one(read, index)

    def _one(self, read: Callable[[int], PackItem], index: int) -> PackItem:
        try:
            return read(index)
        except StopIteration:  # a file that is shorter than it was when it was opened
            raise SourceError(
                f"{self.title}: sample {index:,} is no longer there. Open it again."
            ) from None

    def describe(self) -> str:
        """Return one line: what, how many images, which classes."""
        parts = [f"{self.length:,} image{'' if self.length == 1 else 's'}"]
        for names, what in ((self.classes, "class"), (self.box_classes, "box class")):
            if names is not None:
                parts.append(f"{len(names):,} {what}{'' if len(names) == 1 else 'es'}")
        if self.details:
            parts.append(self.details)
        return f"{self.title} ({self.kind}): {', '.join(parts)}"


@contextmanager
def explaining_parsers(title: str) -> Iterator[None]:
    """Turn whatever a library raises on a hostile file into a SourceError that names the file.

    An error that our own code raises stays as it is: it is a fault to be reported.
    """
    try:
        yield
    except PenstockError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        if not _is_of_a_parser(error):
            if hasattr(error, "add_note"):  # from Python 3.11 on
                error.add_note(f"penstock: {title} met a fault in penstock itself. {REPORT}")
            raise
        raise_if_refused(error, title)
        raise SourceError(
            f"{title}: it cannot be read ({type(error).__name__}: {text}). It is damaged, or of a "
            "form that is not known. Get it again, or convert it."
        ) from error


def _is_of_a_parser(error: Exception) -> bool:
    if isinstance(error, (OSError, MemoryError)) or type(error).__module__.split(".")[0] in PARSERS:
        return True
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    module = place.tb_frame.f_globals.get("__name__", "") if place is not None else ""
    return str(module).split(".")[0] in PARSERS


def require(module: str, package: str, where: str) -> Any:
    """Import a library of the `formats` extra, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SourceError(
            f"{where}: reading it needs {package}, which is not installed. "
            "Install it with: pip install 'penstock[formats]'"
        ) from error


@dataclass(slots=True)
class LabelNames:
    """Learns from a first pass over all labels whether they are integers or names, and which.

    Label i is the i-th name in sorted order.
    """

    _names: dict[str, int] = field(default_factory=dict)
    _integers: bool = True

    def add(self, label: int | str) -> None:
        """Take one label into account."""
        text = str(label).strip()
        self._integers = self._integers and _INTEGER.fullmatch(text) is not None
        self._names.setdefault(text, 0)

    def finish(self) -> None:
        """Number the names, now that all are known."""
        self._names = {name: index for index, name in enumerate(sorted(self._names))}

    @property
    def names(self) -> tuple[str, ...] | None:
        """The classes' names, or None if labels are integers."""
        return None if self._integers else tuple(self._names)

    def number(self, label: int | str, where: str) -> int:
        """Return the label as a number."""
        text = str(label).strip()
        if self._integers and _INTEGER.fullmatch(text):
            return int(text)
        if self._integers or text not in self._names:
            raise SourceError(f"{where}: the label {text!r} was not there when reading began.")
        return self._names[text]
