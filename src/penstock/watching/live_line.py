"""One line on stderr that says how a watched loop is doing."""

from __future__ import annotations

import sys
from time import perf_counter

from penstock.watching.step_times import StepTimes

REDRAW_EVERY_S = 0.25
RECENT_STEPS = 100


class LiveLine:
    """Rewrites its line a few times a second; where stderr is no terminal, once an epoch."""

    def __init__(self, times: StepTimes) -> None:
        self._times = times
        self._redraw_at_s = 0.0
        self._width = 0

    def step(self) -> None:
        """Redraw, if the last time is long enough ago."""
        now_s = perf_counter()
        if now_s >= self._redraw_at_s and sys.stderr.isatty():
            self._redraw_at_s = now_s + REDRAW_EVERY_S
            text = self._text()
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)

    def end(self) -> None:
        """Leave the last state standing, on a line of its own."""
        begin = "\r" if self._width else ""
        sys.stderr.write(f"{begin}{self._text().ljust(self._width)}\n")
        sys.stderr.flush()
        self._width = 0

    def leave(self) -> None:
        """Go to the next line, if the loop was left in the middle of an epoch."""
        if self._width:
            self.end()

    def _text(self) -> str:
        waited_s, computed_s, images = self._times.recent(RECENT_STEPS)
        total_s = waited_s + computed_s
        share = waited_s / total_s if total_s else 0.0
        rate = f", {images / total_s:,.0f} images/s" if images and total_s else ""
        return f"step {self._times.steps:,}: waited {share:.0%}{rate}"
