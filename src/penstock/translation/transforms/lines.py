"""What became of each part of a DataLoader, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class How(Enum):
    """What became of a part."""

    NATIVE = "native"
    PYTHON = "Python"
    NOT_NEEDED = "not needed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Line:
    """One part of the DataLoader, and what stands for it."""

    part: str  # "data", "order", "transform" or "batch"
    theirs: str
    how: How
    ours: str = ""
    note: str = ""  # what it costs, what may differ, why it was refused
    microseconds: float | None = None  # per image, of what runs in Python
    near: bool = False  # ours is close to it, and replaces it with strict=False

    def __str__(self) -> str:
        became = f" -> {self.ours}" if self.ours else ""
        cost = (
            "" if self.microseconds is None else f" (about {self.microseconds:,.0f} us per image)"
        )
        note = f": {self.note}" if self.note else ""
        return f"{self.part:9}  {self.how.value:10}  {self.theirs}{became}{cost}{note}"


@dataclass(frozen=True, slots=True)
class Translation:
    """All lines, in the order in which a sample meets the parts."""

    lines: tuple[Line, ...]
    way: str = "read"  # "read", "deferred", "mixed" (deferred, with pixels needed at once), "none"
    not_read: tuple[str, ...] = ()  # why its code was not read instead, which is faster

    @property
    def refusals(self) -> tuple[Line, ...]:
        """What has no equivalent; a loader exists only if there is none."""
        return tuple(line for line in self.lines if line.how == How.REFUSED)

    @property
    def python_steps(self) -> tuple[Line, ...]:
        """What still runs in Python, one image at a time."""
        return tuple(line for line in self.lines if line.how == How.PYTHON)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why there is no loader."""
        return tuple(f"{line.theirs}: {line.note}" for line in self.refusals)

    def __str__(self) -> str:
        listed = [str(line) for line in self.lines]
        if self.not_read and self.way != "none":
            listed.append("It would be faster if the Dataset's code could be read. To change:")
            listed += [f"- {reason}" for reason in self.not_read]
        return "\n".join(listed)


class Log:
    """Collects lines while the parts are read; `of` gives the same log for another part."""

    def __init__(self, part: str = "transform", lines: list[Line] | None = None) -> None:
        self._part = part
        self._lines = [] if lines is None else lines

    def of(self, part: str) -> Log:
        """Return a log whose lines are about another part, and come into this one."""
        return Log(part, self._lines)

    def native(self, theirs: str, ours: str, note: str = "") -> None:
        """Note what the core or the loader does."""
        self._lines.append(Line(self._part, theirs, How.NATIVE, ours, note))

    def python(
        self,
        theirs: str,
        note: str,
        microseconds: float | None,
        ours: str = "",
        *,
        near: bool = False,
    ) -> None:
        """Note what runs in Python as it is."""
        line = Line(self._part, theirs, How.PYTHON, ours, note, microseconds, near)
        self._lines.append(line)

    def not_needed(self, theirs: str, note: str) -> None:
        """Note a part that our loader does not need."""
        self._lines.append(Line(self._part, theirs, How.NOT_NEEDED, "", note))

    def refuse(self, theirs: str, why: str) -> None:
        """Note what has no equivalent."""
        self._lines.append(Line(self._part, theirs, How.REFUSED, "", why))

    @property
    def has_refusals(self) -> bool:
        """Whether anything was refused so far."""
        return any(line.how == How.REFUSED for line in self._lines)

    def translation(self) -> Translation:
        """Return what was collected."""
        return Translation(tuple(self._lines), "none" if self.has_refusals else "read")
