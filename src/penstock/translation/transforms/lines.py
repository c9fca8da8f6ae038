"""What became of each part of a DataLoader, line by line."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    microseconds: float | None = None  # an image, of what runs as Python
    near: bool = False  # ours comes near it, and stands in its place with strict=False

    def __str__(self) -> str:
        became = f" -> {self.ours}" if self.ours else ""
        cost = "" if self.microseconds is None else f" (about {self.microseconds:,.0f} us an image)"
        note = f": {self.note}" if self.note else ""
        return f"{self.part:9}  {self.how.value:10}  {self.theirs}{became}{cost}{note}"


@dataclass(frozen=True, slots=True)
class Translation:
    """All lines, in the order in which a sample meets the parts."""

    lines: tuple[Line, ...]

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
        return "\n".join(str(line) for line in self.lines)


@dataclass(slots=True)
class Log:
    """Collects lines while the parts are read."""

    lines: list[Line] = field(default_factory=list)

    def native(self, part: str, theirs: str, ours: str, note: str = "") -> None:
        """Note a part that the core or the loader does."""
        self.lines.append(Line(part, theirs, How.NATIVE, ours, note))

    def python(
        self,
        part: str,
        theirs: str,
        note: str,
        microseconds: float | None,
        ours: str = "",
        *,
        near: bool = False,
    ) -> None:
        """Note a part that runs as it is."""
        self.lines.append(Line(part, theirs, How.PYTHON, ours, note, microseconds, near))

    def not_needed(self, part: str, theirs: str, note: str) -> None:
        """Note a part that has nothing to do here."""
        self.lines.append(Line(part, theirs, How.NOT_NEEDED, "", note))

    def refuse(self, part: str, theirs: str, why: str) -> None:
        """Note a part without an equivalent."""
        self.lines.append(Line(part, theirs, How.REFUSED, "", why))

    def translation(self) -> Translation:
        """Return what was collected."""
        return Translation(tuple(self.lines))
