"""Says what runs and about how much longer it will take, line by line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


class Progress:
    """Prints lines that begin with the time so far and an estimate of what is left.

    `expected_s` says how long each case is thought to take. What has taken longer so far than was
    thought is assumed to do so in future, too.
    """

    def __init__(
        self,
        expected_s: Mapping[str, float],
        print_line: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._expected, self._print, self._clock = dict(expected_s), print_line, clock
        self._began = clock()
        self._finished_s = 0.0  # of what was expected, by cases that are over
        self._done_s = 0.0  # of what was expected of the case that runs
        self._case = ""

    def begin(self, case: str) -> None:
        """Go on to another case: whatever was expected of the last one is over."""
        self._finished_s += self._expected.get(self._case, 0.0)
        self._case, self._done_s = case, 0.0
        names = list(self._expected)
        number = names.index(case) + 1 if case in names else 0
        self.say(f"{case}: case {number} of {len(names)}")

    def advance(self, expected_s: float) -> None:
        """Note that something is over which was thought to take so long."""
        self._done_s = min(self._done_s + expected_s, self._expected.get(self._case, 0.0))

    def say(self, text: str) -> None:
        """Print a line."""
        self._print(f"[{in_minutes(self._clock() - self._began)}, {self._left()}] {text}")

    def _left(self) -> str:
        took, done = self._clock() - self._began, self._finished_s + self._done_s
        left = sum(self._expected.values()) - done
        if took > 60 and done > 0:
            left *= took / done
        return f"about {left / 60:.0f} min left"


def in_minutes(seconds: float) -> str:
    """Return minutes and seconds, as 3:07."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
