"""Sources that end the process which reads them, in a module that workers can import."""

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

from packing.samples import ListSource


@dataclass
class DyingSource(ListSource):
    """Kills its process at some samples; at each of them once, if `marks` names a folder."""

    dies_at: tuple[int, ...] = ()
    marks: Path | None = None
    leader: int = field(default_factory=os.getpid)  # who is spared

    def items(self, start=0):
        for number, item in enumerate(self.listed[start:], start):
            if number in self.dies_at and os.getpid() != self.leader:
                self._die(number)
            yield item

    def _die(self, number):
        if self.marks is not None:
            mark = self.marks / str(number)
            if mark.exists():
                return
            mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class OtherSource(ListSource):
    """Has other classes in other processes."""

    leader: int = field(default_factory=os.getpid)

    def __post_init__(self):
        if os.getpid() != self.leader:
            self.classes = ("others",)

    def __reduce__(self):
        return OtherSource, (self.listed, self.columns, self.classes, None, True, [], self.leader)
