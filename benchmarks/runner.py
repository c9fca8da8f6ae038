"""Runs the peers in alternating rounds, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.dataset import CHECKOUT
from benchmarks.memory import Memory, memory_of_tree, watch_peak
from benchmarks.peer_process import Passes, Settings


class PeerError(RuntimeError):
    """A peer's process ended before it answered."""


class PeerMissingError(PeerError):
    """A peer's libraries are not installed."""


@dataclass(slots=True)
class Measured:
    """What was measured of one peer on a number of cores."""

    peer: str
    cores: int
    label: str
    versions: dict[str, str]
    idle: Memory  # libraries imported, nothing built
    peak: Memory = field(default_factory=Memory)  # during the warm-up pass
    first_batch_s: float = 0.0
    images_per_s: list[float] = field(default_factory=list)  # one a round, warm-up left out
    layers: int = 0  # of RandAugment


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured, and who could not be."""

    measured: list[Measured]
    left_out: dict[str, str]  # why, for each such peer


class PeerProcess:
    """A running peer, pinned to its cores."""

    def __init__(self, settings: Settings, environment: dict[str, str]) -> None:
        self.settings = settings
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peer_process", json.dumps(asdict(settings))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=CHECKOUT,
            env={**os.environ, **environment},
        )
        try:
            about = self._answer()
            if "missing" in about:
                raise PeerMissingError(f"{settings.peer}: {about['missing']}.")
        except PeerError:
            self.close()
            raise
        self.measured = Measured(
            peer=settings.peer,
            cores=len(settings.cpus),
            label=about["label"],
            versions=about["versions"],
            idle=memory_of_tree(self._process.pid),
            layers=settings.layers,
        )

    def warm_up(self) -> None:
        """Run the first pass, which builds the loader: watched for memory, not for speed."""
        with watch_peak(self._process.pid) as peak:
            self.measured.first_batch_s = self._run_passes(0.0).first_batch_s
        self.measured.peak = peak[0]

    def run_round(self, least_s: float) -> None:
        """Run timed passes for at least so long."""
        result = self._run_passes(least_s)
        self.measured.images_per_s.append(result.images / result.seconds)

    def close(self) -> None:
        """End the process by ending its input."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def _run_passes(self, least_s: float) -> Passes:
        if self._process.stdin:
            self._process.stdin.write(f"{least_s}\n")
            self._process.stdin.flush()
        return Passes(**self._answer())

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise PeerError(
                f"{self.settings.peer}: its process ended with status {self._process.wait()} "
                "before it answered; its own message is above. Leave it out with --peers."
            )
        answer: dict[str, Any] = json.loads(line)
        return answer


def usable_cpus() -> list[int]:
    """Return the numbers of the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def run_rounds(
    settings: Sequence[Settings],
    rounds: int,
    round_s: float,
    environments: dict[str, dict[str, str]],
    say: Callable[[str], None],
) -> Outcome:
    """Start every peer, warm each up, then let them take turns, round after round.

    A peer whose libraries are not installed is left out.

    Taking turns spreads whatever else the machine does over all of them. A turn is as many passes
    as fill `round_s`: the fastest would else be measured in a fifth of a second.
    """
    with ExitStack() as stack:
        processes = []
        left_out: dict[str, str] = {}
        for wanted in settings:
            if wanted.peer in left_out:
                continue
            layers = f" with {wanted.layers} layer(s)" if wanted.layers else ""
            say(f"starting {wanted.peer} on {len(wanted.cpus)} core(s){layers}")
            try:
                process = PeerProcess(wanted, environments.get(wanted.peer, {}))
            except PeerMissingError as error:
                left_out[wanted.peer] = str(error)
                say(f"left out: {error}")
                continue
            stack.callback(process.close)
            process.warm_up()
            processes.append(process)
        for number in range(1, rounds + 1):
            say(f"round {number} of {rounds}")
            for process in processes:
                process.run_round(round_s)
        return Outcome([process.measured for process in processes], left_out)
