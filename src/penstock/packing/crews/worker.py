"""What a worker does: it opens the source once, and packs one shard after another.

The source may look otherwise from another machine: an older copy, a folder that is not mounted
there. So a worker compares it with what the leader found, before it writes anything.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from penstock.errors import PackError
from penstock.limits import using
from penstock.packing.job import Job, Request
from penstock.packing.resume import Stream
from penstock.packing.sharded import ShardPlan, length_of
from penstock.packing.summary import Noted

Report = Callable[[int], None]  # called now and then with how many samples of a shard are done

_REPORT_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class Work:
    """What all workers are told."""

    request: Request
    plan: ShardPlan


class Worker:
    """Packs shards in this process."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._job: Job | None = None

    def pack(self, number: int, report: Report) -> Noted:
        """Pack a shard, or go on where another worker stopped; returns what there is to remark."""
        with using(self._work.request.limits):
            job = self._opened()
            # A stream of its own, so that the source counts what it meets in this shard only.
            job = replace(job, stream=Stream(job.source))
            counter = _Counter(report)
            self._work.plan.pack(job, number, counter.advance, resume=True)
            return job.remarks.take()

    def _opened(self) -> Job:
        if self._job is None:
            job, plan = self._work.request.open(), self._work.plan
            if job.digest() != plan.digest or length_of(job) != plan.length:
                raise PackError(
                    f"{job.source.describe()}: this is what process {os.getpid()} on "
                    f"{socket.gethostname()} finds, with other samples, columns or classes than "
                    "the process that leads the pack. Give all machines the same data."
                )
            self._job = job
        return self._job


class _Counter:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._done = 0
        self._next_s = time.monotonic() + _REPORT_EVERY_S

    def advance(self) -> None:
        self._done += 1
        if time.monotonic() >= self._next_s:
            self._report(self._done)
            self._next_s = time.monotonic() + _REPORT_EVERY_S
