"""Shards in a store: each is packed on the worker's disk, uploaded, and noted beside itself.

Beside a shard lie, until all are there, its journal (what its samples were, compressed) and, put
last, a note that it is finished. So whoever goes on knows from the store alone what there is, and
compares it with the source as with a pack on a disk. The manifest comes when all shards are noted;
then journals and notes go. No object is put where there is one already.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from penstock.errors import PackError
from penstock.packing.job import Advance, Job
from penstock.packing.journal import JOURNAL_SUFFIX
from penstock.packing.read import PackFile
from penstock.packing.sharded import ShardPlan
from penstock.packing.shards import (
    MANIFEST,
    UNFINISHED,
    PackSet,
    ShardFacts,
    manifest_text,
    shard_paths,
)
from penstock.packing.staging import staging_folder
from penstock.packing.summary import Summary, summarise
from penstock.printable import printable
from penstock.storage.backend import AbsentError, ExistsError, Stat
from penstock.storage.folder import RemoteFolder

NOTE_SUFFIX = ".done"
_KIND = {"format": "penstock shard in a store", "version": 1}
_AT_ONCE = 16
_MOST_JOURNAL_BYTES = 1 << 32


@dataclass(frozen=True, slots=True)
class Note:
    """What is said of a finished shard."""

    shard: ShardFacts
    sha256: str
    identity: str  # of the object, as the store has it
    journal_sha256: str
    summary: Summary

    def to_bytes(self) -> bytes:
        """Return it as an object."""
        return json.dumps({**_KIND, **asdict(self)}, indent=1).encode()

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> Note:
        """Read it; PackError if it is something else."""
        try:
            said = json.loads(content)
            kind = {name: said.pop(name) for name in _KIND}
            shard, summary = said.pop("shard"), said.pop("summary")
            tuples = {name: tuple(value) for name, value in summary.items() if type(value) is list}
            note = cls(ShardFacts(**shard), **said, summary=Summary(**{**summary, **tuples}))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise PackError(
                f"{where}: not a note of a finished shard by this version of penstock ({error}). "
                "Look where it comes from; nothing was written to it."
            ) from error
        if kind != _KIND:
            raise PackError(f"{where}: {kind}; this version of penstock reads {_KIND}. Upgrade it.")
        return note


@dataclass(frozen=True, slots=True)
class StorePlan(ShardPlan):
    """Where in a store the shards of a pack go."""

    target: RemoteFolder
    staging: str | os.PathLike[str] | None  # where each machine has what is on its way

    @property
    def names(self) -> list[str]:
        """The objects of all shards, below the folder."""
        return shard_paths("", self.shards)

    def begin(self, *, resume: bool, numbers: Iterable[int] | None) -> None:
        """Claim the folder, or find that this very pack has; PackError if it is not ours.

        `numbers` are the shards of a part; None for all.
        """
        if not self.target.has_name(UNFINISHED):
            found = next(self.target.objects(), None)
            if found is not None and not self.target.has_name(UNFINISHED):
                raise _foreign(self.folder, found.name)
            with suppress(ExistsError):  # another part does the same
                self.target.create(UNFINISHED, self._claim())
        elif not resume and numbers is None:
            raise PackError(
                f"{self.folder}: an unfinished pack is there. Go on with --resume (resume=True), "
                "or remove all below this address to start over."
            )
        self._check_claim()
        for name in [] if resume or numbers is None else [self.names[one] for one in numbers]:
            if self.target.has_name(name) or self.target.has_name(name + NOTE_SUFFIX):
                raise PackError(
                    f"{self.target.address.beside(name)}: this part of the pack was begun before. "
                    "Go on with --resume (resume=True), or remove it to start over."
                )

    def forget(self) -> None:
        """After an error, remove the claim if nothing was uploaded: it would only be in the way."""
        if {found.name for found in self.target.objects()} == {UNFINISHED}:
            self.target.delete([UNFINISHED])

    def pack(self, job: Job, number: int, advance: Advance, *, resume: bool) -> None:
        """Pack and upload one shard; one that is finished is compared with its source."""
        del resume  # the store knows
        name, span = self.names[number], self.span(number)
        start_over = f"remove all below {self.folder}"
        check = job.check(self.folder, advance, start_over)
        note = self.note(number)
        with staging_folder(self.staging) as folder:
            path = os.path.join(folder, name)
            if note is None:
                job.write_file(path, span, check, advance, resume=False)
                self._upload(name, path)
                return
            self._check_object(name, note)
            with open(path + JOURNAL_SUFFIX, "wb") as file:
                file.write(self._journal(name, note))
            check.shard(path, span, note.shard.samples)

    def missing(self) -> list[str]:
        """Return the shards that are not finished yet."""
        there = {found.name for found in self.target.objects()}
        if MANIFEST in there:
            return []
        ends = (f"{name}{NOTE_SUFFIX}" for name in self.names)
        pairs = zip(self.paths, ends, strict=True)
        return [path for path, end in pairs if end not in there]

    def note(self, number: int) -> Note | None:
        """Return what is said of a shard, or None if it is not finished."""
        name = self.names[number] + NOTE_SUFFIX
        content = self._read_if_there(name)
        where = str(self.target.address.beside(name))
        return None if content is None else Note.from_bytes(content, where)

    def notes(self, numbers: Iterable[int]) -> list[Note]:
        """Return what is said of these shards; those that are not finished are left out."""
        with ThreadPoolExecutor(_AT_ONCE, "penstock-notes") as pool:
            found = pool.map(self.note, numbers)
            return [note for note in found if note is not None]

    def commit(self, notes: list[Note]) -> None:
        """Write the manifest of shards that are all there, and remove what lay beside them."""
        there = {found.name: found.stat for found in self.target.objects()}
        for note in notes:
            if there.get(note.shard.file) != Stat(note.shard.bytes, note.identity):
                self._check_object(note.shard.file, note)
        text = manifest_text(note.shard for note in notes)
        try:
            self.target.create(MANIFEST, text.encode())
        except ExistsError as error:
            raise in_the_way(self.target, MANIFEST) from error
        self.clean()

    def clean(self) -> None:
        """Remove what lies beside the shards of a finished pack; the claim goes last."""
        there = {found.name for found in self.target.objects()}
        if UNFINISHED not in there:
            return  # what is there is not of this pack
        try:
            self._check_claim()
        except AbsentError:  # another part does the same
            return
        beside = (name + end for name in self.names for end in (JOURNAL_SUFFIX, NOTE_SUFFIX))
        self.target.delete([name for name in beside if name in there])
        self.target.delete([UNFINISHED])

    def _upload(self, name: str, path: str) -> None:
        try:
            stat = self.target.upload(name, path)
        except ExistsError as error:
            raise in_the_way(self.target, name) from error
        with open(path + JOURNAL_SUFFIX, "rb") as file:
            journal = zlib.compress(file.read(), 1)
        try:
            self.target.create(name + JOURNAL_SUFFIX, journal)
        except ExistsError:  # of somebody who uploaded the same shard: as good as ours
            journal = self.target.read(name + JOURNAL_SUFFIX)
        packed = PackFile(path)
        note = Note(
            ShardFacts.of(packed),
            _sha256_of(path),
            stat.identity,
            hashlib.sha256(journal).hexdigest(),
            summarise(PackSet(path, [packed])),
        )
        try:
            self.target.create(name + NOTE_SUFFIX, note.to_bytes())
        except ExistsError as error:
            there = self.target.read(name + NOTE_SUFFIX)
            where = str(self.target.address.beside(name + NOTE_SUFFIX))
            if Note.from_bytes(there, where).sha256 != note.sha256:
                raise in_the_way(self.target, name + NOTE_SUFFIX) from error

    def _check_object(self, name: str, note: Note) -> None:
        """Raise unless the shard in the store is the one that was uploaded."""
        found = self.target.stat(name)
        if found == Stat(note.shard.bytes, note.identity):
            return
        digest = hashlib.sha256()
        for piece in self.target.pieces(name, found):
            digest.update(piece)
        if digest.hexdigest() != note.sha256:
            raise PackError(
                f"{self.target.address.beside(name)}: is not the shard that was uploaded; somebody "
                f"has replaced it. Start over: remove all below {self.folder}."
            )

    def _journal(self, name: str, note: Note) -> bytes:
        where = self.target.address.beside(name + JOURNAL_SUFFIX)
        content = self._read_if_there(name + JOURNAL_SUFFIX) or b""
        if hashlib.sha256(content).hexdigest() != note.journal_sha256:
            raise PackError(
                f"{where}: is missing, or not what was uploaded, so it is unknown what the shard "
                f"was made from. Start over: remove all below {self.folder}."
            )
        unpacked = zlib.decompressobj()
        return unpacked.decompress(content, _MOST_JOURNAL_BYTES)

    def _read_if_there(self, name: str) -> bytes | None:
        try:
            return self.target.read(name)
        except AbsentError:
            return None

    def _claim(self) -> bytes:
        said = {
            "format": "penstock pack in a store, unfinished",
            "version": 1,
            "shards": self.shards,
            "samples": self.length,
            "columns, classes and settings": self.digest.hex(),
        }
        return json.dumps(said, indent=1).encode() + b"\n"

    def _check_claim(self) -> None:
        where = self.target.address.beside(UNFINISHED)
        content = self.target.read(UNFINISHED)
        if content == self._claim():
            return
        try:
            said, asked = json.loads(content), json.loads(self._claim())
            differ = [name for name in asked if said[name] != asked[name]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise PackError(
                f"{where}: not what an unfinished pack leaves ({error}). Look where it comes from, "
                "or give another name."
            ) from error
        raise PackError(self._why(where, differ, said))

    def _why(self, where: object, differ: list[str], said: dict[str, Any]) -> str:
        if "shards" in differ:
            others = said["shards"]
            return (
                f"{self.folder}: an unfinished pack of {others} files is there. Go on with "
                f"--shards {others} (shards={others}), or remove all below it to start over."
            )
        if "samples" in differ:
            return (
                f"{self.folder}: its source has changed since the pack was interrupted: it had "
                f"{said['samples']:,} samples and has {self.length:,} now, so that each shard "
                "would get others. Restore the source, or remove all below this address to start "
                "over."
            )
        return (
            f"{where}: was begun with other columns, classes or settings. Give the same arguments "
            "again, or remove all below the address to start over."
        )


def sum_of(notes: list[Note]) -> Summary:
    """Return the figures of all these shards together."""
    each = [note.summary for note in notes]

    def tallied(counts: list[dict[str, int]]) -> dict[str, int]:
        return {name: sum(one[name] for one in counts) for name in counts[0]}

    return Summary(
        samples=sum(one.samples for one in each),
        files=len(notes),
        bytes=sum(one.bytes for one in each),
        original_bytes=sum(one.original_bytes for one in each),
        storages=tallied([one.storages for one in each]),
        restores=tallied([one.restores for one in each]),
        settings=each[0].settings,
        columns=each[0].columns,
        skipped=tuple(line for one in each for line in one.skipped),
    )


def _sha256_of(path: str) -> str:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return hashlib.sha256(content).hexdigest()


def _foreign(folder: str, name: str) -> PackError:
    return PackError(
        f"{folder}: there are objects below it that are not of a pack, such as {printable(name)}. "
        "Nothing was written. Give another name, or remove what is there."
    )


def in_the_way(target: RemoteFolder, name: str) -> PackError:
    """Return the error for an object that somebody else has put where ours was to be."""
    return PackError(
        f"{target.address.beside(name)}: another object is there, which was left as it is. Look "
        "where it comes from, remove it and go on with --resume (resume=True)."
    )
