"""Labels of samples that come one by one: integers, or names of classes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from penstock.errors import SourceError

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


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
