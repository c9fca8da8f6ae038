"""A progress bar for work that may take long."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from penstock.printable import in_encoding, printable, safe_console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from typing_extensions import Self

QUIET_FOR_S = 1.0


class ProgressBar:
    """Counts finished items on stderr, and stays silent while the work is short.

    `show=None` draws only on a terminal, `True` always, `False` never.
    With `total=None` the bar shows the count and the rate alone; `rate=False` leaves that out.
    """

    def __init__(
        self,
        title: str,
        *,
        total: int | None = None,
        unit: str = "items",
        show: bool | None = None,
        quiet_for_s: float | None = None,
        rate: bool = True,
    ) -> None:
        self._title = printable(title)
        self._total = total
        self._unit = unit
        self._rate = rate
        self._wanted = sys.stderr.isatty() if show is None else show
        self._quiet_until_s = time.monotonic() + (
            QUIET_FOR_S if quiet_for_s is None else quiet_for_s
        )
        self._done = 0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def done(self) -> int:
        """Items counted so far."""
        return self._done

    def advance(
        self, items: int = 1, *, title: str | None = None, total: int | None = None
    ) -> None:
        """Count `items` more as done; `title` and `total`, if given, replace those before."""
        self._done += items
        self._total = self._total if total is None else total
        self._title = self._title if title is None else printable(title)
        if self._wanted and (self._bar is not None or time.monotonic() >= self._quiet_until_s):
            self._draw()

    def begin(self, title: str, number: int, total: int) -> None:
        """Show that item `number` of `total` has begun, and is not done yet."""
        self.advance(number - 1 - self._done, title=title, total=total)

    def _draw(self) -> None:
        if self._bar is None or self._task is None:
            self._bar = _rich_progress(self._unit, counted=self._total is not None, rate=self._rate)
            self._task = self._bar.add_task(self._title, total=self._total)
            try:
                self._bar.start()
            except RuntimeError:  # it lacks a thread to redraw itself: the work goes on unseen
                self._give_up()
                return
        self._bar.update(
            self._task, completed=self._done, description=self._title, total=self._total
        )

    def _give_up(self) -> None:
        bar, self._bar, self._wanted = self._bar, None, False
        if bar is not None:
            with contextlib.suppress(RuntimeError):
                bar.stop()


@contextlib.contextmanager
def shown_measurements() -> Iterator[Callable[[str, int, int], None]]:
    """Show what is being measured: a bar on a terminal, a line for each elsewhere."""
    with ProgressBar("measuring", total=1, quiet_for_s=0, rate=False) as bar:

        def tell(what: str, number: int, planned: int) -> None:
            if sys.stderr.isatty():
                bar.begin(f"measuring {what}", number, planned)
            else:
                told = printable(f"measuring {number} of {planned}: {what}")
                sys.stderr.write(in_encoding(told, sys.stderr.encoding) + "\n")
                sys.stderr.flush()

        yield tell


def _rich_progress(unit: str, *, counted: bool, rate: bool) -> Progress:
    # Late, so that work which never draws does not pay for the import.
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Items per second, once there is something to divide."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f} {unit}/s")

    columns: list[ProgressColumn] = [TextColumn("{task.description}", markup=False)]
    if counted:
        columns += [BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}")]
    else:
        columns += [TextColumn("{task.completed:,.0f} " + unit)]
    columns += [Rate()] if rate else []
    columns += [TimeRemainingColumn()] if counted else []
    console = safe_console(stderr=True)
    # On a terminal the bar gives way to the result; a log keeps its last state.
    return Progress(*columns, console=console, transient=console.is_terminal)
