"""A pack into many files: which samples each shard holds, how one is written, and the manifest.

A shard depends on the source and the request alone, so any process may write it, and a second try
gives the same bytes. The manifest comes last, from whoever finds that all shards are there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.errors import PackError
from penstock.packing import disk
from penstock.packing.disk import LockedError, TargetLock
from penstock.packing.job import Advance, Job
from penstock.packing.journal import JOURNAL_SUFFIX, Span
from penstock.packing.read import PackFile
from penstock.packing.shards import MANIFEST, ShardFacts, manifest_text, shard_paths
from penstock.packing.write import PARTIAL_SUFFIX

_COMMIT_TRIES, _COMMIT_WAIT_S = 600, 0.1


@dataclass(frozen=True, slots=True)
class Part:
    """A share of the shards, for one of several packs that run at the same time."""

    number: int  # from 1 on
    parts: int

    @classmethod
    def read(cls, text: str) -> Part:
        """Read "3/8"; PackError if it is not of that form."""
        number, slash, parts = text.partition("/")
        if slash and number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts):
            return cls(int(number), int(parts))
        raise PackError(
            f'part: must be like "3/8", the third of eight, counted from 1; got {text!r}.'
        )

    def shards(self, count: int) -> range:
        """Return the numbers of its shards, from 0 on."""
        return range(self.number - 1, count, self.parts)


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """Where the shards of a pack go, and which samples each of them holds."""

    folder: str
    shards: int
    length: int  # of the source
    digest: bytes  # of columns, classes and settings

    @property
    def paths(self) -> list[str]:
        """The files of all shards."""
        return shard_paths(self.folder, self.shards)

    def span(self, number: int) -> Span:
        """Return the samples of a shard."""
        start, stop = (self.length * edge // self.shards for edge in (number, number + 1))
        # The last shard takes all that is left, in case the source gave a wrong length.
        return Span(start, None if number == self.shards - 1 else stop, self.length)

    def samples(self, number: int) -> int:
        """Return how many samples of the source a shard holds."""
        span = self.span(number)
        return (self.length if span.stop is None else span.stop) - span.start

    def pack(self, job: Job, number: int, advance: Advance, *, resume: bool) -> None:
        """Write one shard, or go on with it; one that is finished is compared with its source."""
        path, span = self.paths[number], self.span(number)
        check = job.check(self.folder, advance, f"remove {self.folder}")
        if not os.path.lexists(path):
            os.makedirs(self.folder, exist_ok=True)
        with TargetLock(path):
            if os.path.lexists(path):
                check.shard(path, span, len(PackFile(path)))
            else:
                job.write_file(path, span, check, advance, resume=resume)

    def missing(self) -> list[str]:
        """Return the shards that are not there yet."""
        return [path for path in self.paths if not os.path.lexists(path)]


def length_of(job: Job) -> int:
    """Return how many samples a source has; by counting them, if it does not say."""
    length = job.source.length
    return sum(1 for _ in job.source.items()) if length is None else length


def commit(plan: ShardPlan) -> None:
    """Write the manifest of shards that are all there, and remove their journals."""
    manifest = os.path.join(plan.folder, MANIFEST)
    if not os.path.lexists(manifest):
        text = manifest_text(ShardFacts.of(PackFile(path)) for path in plan.paths)
        with disk.explaining_errors(manifest, lambda: len(text)):
            with disk.create_anew(manifest + PARTIAL_SUFFIX) as file:
                disk.write_all(file, text.encode())
                disk.sync(file)
            disk.rename(manifest + PARTIAL_SUFFIX, manifest)
    remove_journals(plan.paths)


def commit_if_last(plan: ShardPlan) -> bool:
    """Write the manifest if all shards are there; other parts may be doing the same just now."""
    for _ in range(_COMMIT_TRIES):
        if plan.missing():
            return False
        try:
            with TargetLock(plan.folder):
                commit(plan)
        except LockedError:
            time.sleep(_COMMIT_WAIT_S)  # another part is at it, for the same bytes
        else:
            return True
        if os.path.lexists(os.path.join(plan.folder, MANIFEST)):
            return True
    raise PackError(
        f"{plan.folder}: all shards are there, but another process holds "
        f"{plan.folder}{disk.LOCK_SUFFIX}. When it has ended, go on with --resume (resume=True)."
    )


def remove_journals(paths: Iterable[str]) -> None:
    """Remove the journals of finished files: what a pack does last."""
    for path in paths:
        with disk.explaining_errors(path, lambda: 0):
            if os.path.lexists(path + JOURNAL_SUFFIX):  # else it may lie on a read-only disk
                disk.remove(path + JOURNAL_SUFFIX)
