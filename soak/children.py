"""Starts child processes, waits for them, and judges how they ended."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from soak.child import PLANT, lines_of
from soak.data_sets import DataSet
from soak.pipelines import Pipeline

CHECKOUT = Path(__file__).parents[1]
POLL_S = 0.002
REASONABLE_S = 120.0  # a child that takes longer hangs; a busy machine is slow, but not so slow
PROMPT_S = 20.0  # within which a signal must end a process


@dataclass(slots=True)
class Ended:
    """How a child ended, and what it said."""

    code: int  # negative: the signal it died of
    lines: list[dict[str, Any]]
    errors: str
    peak_mb: float
    seconds: float
    hung: bool = False

    @property
    def batches(self) -> list[str]:
        """Checksums of the batches that it delivered."""
        return [line["batch"] for line in self.lines if "batch" in line]

    @property
    def samples(self) -> list[str]:
        """Checksums of the samples that it delivered."""
        return [sample for line in self.lines for sample in line.get("samples", ())]

    @property
    def error(self) -> dict[str, Any] | None:
        """The PenstockError that it ended with."""
        return next((line for line in self.lines if "error" in line), None)

    def said(self, key: str) -> Any:
        """Return the first value told under that name, or None."""
        return next((line[key] for line in self.lines if key in line), None)


@dataclass(slots=True)
class Scene:
    """Where one configuration runs: its random numbers, its folder, and what it found."""

    rng: random.Random
    folder: Path
    data_sets: dict[str, DataSet]
    plant: str | None = None
    patience_s: float = REASONABLE_S
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: bool = False  # the pipeline is one that penstock says it cannot run
    peak_mb: float = 0.0
    children: int = 0

    def fail(self, sentence: str) -> None:
        """Note that something was not as it must be."""
        self.failures.append(sentence)

    def expect(self, truth: object, sentence: str) -> bool:
        """Fail unless it is true."""
        if not truth:
            self.fail(sentence)
        return bool(truth)

    def job_of(self, pipeline: Pipeline, job: str = "batches", **more: Any) -> dict[str, Any]:
        """Return what the child is told to run a pipeline."""
        data_set = self.data_sets[pipeline.data]
        options = dict(pipeline.options)
        if pipeline.form == "folder":
            options = {**data_set.options, **options}
        return {
            "job": job,
            "data": str(data_set.forms[pipeline.form]),
            "transform": pipeline.transform,
            "batch_transform": pipeline.batch_transform,
            "options": options,
            "threads": pipeline.threads,
            "prefetch": pipeline.prefetch,
            "epoch": pipeline.epoch,
            "epochs": pipeline.epochs,
            **more,
        }

    def start(self, job: dict[str, Any], **environment: str) -> Child:
        """Start a child with a job."""
        return Child(self, ["-m", "soak.child", json.dumps(job)], environment)

    def start_pack(self, *arguments: str | Path, **environment: str) -> Child:
        """Start `penstock pack`."""
        words = ["-m", "penstock.cli.main", "pack", *map(str, arguments)]
        return Child(self, words, environment)

    def run(self, job: dict[str, Any], **environment: str) -> Ended:
        """Run a child to its end and judge it: it may only go through, or tell an error of ours."""
        return self.judge(self.start(job, **environment).wait())

    def judge(self, ended: Ended, *, sent: Sequence[int] = ()) -> Ended:
        """Fail for a hang, a signal that was not sent, or an exception that is not ours."""
        if ended.hung:
            self.fail(f"hung: killed after {ended.seconds:.0f} s\n{_tail(ended.errors)}")
        elif ended.code < 0 and -ended.code not in sent:
            name = signal.Signals(-ended.code).name
            self.fail(f"died of {name}\n{_tail(ended.errors)}")
        elif "Traceback (most recent call last)" in ended.errors and not (
            signal.SIGINT in sent and ended.errors.rstrip().endswith("KeyboardInterrupt")
        ):
            self.fail(f"raw exception\n{_tail(ended.errors)}")
        if ended.said("failure"):
            self.fail(ended.said("failure"))
        return ended


class Child:
    """A child process whose output goes to files, so that nobody waits for a reader."""

    def __init__(self, scene: Scene, words: list[str], environment: dict[str, str]) -> None:
        scene.children += 1
        self._scene = scene
        base = scene.folder / f"child-{scene.children}"
        self._out, self._err = base.with_suffix(".out"), base.with_suffix(".err")
        temporary = scene.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        settings = {
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "TMPDIR": str(temporary),
            "PENSTOCK_CACHE": str(scene.folder / "cache"),
            "MALLOC_ARENA_MAX": "2",  # or freed memory stays in as many arenas as there are threads
            **environment,
        }
        settings.pop(PLANT, None)
        if scene.plant is not None:
            settings[PLANT] = scene.plant
        self._began_s = time.monotonic()
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=settings,
                cwd=scene.folder,
            )
        self._status: tuple[int, float] | None = None

    def wait_for_batches(self, count: int) -> None:
        """Wait until that many were told, or the child ended."""
        self.wait_until(lambda: self._out.read_bytes().count(b'{"batch"') >= count)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so, or the child ended."""
        while not condition() and not self._poll() and not self._is_late(self._scene.patience_s):
            time.sleep(POLL_S)

    def sleep(self, seconds: float) -> None:
        """Sleep, but no longer than the child lives."""
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s and not self._poll():
            time.sleep(min(POLL_S, seconds))

    def send(self, number: int) -> None:
        """Send a signal, unless the child has ended."""
        if not self._poll():
            os.kill(self._process.pid, number)

    def wait(self, within_s: float | None = None) -> Ended:
        """Wait for the end; a child that hangs is killed."""
        limit_s = within_s or self._scene.patience_s
        began_s = time.monotonic()
        hung = False
        while not self._poll():
            if time.monotonic() - began_s > limit_s:
                hung = True
                # faulthandler tells where every thread stands.
                os.kill(self._process.pid, signal.SIGABRT)
                self._block()
                break
            time.sleep(POLL_S)
        code, peak_mb = self._status or (0, 0.0)
        self._scene.peak_mb = max(self._scene.peak_mb, peak_mb)
        return Ended(
            code,
            list(lines_of(self._out.read_text(encoding="utf-8", errors="replace")))
            if self._is_ours()
            else [],
            self._err.read_text(encoding="utf-8", errors="replace"),
            peak_mb,
            time.monotonic() - self._began_s,
            hung,
        )

    def _is_ours(self) -> bool:
        return "soak.child" in self._process.args  # type: ignore[operator]  # we gave a list

    def _is_late(self, limit_s: float) -> bool:
        return time.monotonic() - self._began_s > limit_s

    def _poll(self) -> bool:
        if self._status is None:
            self._reap(os.WNOHANG)
        return self._status is not None

    def _block(self) -> None:
        if self._status is None:
            self._reap(0)

    def _reap(self, options: int) -> None:
        # wait4 and not Popen.wait: it tells this one child's memory.
        pid, status, used = os.wait4(self._process.pid, options)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            self._process.returncode = code
            self._status = (code, used.ru_maxrss / 1024)


def _tail(errors: str, lines: int = 12) -> str:
    """Return the end of what was said; of what faulthandler says, the beginning is of use."""
    said = errors.strip().splitlines()
    fatal = next((n for n, line in enumerate(said) if line.startswith("Fatal Python error")), None)
    return "\n".join(said[-lines:] if fatal is None else said[fatal : fatal + lines])
