"""What runs the parts of batches: the base of the native runner and of the one by a library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from penstock.data.beside import Beside
from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.batch import PART_SIZE, Part
from penstock.loading.failures import Failures
from penstock.loading.fetch import Positions
from penstock.loading.options import RunOptions
from penstock.loading.python_calls import PythonCalls
from penstock.loading.reuse import Reusing, draw_keys
from penstock.loading.witness import Witness
from penstock.planner.plan import Plan, Segment
from penstock.planner.rules.rule import Rule
from penstock.resources import Pool


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What a runner needs: the source, what is delivered beside its images, and the plan.

    `rules` rewrite what the plan draws; only the native runner takes any. `reusing` has the keys of
    the plan's first part, and what is kept of it, if that is used again. A `witness` is told
    whenever something is drawn.
    """

    beside: Beside
    plan: Plan
    options: RunOptions
    failures: Failures
    rules: tuple[Rule, ...] = ()
    view_rules: tuple[tuple[Rule, ...], ...] = ()  # of each view; `rules` are of what they share
    reusing: Reusing | None = None
    witness: Witness | None = None


class PartRunner(ABC):
    """Reads and transforms the samples of a part; `_pool` is for what runs in Python.

    `most_under_way` says how many parts it runs at the same time. Each has a thread that takes it
    through its stages, asleep whenever somebody else is at work on it.
    """

    most_under_way: ClassVar[int] = 4

    def __init__(self, setup: RunSetup, pool_name: str) -> None:
        self._pool = Pool(setup.options.threads, pool_name)
        self._closed = False
        self._source = setup.beside.source
        self._targets = setup.beside.targets
        self._masks = setup.beside.masks
        self._plan = setup.plan
        self._pixel_limit = setup.options.pixel_limit
        is_cut = any(segment.kept for segment in setup.plan.segments)
        self._reusing = setup.reusing if is_cut else None  # a replica's plan may have no first part
        self._python = PythonCalls(self._source, setup.plan, self._reusing)
        self._witness = setup.witness
        self._failures = setup.failures
        self._ledger = setup.failures.ledger

    def run(self, part: Part) -> None:
        """Fill the part's slots in its batch; raises the error that the user should see."""
        left: Part | None = part
        while left is not None:
            left = self._run_once(left)

    @property
    def part_size(self) -> int:
        """How many samples a part has at most."""
        return PART_SIZE

    @property
    def parts_ahead(self) -> int:
        """How many parts should be under way or ready, if `prefetch` alone would be too few."""
        return 0

    def close(self) -> None:
        """Stop threads, and wait until they have; parts under way end with an error."""
        self.abandon()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def end(self) -> None:  # noqa: B027 (most have nothing to end)
        """Release what parts needed, now that none is under way."""

    def holds_this_thread(self) -> bool:
        """Whether the caller runs on one of its threads."""
        return self._pool.holds_this_thread()

    def abandon(self) -> None:
        """Let parts under way end early. Takes no lock, for the garbage collector may call it."""
        self._closed = True

    @abstractmethod
    def _run_once(self, part: Part) -> Part | None:
        """Fill what can be filled; returns what must be run again with other samples."""

    def _draw_keys(
        self, segment: Segment, part: Part, positions: Positions
    ) -> tuple[int, int | Ints, Ints]:
        """Seed, epoch and keys that a segment draws with for these samples of a part."""
        return part.seed, *draw_keys(self._reusing, segment, part.epoch, part.keys[positions])

    def _check_open(self) -> None:
        if self._closed:
            raise LoaderError("The loader was closed.")
