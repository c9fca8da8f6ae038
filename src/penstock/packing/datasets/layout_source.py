"""What every reader of a layout returns: samples in order, and what was odd about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from penstock.errors import PenstockError, SourceError
from penstock.packing.items import Column, PackItem
from penstock.resources import raise_if_refused

# Whose exceptions are about the file that is read.
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


@dataclass(slots=True)
class Findings:
    """Counts what is odd but was kept as it is, with the first place of each kind."""

    _count: dict[str, int] = field(default_factory=dict)
    _first: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, where: str, count: int = 1) -> None:
        """Count one more of a kind; `what` reads well after a number: "boxes reach outside ..."."""
        self._count[what] = self._count.get(what, 0) + count
        self._first.setdefault(what, where)

    def count(self, what: str) -> int:
        """Return how often a kind was seen."""
        return self._count.get(what, 0)

    def clear(self) -> None:
        """Forget everything, because the samples are about to be read again."""
        self._count.clear()
        self._first.clear()

    def sentences(self) -> list[str]:
        """Return one sentence a kind."""
        return [
            f"{count:,} {what} (first: {self._first[what]})." for what, count in self._count.items()
        ]


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


@dataclass(frozen=True, slots=True, eq=False)
class LayoutSource:
    """A `PackSource` made of the facts of a layout and a function that reads it."""

    kind: str  # as `open_dataset` spells it
    title: str  # how the user named the data
    columns: tuple[Column, ...]
    # The samples from a position on, without reading those before it unless `sequential` says why.
    read: Callable[[int], Iterator[PackItem]]
    length: int | None = None
    classes: tuple[str, ...] | None = None
    box_classes: tuple[str, ...] | None = None
    box_class_ids: tuple[int, ...] | None = None  # of each; None: counted from 1
    details: str = ""  # goes on where `describe()` has given the counts
    findings: Findings = field(default_factory=Findings)
    read_unmasked: Callable[[int], Iterator[PackItem]] | None = None  # without making masks
    files: tuple[str, ...] = ()  # those that hold many samples each
    sequential: str = ""

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
        return self._explained(start)

    def _explained(self, start: int) -> Iterator[PackItem]:
        with explaining_parsers(self.title):
            yield from self.read(start)

    def at(self, index: int, *, masks: bool) -> PackItem:
        """Return one sample; without `masks`, its column of masks may be missing."""
        read = self.read if masks or self.read_unmasked is None else self.read_unmasked
        with explaining_parsers(self.title):
            found = next(read(index), None)
        if found is None:
            raise SourceError(f"{self.title}: sample {index:,} is no longer there. Open it again.")
        return found

    def describe(self) -> str:
        """Return one line: what, how many images, which classes."""
        parts = []
        if self.length is not None:
            parts.append(f"{self.length:,} image{'' if self.length == 1 else 's'}")
        for names, what in ((self.classes, "class"), (self.box_classes, "box class")):
            if names is not None:
                parts.append(f"{len(names):,} {what}{'' if len(names) == 1 else 'es'}")
        if self.details:
            parts.append(self.details)
        return f"{self.title} ({self.kind}): {', '.join(parts) or 'number of images unknown'}"
