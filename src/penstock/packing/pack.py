"""`pack`: a data set into one packed file, or a folder of them."""

from __future__ import annotations

import os
import zlib
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from penstock import _core
from penstock.errors import CoreError, DecodeError, PackError, PenstockError, ResourceError
from penstock.limits import Limits, beyond, how_to_allow, obeying_limits
from penstock.packing import disk
from penstock.packing.datasets.open_dataset import open_pack_source
from penstock.packing.disk import TargetLock
from penstock.packing.format import SUFFIX
from penstock.packing.index import KEEP_JPEG, Tables
from penstock.packing.items import PackItem, PackSource, box_class_ids_of
from penstock.packing.journal import (
    JOURNAL_SUFFIX,
    UNREADABLE,
    Done,
    Origin,
    Span,
    columns_digest,
    storable,
    times_ns,
)
from penstock.packing.ordered_map import map_in_order
from penstock.packing.read import PackFile
from penstock.packing.records import Record, encode_image
from penstock.packing.reencode import Reencoding, reencode
from penstock.packing.resume import SourceCheck, Stream, settings_digest
from penstock.packing.shards import MANIFEST, manifest_text, open_packed, shard_paths, shards_of
from penstock.packing.summary import Remarks, Summary, summarise
from penstock.packing.unpack import check_name
from penstock.packing.write import PARTIAL_SUFFIX, PackWriter
from penstock.pillow_messages import heard
from penstock.printable import printable
from penstock.progress import ProgressBar
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused
from penstock.storage.address import is_address
from penstock.usable_cores import usable_cores


@obeying_limits
def pack(
    source: Any,
    target: str | os.PathLike[str],
    *,
    labels: Any = None,
    kind: str | None = None,
    split: str | None = None,
    images: str | os.PathLike[str] | None = None,
    masks: Any = None,
    shards: int = 1,
    resume: bool = False,
    on_error: str = "raise",
    short_side: int | None = None,
    quality: int | None = None,
    keep_jpeg: bool = False,
    threads: int | None = None,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
    progress: bool | None = None,
) -> Summary:
    """Write a data set as one packed file: lossless, and many times faster to load.

    Args:
        source: A file or folder in any layout that `open_dataset` recognises (a folder of class
            folders, COCO, VOC, YOLO, tar, Parquet ...), a folder of images with `labels`, a list
            of files, or a `PackSource`.
        target: The `.pen` file to write; with `shards`, the folder. It must not exist yet.
        labels: As `Loader` takes them: a labels file, one label per file, or a dictionary from
            path to label.
        kind: The layout, where it is not recognised: "coco", "voc", "folder" ...
        split: Which part of a data set that has several: "train", "val" ...
        images: For COCO, the folder of the images, if it is not near the json file.
        masks: For a folder or list of images, that of their masks, matched by name.
        shards: Number of files to write. More than one makes a folder with a manifest.
        resume: Go on where an interrupted pack with the same arguments stopped.
            The result is the same, byte for byte, as without the interruption; refused if a
            sample that is packed already is no longer what it was.
        on_error: "raise" stops at a file that is not an image; "skip" leaves it out and lists it.
        short_side: Lossy: scale larger images down to this short side, in pixels.
        quality: Lossy: re-encode all images as JPEGs of this quality.
        keep_jpeg: Store JPEGs as they are, not as coefficient tiles: the container without the
            codec. The file is a little smaller, written sooner, and loads as slowly as JPEGs.
        threads: None takes all cores this process may use. The file does not depend on it.
        limits: The largest inputs that are read, against files that ask for endless memory.
        progress: Show a bar; None means if stderr is a terminal.
    """
    if on_error not in {"raise", "skip"}:
        raise PackError(f'on_error: must be "raise" or "skip", got {on_error!r}.')
    if shards < 1 or (threads is not None and threads < 1):
        raise PackError(f"shards and threads: must be 1 or more, got {shards} and {threads}.")
    _core.active_isa()  # reports a wrong PENSTOCK_SIMD once, instead of for every file
    for which, given in (("from", source), ("to", target)):
        if is_address(given):
            raise PackError(
                f"{given}: pack reads from and packs to files of this machine, so it cannot pack "
                f"{which} a store. Copy the files with the store's own tool, before or after."
            )
    path = os.path.expanduser(os.fspath(target))
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise PackError(
            f"{path}: there is no folder {folder} to write it to. Make it first, or check the path."
        )
    if shards == 1 and not path.endswith(SUFFIX):
        raise PackError(f"{path}: the name of a packed file must end in {SUFFIX}.")
    lock = TargetLock(path)
    # A finished pack needs no lock, so that it may lie where nothing can be written.
    is_idle = os.path.exists(_final(path, shards)) and not os.path.lexists(lock.path)
    with disk.explaining_errors(path, lambda: 0), nullcontext() if resume and is_idle else lock:
        finished = _is_finished(path, shards, resume=resume)
        opened = open_pack_source(
            source, labels=labels, kind=kind, split=split, images=images, masks=masks
        )
        job = _Job(
            source=opened,
            stream=Stream(opened),
            remarks=Remarks(opened),
            reencoding=Reencoding(short_side, quality),
            keep_jpeg=keep_jpeg,
            skips=on_error == "skip",
            threads=threads or usable_cores(),
            resume=resume,
        )
        if finished:
            _check_same(path, job, shards)
        else:
            with ProgressBar(
                "packing", total=job.source.length, unit="images", show=progress
            ) as bar:
                job.write(path, bar, shards)
    return replace(
        summarise(open_packed(path)), source=opened.describe(), remarks=job.remarks.sentences()
    )


@dataclass(frozen=True, slots=True)
class _Job:
    source: PackSource
    stream: Stream
    remarks: Remarks
    reencoding: Reencoding
    keep_jpeg: bool
    skips: bool
    threads: int
    resume: bool

    def write(self, path: str, bar: ProgressBar, shards: int) -> None:
        if shards == 1:
            left = f"{path}{PARTIAL_SUFFIX} and {path}{JOURNAL_SUFFIX}"
            self._write_file(path, bar, Span(), self._check(path, bar, f"remove {left}"))
            return
        try:
            self._write_shards(path, bar, shards)
        except BaseException:
            with suppress(OSError):  # unless there is something in it to go on from
                os.rmdir(path)
            raise

    def _write_shards(self, folder: str, bar: ProgressBar, shards: int) -> None:
        length = self.source.length
        if length is None:
            length = sum(1 for _ in self.source.items())
        paths = shard_paths(folder, shards)
        check = self._check(folder, bar, f"remove {folder}")
        if self.resume:
            check.length(paths, length)
        for number, path in enumerate(paths):
            start, stop = (length * edge // shards for edge in (number, number + 1))
            # The last shard takes all that is left, in case the source gave a wrong length.
            span = Span(start, None if path == paths[-1] else stop, length)
            if os.path.lexists(path):
                check.shard(path, span)
            else:
                self._write_file(path, bar, span, check)
        text = manifest_text([PackFile(path) for path in paths])
        manifest = os.path.join(folder, MANIFEST)
        with disk.explaining_errors(manifest, lambda: len(text)):
            with disk.create_anew(manifest + PARTIAL_SUFFIX) as file:
                disk.write_all(file, text.encode())
                disk.sync(file)
            disk.rename(manifest + PARTIAL_SUFFIX, manifest)
        _remove_journals(folder, shards)

    def _write_file(self, path: str, bar: ProgressBar, span: Span, check: SourceCheck) -> None:
        source = self.source
        end = source.length if span.stop is None else span.stop
        with PackWriter(
            path,
            source.columns,
            self._tables(),
            resume=self.resume,
            span=span,
            keeps_journal=span.length is not None,
            expected_samples=None if end is None else end - span.start,
        ) as writer:
            items = self.stream.items(span.start, span.stop)
            check.samples(writer.done(), items, span.start)
            encoded = map_in_order(self._encode, items, self.threads, _bytes_of)
            for item, outcome, warning, origin in encoded:
                if isinstance(outcome, Record):
                    writer.add(item, outcome, origin)
                    self.remarks.note(item, warning)
                elif self.skips:
                    writer.skip(item.name, str(outcome), origin)
                else:
                    kind = PackError if isinstance(outcome, PackError) else DecodeError
                    raise kind(
                        f"{storable(item.name) or repr('')}: {outcome}. To leave such files out, "
                        'go on with --resume --on-error=skip (resume=True, on_error="skip").'
                    ) from outcome
                bar.advance()
            writer.finish()

    def _tables(self) -> Tables:
        source = self.source
        return Tables(
            source.classes,
            source.box_classes,
            self.settings(),
            box_class_ids_of(source),
        )

    def settings(self) -> tuple[str, ...]:
        kept = (KEEP_JPEG,) if self.keep_jpeg else ()
        return (*self.reencoding.settings(), *kept)

    def _check(self, target: str, bar: ProgressBar, start_over: str) -> SourceCheck:
        def note(item: PackItem, was: Done) -> None:
            bar.advance()
            if was.stored:
                self.remarks.note(item, "")

        return SourceCheck(
            target,
            self.source,
            self.stream,
            settings_digest(self.source.columns, self._tables()),
            read=_read,
            note=note,
            start_over=start_over,
        )

    def _encode(self, item: PackItem) -> tuple[PackItem, Record | PenstockError, str, Origin]:
        times = times_ns(item.data)
        digest = columns_digest(item, self.source.columns)
        with heard() as messages:
            changed, outcome, size, crc = self._record(item)
        return changed, outcome, str(messages), Origin(digest, size, crc, *times)

    def _record(self, item: PackItem) -> tuple[PackItem, Record | PenstockError, int, int]:
        size, crc = UNREADABLE, 0
        try:
            data = _read(item.data)
            size, crc = len(data), zlib.crc32(data)
            check_name(item.name)
            changed = None
            if self.reencoding.settings():
                changed = reencode(data, item.columns, self.reencoding)
            if changed is None:
                return item, encode_image(data, keep_jpeg=self.keep_jpeg), size, crc
            smaller, columns = changed
            record = replace(
                encode_image(smaller, keep_jpeg=self.keep_jpeg),
                restores="lossy",
                original_size=size,
                original_crc=crc,
            )
            return replace(item, columns=columns), record, size, crc
        except CoreError:  # our own mistake or a wrong setting, not the file's fault
            raise
        except ResourceError as error:  # the machine's fault, not the file's
            raise ResourceError(f"{printable(item.name)}: {error}") from error
        except PenstockError as error:
            return item, error, size, crc


def _bytes_of(item: PackItem) -> int:
    if isinstance(item.data, bytes):
        return len(item.data)
    try:
        return os.stat(item.data).st_size
    except (OSError, ValueError):  # reading it will tell
        return 0


def _check_same(path: str, job: _Job, shards: int) -> None:
    packed = open_packed(path)
    source, settings = job.source, packed.table("settings")
    asked = (source.columns, source.classes, source.box_classes, job.settings(), shards)
    found = (
        *(packed.schema, packed.table("classes"), packed.table("box_classes"), settings),
        len(packed.files),
    )
    if asked != found:
        raise PackError(
            f"{path}: is finished, but with other columns, classes, settings or number of shards "
            "than asked for now. Remove it to pack again."
        )
    samples = len(packed) + sum(len(file.table("skipped") or ()) for file in packed.files)
    if source.length not in {None, samples}:
        raise PackError(
            f"{path}: is finished, from {samples:,} samples, but the source has "
            f"{source.length:,} now. Remove it to pack again."
        )


def _read(data: bytes | os.PathLike[str]) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        with open_regular(data) as file:
            size = os.fstat(file.fileno()).st_size
            if not beyond("record_bytes", size):
                return file.read()
    except (OSError, MemoryError) as error:
        raise_if_refused(error)
        reason = error.strerror if isinstance(error, OSError) else None
        raise DecodeError(f"cannot be read ({reason or error})") from error
    raise DecodeError(f"it has {size:,} bytes. {how_to_allow('record_bytes', size)}")


def _final(path: str, shards: int) -> str:
    """Return the file that a pack writes last."""
    return path if shards == 1 else os.path.join(path, MANIFEST)


def _is_finished(path: str, shards: int, *, resume: bool) -> bool:
    """Whether a resumed pack had been finished; raises if a new one would overwrite something."""
    begun = _begun(path)
    if resume:
        if begun - {shards}:
            others = max(begun - {shards})
            raise PackError(
                f"{path}: an unfinished pack of {others} files is there. Go on with --shards "
                f"{others} (shards={others}), or remove it to start over."
            )
        if os.path.exists(_final(path, shards)):
            _remove_journals(path, shards)  # what a pack does last
            return True
        return False
    unfinished = (
        f"{path}: an unfinished pack is there. Go on with --resume (resume=True), or remove"
    )
    if 1 in begun:
        raise PackError(
            f"{unfinished} {path}{PARTIAL_SUFFIX} and {path}{JOURNAL_SUFFIX} to start over."
        )
    if begun:
        raise PackError(f"{unfinished} {path} to start over.")
    if os.path.lexists(path):
        raise PackError(f"{path}: exists already. Remove it, or give another name.")
    return False


def _remove_journals(path: str, shards: int) -> None:
    files = [path] if shards == 1 else shard_paths(path, shards)
    with disk.explaining_errors(path, lambda: 0):
        for file in files:
            if os.path.lexists(file + JOURNAL_SUFFIX):  # else it may lie on a read-only disk
                disk.remove(file + JOURNAL_SUFFIX)


def _begun(path: str) -> set[int]:
    """Return the numbers of shards that unfinished packs to this target are of; 1 for a file."""
    begun = {1} if os.path.lexists(path + PARTIAL_SUFFIX) else set()
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, MANIFEST)):
        found = map(shards_of, os.listdir(path))
        begun.update(shards for shards in found if shards is not None)
    return begun
