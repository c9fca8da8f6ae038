"""What `pack` was asked for, and how one file of it is written.

A `Request` can be sent to another process, which opens the same source and writes other shards of
it: what a shard holds depends on the source and the request alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock._core import checksum
from penstock.errors import (
    CoreError,
    DecodeError,
    PackError,
    PenstockError,
    ResourceError,
    StorageError,
)
from penstock.limits import Limits, beyond, how_to_allow
from penstock.packing.datasets.open_dataset import open_pack_source
from penstock.packing.far_files import FarFile, fetched_ahead
from penstock.packing.index import KEEP_JPEG, Tables
from penstock.packing.items import ImageData, PackItem, PackSource, box_class_ids_of
from penstock.packing.journal import (
    UNREADABLE,
    Done,
    Origin,
    Span,
    columns_digest,
    storable,
    times_ns,
)
from penstock.packing.ordered_map import map_in_order
from penstock.packing.records import Record, encode_image
from penstock.packing.reencode import Reencoding, reencode
from penstock.packing.resume import SourceCheck, Stream, settings_digest
from penstock.packing.shards import open_packed
from penstock.packing.summary import Remarks
from penstock.packing.unpack import check_name
from penstock.packing.write import PackWriter
from penstock.pillow_messages import heard
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused

Advance = Callable[[], None]  # called once for each sample that is dealt with


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of `pack` that decide about the contents of its files, and `threads`."""

    source: Any
    labels: Any
    kind: str | None
    split: str | None
    images: str | os.PathLike[str] | None
    masks: Any
    reencoding: Reencoding
    keep_jpeg: bool
    skips: bool
    threads: int
    limits: Limits

    def open(self) -> Job:
        """Open the source, in whatever process this is."""
        opened = open_pack_source(
            self.source,
            labels=self.labels,
            kind=self.kind,
            split=self.split,
            images=self.images,
            masks=self.masks,
        )
        return Job(self, opened, Stream(opened), Remarks(opened))


@dataclass(frozen=True, slots=True)
class Job:
    """A request whose source is open in this process."""

    request: Request
    source: PackSource
    stream: Stream
    remarks: Remarks

    def write_file(
        self, path: str, span: Span, check: SourceCheck, advance: Advance, *, resume: bool
    ) -> None:
        """Write one packed file, or go on with it; `check` says whether its source is the same."""
        source = self.source
        end = source.length if span.stop is None else span.stop
        with PackWriter(
            path,
            source.columns,
            self.tables(),
            resume=resume,
            span=span,
            keeps_journal=span.length is not None,
            expected_samples=None if end is None else end - span.start,
        ) as writer:
            items = self.stream.items(span.start, span.stop)
            check.samples(writer.done(), items, span.start)
            encoded = map_in_order(
                self._encode, fetched_ahead(items), self.request.threads, _bytes_of
            )
            for item, outcome, warning, origin in encoded:
                if isinstance(outcome, Record):
                    writer.add(item, outcome, origin)
                    self.remarks.note(item, warning)
                elif self.request.skips:
                    writer.skip(item.name, str(outcome), origin)
                else:
                    kind = PackError if isinstance(outcome, PackError) else DecodeError
                    raise kind(
                        f"{storable(item.name) or repr('')}: {outcome}. To leave such files out, "
                        'go on with --resume --on-error=skip (resume=True, on_error="skip").'
                    ) from outcome
                advance()
            writer.finish()

    def tables(self) -> Tables:
        """Return what is said once for all samples."""
        source = self.source
        return Tables(
            source.classes,
            source.box_classes,
            self.settings(),
            box_class_ids_of(source),
        )

    def settings(self) -> tuple[str, ...]:
        """Return the options that changed images, or how they are stored."""
        kept = (KEEP_JPEG,) if self.request.keep_jpeg else ()
        return (*self.request.reencoding.settings(), *kept)

    def digest(self) -> bytes:
        """Return a digest of columns, classes and settings: all shards have it in common."""
        return settings_digest(self.source.columns, self.tables())

    def check(self, target: str, advance: Advance, start_over: str) -> SourceCheck:
        """Return what compares the source with the journals of `target`."""

        def note(item: PackItem, was: Done) -> None:
            advance()
            if was.stored:
                self.remarks.note(item, "")

        return SourceCheck(
            target,
            self.source,
            self.stream,
            self.digest(),
            read=_read,
            note=note,
            start_over=start_over,
        )

    def check_finished(self, path: str, shards: int) -> None:
        """Raise PackError unless a finished pack is what this job would make, as far as it says."""
        packed = open_packed(path)
        source, settings = self.source, packed.table("settings")
        asked = (source.columns, source.classes, source.box_classes, self.settings(), shards)
        found = (
            *(packed.schema, packed.table("classes"), packed.table("box_classes"), settings),
            len(packed.files),
        )
        if asked != found:
            raise PackError(
                f"{path}: is finished, but with other columns, classes, settings or number of "
                "shards than asked for now. Remove it to pack again."
            )
        samples = len(packed) + sum(len(file.table("skipped") or ()) for file in packed.files)
        if source.length not in {None, samples}:
            raise PackError(
                f"{path}: is finished, from {samples:,} samples, but the source has "
                f"{source.length:,} now. Remove it to pack again."
            )

    def _encode(self, item: PackItem) -> tuple[PackItem, Record | PenstockError, str, Origin]:
        times = times_ns(item.data)
        digest = columns_digest(item, self.source.columns)
        with heard() as messages:
            changed, outcome, size, crc = self._record(item)
        return changed, outcome, str(messages), Origin(digest, size, crc, *times)

    def _record(self, item: PackItem) -> tuple[PackItem, Record | PenstockError, int, int]:
        size, crc = UNREADABLE, 0
        reencoding, keep_jpeg = self.request.reencoding, self.request.keep_jpeg
        try:
            data = _read(item.data)
            size, crc = len(data), checksum(data)
            check_name(item.name)
            changed = None
            if reencoding.settings():
                changed = reencode(data, item.columns, reencoding)
            if changed is None:
                return item, encode_image(data, keep_jpeg=keep_jpeg), size, crc
            smaller, columns = changed
            record = replace(
                encode_image(smaller, keep_jpeg=keep_jpeg),
                restores="lossy",
                original_size=size,
                original_crc=crc,
            )
            return replace(item, columns=columns), record, size, crc
        except CoreError:  # our own mistake or a wrong setting, not the file's fault
            raise
        except StorageError:  # that of a store or network, which says which object it is
            raise
        except ResourceError as error:  # the machine's fault, not the file's
            raise ResourceError(f"{printable(item.name)}: {error}") from error
        except PenstockError as error:
            return item, error, size, crc


def _bytes_of(item: PackItem) -> int:
    if isinstance(item.data, bytes):
        return len(item.data)
    if isinstance(item.data, FarFile):
        return item.data.size
    try:
        return os.stat(item.data).st_size
    except (OSError, ValueError):  # reading it will tell
        return 0


def _read(data: ImageData) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, FarFile):
        return data.read()
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
