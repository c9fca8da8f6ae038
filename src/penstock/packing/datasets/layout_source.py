"""What every reader of a layout returns: samples in order, and what was odd about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from penstock.packing.items import Column, PackItem

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


@dataclass(frozen=True, slots=True, eq=False)
class LayoutSource:
    """A `PackSource` made of the facts of a layout and a function that reads it."""

    kind: str  # as `open_dataset` spells it
    title: str  # how the user named the data
    columns: tuple[Column, ...]
    read: Callable[[int], Iterator[PackItem]]  # the samples from a position on
    length: int | None = None
    classes: tuple[str, ...] | None = None
    box_classes: tuple[str, ...] | None = None
    box_class_ids: tuple[int, ...] | None = None  # of each; None: counted from 1
    details: str = ""  # goes on where `describe()` has given the counts
    findings: Findings = field(default_factory=Findings)

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the samples from position `start` on; `findings` counts from there."""
        self.findings.clear()
        return self.read(start)

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
