"""`pack` to an address: the same files as on a disk, put into a store when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from penstock.errors import PackError, PenstockError
from penstock.packing.crews.how import How
from penstock.packing.format import SUFFIX
from penstock.packing.job import Job, Request
from penstock.packing.journal import Span
from penstock.packing.read import PackFile
from penstock.packing.sharded import length_of
from penstock.packing.shards import MANIFEST, PackSet, open_packed
from penstock.packing.staging import staging_folder
from penstock.packing.store_plan import StorePlan, in_the_way, sum_of
from penstock.packing.summary import Summary, summarise
from penstock.progress import ProgressBar
from penstock.storage.address import Address, read_address
from penstock.storage.backend import AbsentError, ExistsError
from penstock.storage.folder import RemoteFolder
from penstock.storage.options import StorageOptions

_CLAIM_SUFFIX = ".unfinished"
_CLAIM = b"penstock is packing the file of this name, without this ending.\n"


@dataclass(frozen=True, slots=True)
class StoreTarget:
    """Where in a store a pack goes, and by which way."""

    address: Address
    shards: int
    options: StorageOptions
    staging: str | os.PathLike[str] | None  # where what is on its way is kept

    @classmethod
    def read(
        cls,
        text: str,
        shards: int,
        options: StorageOptions | None,
        staging: str | os.PathLike[str] | None,
    ) -> StoreTarget:
        """Read an address; PackError if nothing can be written there."""
        address = read_address(text)
        if address.is_web or not address.by_obstore:
            raise PackError(
                f"{address}: {address.scheme}:// can only be read. Pack to s3://, gs:// or az://, "
                "or to a file of this machine, and upload that with the site's own tool."
            )
        is_file = address.text.endswith(SUFFIX)
        if shards == 1 and not is_file:
            raise PackError(
                f"{address}: the name of a packed file must end in {SUFFIX}. For a folder of "
                "several, say how many: --shards N (shards=N)."
            )
        if shards > 1 and is_file:
            raise PackError(
                f"{address}: {shards} files need a folder, whose name does not end in {SUFFIX}: "
                "readers would take it for a file."
            )
        folder = Address(address.text.rstrip("/"), address.scheme)
        return cls(folder, shards, options or StorageOptions(), staging)

    def require_free(self, *, resume: bool) -> None:
        """Raise if there is a finished pack, or no bucket, before a data set is read."""
        name = self.address.name if self.shards == 1 else MANIFEST
        self._is_there(self._folder(), name, resume=resume)
        next(self._folder().objects(), None)

    def _folder(self) -> RemoteFolder:
        """Return the folder that the packed files are put into."""
        return RemoteFolder(self.address.folder if self.shards == 1 else self.address, self.options)

    def pack(self, request: Request, how: How, *, resume: bool, progress: bool | None) -> Summary:
        """Pack, or go on; returns what is there then."""
        if self.shards == 1:
            return self._pack_file(request, resume=resume, progress=progress)
        target = self._folder()
        if self._is_there(target, MANIFEST, resume=resume):
            return self._finished(request, target)
        job = request.open()
        with staging_folder(self.staging) as own:
            # Workers on other machines have no such folder; those here are tidied up with it.
            staging = self.staging if how.engine == "ray" else own
            plan = StorePlan(
                str(self.address), self.shards, length_of(job), job.digest(), target, staging
            )
            part = None if how.part is None else how.shards(self.shards)
            plan.begin(resume=resume, numbers=part)
            try:
                with _bar(job, progress) as bar:
                    how.pack(job, plan, bar, resume=resume)
            except BaseException:
                if part is None:
                    with suppress(PenstockError):
                        plan.forget()
                raise
        return self._end(job, plan, how)

    def _end(self, job: Job, plan: StorePlan, how: How) -> Summary:
        missing = plan.missing()
        everything = range(self.shards)
        notes = plan.notes(how.shards(self.shards) if missing else everything)
        if not missing and len(notes) == self.shards:
            plan.commit(notes)
        elif not missing:  # another part has just finished all of it
            return _described(summarise(open_packed(self.address.text)), job)
        return _described(sum_of(notes), job, tuple(missing))

    def _finished(self, request: Request, target: RemoteFolder) -> Summary:
        job = request.open()
        job.check_finished(self.address.text, self.shards)
        plan = StorePlan(
            str(self.address), self.shards, length_of(job), job.digest(), target, self.staging
        )
        plan.clean()
        return _described(summarise(open_packed(self.address.text)), job)

    def _pack_file(self, request: Request, *, resume: bool, progress: bool | None) -> Summary:
        target, name = self._folder(), self.address.name
        is_there = self._is_there(target, name, resume=resume)
        job = request.open()
        if is_there:
            job.check_finished(self.address.text, 1)
            _delete_claim(target, name + _CLAIM_SUFFIX)
            return _described(summarise(open_packed(self.address.text)), job)
        self._claim_file(target, name, resume=resume)
        with staging_folder(self.staging) as own, _claimed(target, name + _CLAIM_SUFFIX):
            path = os.path.join(own, name)
            with _bar(job, progress) as bar:
                check = job.check(str(self.address), bar.advance, f"remove {self.address}")
                job.write_file(path, Span(), check, bar.advance, resume=False)
            try:
                target.upload(name, path)
            except ExistsError as error:
                raise self._exists(name) from error
            summary = summarise(PackSet(path, [PackFile(path)]))
        return _described(summary, job)

    def _claim_file(self, target: RemoteFolder, name: str, *, resume: bool) -> None:
        """Say that a file is being packed: who may not write here hears it before all the work."""
        claim = name + _CLAIM_SUFFIX
        if not resume and target.has_name(claim):
            raise PackError(
                f"{self.address}: an unfinished pack is there, or one that runs. If none runs, "
                "begin it anew with --resume (resume=True), or remove "
                f"{target.address.beside(claim)}."
            )
        try:
            target.create(claim, _CLAIM)
        except ExistsError as error:
            raise in_the_way(target, claim) from error

    def _is_there(self, target: RemoteFolder, name: str, *, resume: bool) -> bool:
        """Whether what a pack writes last is there, which a new one must not find."""
        if not target.has_name(name):
            return False
        if not resume:
            raise self._exists(name)
        return True

    def _exists(self, name: str) -> PackError:
        where = self.address if self.shards == 1 else self.address.beside(name)
        return PackError(f"{where}: exists already. Remove it, or give another name.")


@contextmanager
def _claimed(target: RemoteFolder, claim: str) -> Iterator[None]:
    """Delete a claim at the end, whatever happens."""
    try:
        yield
    except BaseException:
        with suppress(PenstockError):
            _delete_claim(target, claim)
        raise
    _delete_claim(target, claim)


def _delete_claim(target: RemoteFolder, claim: str) -> None:
    """Delete a claim if it is one, and not an object of somebody else's."""
    with suppress(AbsentError):
        if target.read(claim) == _CLAIM:
            target.delete([claim])


def _bar(job: Job, progress: bool | None) -> ProgressBar:
    return ProgressBar("packing", total=job.source.length, unit="images", show=progress)


def _described(summary: Summary, job: Job, waits_for: tuple[str, ...] = ()) -> Summary:
    return replace(
        summary,
        source=job.source.describe(),
        remarks=job.remarks.sentences(),
        waits_for=waits_for,
    )
