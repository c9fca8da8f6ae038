"""Runs the peers in alternating rounds, each in a process and an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from benchmarks.dataset import CHECKOUT
from benchmarks.memory import Memory, memory_of_tree, tree_of, watch_peak
from benchmarks.peer_process import Settings
from benchmarks.peer_work import Turn
from benchmarks.peers import LOAD, WRITE

LONGEST_ANSWER_S = 300.0  # beyond what was asked for; building a loader may mean compiling it
LONGEST_END_S = 20.0
WARM_UP_S = 1.5  # up to twice as long; building a loader comes on top
START_S, BETWEEN_TURNS_S = 4.0, 0.4  # about, for the estimate of what is left
MOST_OF_A_REASON = 300  # characters

Say = Callable[[str], None]
PythonOf = Callable[[str], str]  # the interpreter that runs a peer; may raise PeerMissingError


class PeerError(RuntimeError):
    """A peer's process ended before it answered, or took too long."""


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
    peak: Memory = field(default_factory=Memory)  # while warming up
    promised_bytes: int = 0  # of batches that its settings keep in memory
    first_batch_s: float = 0.0
    images_per_s: list[float] = field(default_factory=list)  # one a round, warm-up left out
    layers: int = 0  # of RandAugment
    work: str = LOAD
    bytes_per_image: float | None = None  # of what it reads, on the disk
    left_in_memory: float = 0.0  # of files that should have been dropped: the largest share
    pixel_error: tuple[int, float] | None = None  # largest and mean, in levels
    pixel_note: str = ""  # why there is no error


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured, and who could not be."""

    measured: list[Measured]
    left_out: dict[str, str]  # why, for each such peer


class PeerProcess:
    """A peer's process, pinned to its cores, and paused when it is not its turn.

    So nobody prepares batches in the turns of others. What it prints goes to a file, for its
    reasons.
    """

    def __init__(
        self, settings: Settings, python: str, folder: Path, variables: dict[str, str]
    ) -> None:
        self.settings = settings
        self._folder = Path(tempfile.mkdtemp(prefix=f"{settings.peer}-", dir=folder))
        told = self._folder / "settings.json"
        told.write_text(settings.to_json(), encoding="utf-8")
        self._log = self._folder / "log.txt"
        own = self._folder / "tmp"  # some libraries remove what they find in TMPDIR
        own.mkdir()
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [python, "-m", "benchmarks.peer_process", str(told)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=CHECKOUT,
                env={**_environment(), "TMPDIR": str(own), **variables},
            )
        try:
            about = self._answer(LONGEST_ANSWER_S)
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
            layers=settings.case.augment_layers,
            work=settings.work,
        )

    def warm_up(self, least_s: float) -> None:
        """Build the loader, and run a turn that is watched for memory, not for speed.

        Not at once: who looks at a process's memory holds it up.
        """
        self.measured.first_batch_s = self.run_turn(0.0).first_batch_s
        with watch_peak(self._process.pid) as peak:
            # Pages of a mapped file are slow when they are read for the first time.
            self.run_turn(least_s, least_images=3 * len(self.settings.case.paths))
        self.measured.peak = peak[0]

    def run_round(self, least_s: float) -> None:
        """Run a timed turn of at least so long."""
        result = self.run_turn(least_s)
        self.measured.images_per_s.append(result.images / result.seconds)
        left = max(self.measured.left_in_memory, result.left_in_memory)
        self.measured.left_in_memory = left

    def run_turn(self, least_s: float, least_images: int = 0) -> Turn:
        """Let it work for at least so long, and return what that took."""
        request = {"seconds": least_s, "images": least_images}
        return Turn(**self._ask(request, LONGEST_ANSWER_S + 2 * least_s))

    def write_pixels(self, case: Case, target: Path) -> None:
        """Have the images of another case written to a file."""
        self._ask({"pixels": str(target), "case": asdict(case)}, LONGEST_ANSWER_S)

    def pause(self) -> None:
        """Stop it, with all that it has started, until it is asked for something."""
        self._signal(signal.SIGSTOP)

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:  # it does not lead a group of its own yet
                self._process.send_signal(number)

    def close(self) -> None:
        """End the process by ending its input; if it does not end, it is killed."""
        self._signal(signal.SIGCONT)
        try:
            if self._process.stdin:
                self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(timeout=LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def _kill(self) -> None:
        """Kill the process and those that it has started."""
        for pid in tree_of(self._process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _ask(self, request: dict[str, Any], longest_s: float) -> dict[str, Any]:
        self._signal(signal.SIGCONT)
        try:
            if self._process.stdin:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, which `_answer` says
        return self._answer(longest_s)

    def _answer(self, longest_s: float) -> dict[str, Any]:
        too_late = threading.Event()

        def give_up() -> None:
            too_late.set()
            self._kill()

        timer = threading.Timer(longest_s, give_up)
        timer.start()
        try:
            line = self._process.stdout.readline() if self._process.stdout else ""
        finally:
            timer.cancel()
        if too_late.is_set():
            raise PeerError(f"{self.settings.peer}: did not answer within {longest_s:,.0f} s.")
        if not line:
            status = self._process.wait()
            raise PeerError(
                f"{self.settings.peer}: its process ended with status {status}: {self._reason()}"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _reason(self) -> str:
        """Return the last line that the process printed, which of an exception is its message."""
        text = self._log.read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return (lines[-1] if lines else "it printed nothing")[:MOST_OF_A_REASON]


def _environment() -> dict[str, str]:
    """Return this process's environment, in which modules are kept compiled.

    What pip has installed is compiled already; a checkout is when it is imported, unless forbidden.
    """
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def usable_cpus() -> list[int]:
    """Return the numbers of the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


@dataclass(slots=True)
class Bench:
    """Where and with what peers are run; keeps what they have written for the next case."""

    folder: Path  # temporary, of this run
    python_of: PythonOf
    variables: dict[str, dict[str, str]]  # of the processes of peers
    formats: dict[str, str | None]  # that peers write first
    say: Say
    held: dict[str, Callable[[int], int]] = field(default_factory=dict)  # batches, by cores
    advance: Callable[[float], None] = lambda _: None  # told what took how long, as expected
    written: dict[tuple[str, tuple[str, ...]], Path] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # peers that cannot be had, and why

    def start(self, settings: Settings) -> PeerProcess:
        """Start the process of a peer, when its images are there in its format."""
        if settings.peer in self.missing:
            raise PeerMissingError(self.missing[settings.peer])
        try:
            python = self.python_of(settings.peer)
            case = self._with_format(settings, python)
            if case.cold:
                case = self._with_own_files(case, settings.peer)
            told = replace(settings, case=case)
            variables = self.variables.get(settings.peer, {})
            process = PeerProcess(told, python, self.folder, variables)
        except PeerMissingError as error:
            self.missing[settings.peer] = str(error)
            raise
        process.measured.bytes_per_image = bytes_per_image(case)
        if settings.peer in self.held and settings.work == LOAD:
            held = self.held[settings.peer](len(settings.cpus))
            process.measured.promised_bytes = held * case.batch_bytes
        return process

    def _with_own_files(self, case: Case, peer: str) -> Case:
        """Return a case with copies of what a peer reads: what others have mapped stays in memory.

        Peers share formats as well as images.
        """
        own = Path(tempfile.mkdtemp(prefix=f"{peer}-cold-", dir=self.folder))
        if case.written:
            return replace(case, written=str(shutil.copytree(case.written, own / "written")))
        copies = {
            path: str(own / f"{number}{Path(path).suffix}")
            for number, path in enumerate(dict.fromkeys(case.paths))
        }
        for path, copy in copies.items():
            shutil.copyfile(path, copy)
        return replace(case, paths=tuple(copies[path] for path in case.paths))

    def with_format(self, peer: str, case: Case) -> Case:
        """Return a case with the folder of what a peer has written of its images."""
        return self._with_format(Settings(peer, case, (usable_cpus()[0],)), self.python_of(peer))

    def _with_format(self, settings: Settings, python: str) -> Case:
        format = self.formats.get(settings.peer)
        if format is None or settings.work == WRITE:
            return settings.case
        key = (format, settings.case.paths)
        if key not in self.written:
            self.say(f"writing {len(settings.case.paths):,} images as {format}")
            target = Path(tempfile.mkdtemp(prefix=f"{format}-", dir=self.folder))
            case = replace(settings.case, written=str(target))
            variables = self.variables.get(settings.peer, {})
            write = Settings(settings.peer, case, settings.cpus, WRITE)
            process = PeerProcess(write, python, self.folder, variables)
            try:
                process.run_turn(0.0)
            finally:
                process.close()
            self.written[key] = target
        return replace(settings.case, written=str(self.written[key]))


def bytes_per_image(case: Case) -> float:
    """Return how much room an image takes on the disk, in the form that is read."""
    if case.written:
        sizes = [path.stat().st_size for path in Path(case.written).rglob("*") if path.is_file()]
    else:
        sizes = [os.path.getsize(path) for path in case.paths]
    return sum(sizes) / len(case.paths)


def expected_s(processes: int, rounds: int, turn_s: float) -> float:
    """Return about how long `run_rounds` will take."""
    return processes * (START_S + 2 * WARM_UP_S + rounds * (turn_s + BETWEEN_TURNS_S))


def run_rounds(
    bench: Bench,
    settings: Sequence[Settings],
    rounds: int,
    turn_s: float,
    finish: Callable[[PeerProcess], None] | None = None,
) -> Outcome:
    """Start every peer, warm each up, then let them take turns, round after round.

    Those on one core take turns with each other, and then those on two: all at once would take
    more memory than many machines have. A peer that cannot be installed, that fails or that hangs
    is left out, with its reason. `finish` is called for each process after the last round.

    Taking turns spreads whatever else the machine does over all of them.
    """
    outcome = Outcome([], {})
    for _, group in groupby(settings, key=lambda one: len(one.cpus)):
        with ExitStack() as stack:
            processes: list[PeerProcess] = []
            for wanted in group:
                if wanted.peer in outcome.left_out:
                    continue
                with _named(wanted, outcome, bench.say):
                    bench.say(f"starting {_described(wanted)}")
                    process = bench.start(wanted)
                    stack.callback(process.close)
                    process.warm_up(min(turn_s, WARM_UP_S))
                    process.pause()
                    processes.append(process)
                    bench.advance(expected_s(1, 0, 0))
            for number in range(1, rounds + 1):
                cores = len(processes[0].settings.cpus) if processes else 0
                bench.say(f"round {number} of {rounds} on {cores} core(s)")
                for process in list(processes):
                    with _named(process.settings, outcome, bench.say):
                        process.run_round(turn_s)
                        process.pause()
                        bench.advance(turn_s + BETWEEN_TURNS_S)
                        continue
                    processes.remove(process)
            if finish:
                for process in processes:
                    finish(process)
            outcome.measured.extend(process.measured for process in processes)
    return outcome


@contextmanager
def _named(settings: Settings, outcome: Outcome, say: Say) -> Iterator[None]:
    """Note who fails in the block, and why, and go on."""
    try:
        yield
    except PeerError as error:
        reason = str(error)
        if not isinstance(error, PeerMissingError):
            reason = f"{_described(settings)}: {reason.removeprefix(settings.peer + ': ')}"
        outcome.left_out[settings.peer] = reason
        say(f"left out: {reason}")


def _described(settings: Settings) -> str:
    layers = settings.case.augment_layers
    with_layers = f" with {layers} layer(s)" if layers else ""
    return f"{settings.peer} on {len(settings.cpus)} core(s){with_layers}"
