"""`pack`: a data set into one packed file, or a folder of them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from penstock import _core
from penstock.errors import CoreError, DecodeError, PackError, PenstockError
from penstock.limits import Limits, beyond, how_to_allow, obeying_limits
from penstock.packing import disk
from penstock.packing.encode import encode_image
from penstock.packing.format import SUFFIX
from penstock.packing.index import Tables
from penstock.packing.items import PackItem, PackSource, box_class_ids_of
from penstock.packing.open_pack_source import open_pack_source
from penstock.packing.ordered_map import map_in_order
from penstock.packing.read import PackFile
from penstock.packing.records import Record
from penstock.packing.reencode import Reencoding, reencode
from penstock.packing.remarks import Remarks
from penstock.packing.shards import MANIFEST, manifest_text, open_packed, shard_name
from penstock.packing.stream import Stream
from penstock.packing.summary import Summary, summarise
from penstock.packing.write import JOURNAL_SUFFIX, PARTIAL_SUFFIX, PackWriter
from penstock.pillow_messages import heard
from penstock.progress import ProgressBar
from penstock.regular_file import open_regular
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
            The result is the same, byte for byte, as without the interruption.
        on_error: "raise" stops at a file that is no image; "skip" leaves it out and lists it.
        short_side: Lossy: scale larger images down to this short side, in pixels.
        quality: Lossy: re-encode all images as JPEGs of this quality.
        threads: None takes all cores this process may use. The file does not depend on it.
        limits: The largest inputs that are read, against files that ask for endless memory.
        progress: Show a bar; None means if stderr is a terminal.
    """
    if on_error not in {"raise", "skip"}:
        raise PackError(f'on_error: must be "raise" or "skip", got {on_error!r}.')
    if shards < 1 or (threads is not None and threads < 1):
        raise PackError(f"shards and threads: must be 1 or more, got {shards} and {threads}.")
    _core.active_isa()  # a wrong PENSTOCK_SIMD is told here, and not of every file
    path = os.path.expanduser(os.fspath(target))
    _check_parent(path)
    finished = _is_finished(path, shards, resume=resume)
    opened = open_pack_source(
        source, labels=labels, kind=kind, split=split, images=images, masks=masks
    )
    job = _Job(
        source=opened,
        stream=Stream(opened),
        remarks=Remarks(opened),
        reencoding=Reencoding(short_side, quality),
        skips=on_error == "skip",
        threads=threads or usable_cores(),
        resume=resume,
    )
    if finished:
        _check_same(path, job)
    else:
        with ProgressBar("packing", total=job.source.length, unit="images", show=progress) as bar:
            if shards == 1:
                job.write_file(path, bar, 0, None)
            else:
                try:
                    job.write_shards(path, bar, shards)
                except BaseException:
                    with suppress(OSError):  # unless there is something in it to go on from
                        os.rmdir(path)
                    raise
    return replace(
        summarise(open_packed(path)), source=opened.describe(), remarks=job.remarks.sentences()
    )


@dataclass(frozen=True, slots=True)
class _Job:
    source: PackSource
    stream: Stream
    remarks: Remarks
    reencoding: Reencoding
    skips: bool
    threads: int
    resume: bool

    def write_shards(self, folder: str, bar: ProgressBar, shards: int) -> None:
        length = self.source.length
        if length is None:
            length = sum(1 for _ in self.source.items())
        paths = [os.path.join(folder, shard_name(number, shards)) for number in range(shards)]
        for number, path in enumerate(paths):
            start, stop = (length * edge // shards for edge in (number, number + 1))
            if _is_finished(path, 1, resume=self.resume):
                bar.advance(stop - start)
            else:
                # The last one takes whatever comes, should the source have told a wrong length.
                self.write_file(path, bar, start, None if path == paths[-1] else stop)
        text = manifest_text([PackFile(path) for path in paths])
        manifest = os.path.join(folder, MANIFEST)
        with disk.explaining_errors(manifest, lambda: len(text)):
            with open(manifest + PARTIAL_SUFFIX, "wb", buffering=0) as file:
                disk.write_all(file, text.encode())
                disk.sync(file)
            disk.rename(manifest + PARTIAL_SUFFIX, manifest)

    def write_file(self, path: str, bar: ProgressBar, start: int, stop: int | None) -> None:
        source = self.source
        tables = Tables(
            source.classes,
            source.box_classes,
            self.reencoding.settings(),
            box_class_ids_of(source),
        )
        end = stop or source.length
        expected = None if end is None else end - start
        with PackWriter(
            path, source.columns, tables, resume=self.resume, expected_samples=expected
        ) as writer:
            bar.advance(writer.consumed)
            items = self._remaining(writer, path, start, stop)
            encoded = map_in_order(self._encode, items, self.threads, _bytes_of)
            for item, outcome, told in encoded:
                if isinstance(outcome, Record):
                    writer.add(item, outcome)
                    self.remarks.note(item, told)
                elif self.skips:
                    writer.skip(item.name, str(outcome))
                else:
                    raise DecodeError(
                        f"{item.name}: {outcome}. To leave such files out, go on with "
                        '--resume --on-error=skip (resume=True, on_error="skip").'
                    ) from outcome
                bar.advance()
            writer.finish()

    def _remaining(
        self, writer: PackWriter, path: str, start: int, stop: int | None
    ) -> Iterator[PackItem]:
        position = start + writer.consumed
        if writer.last_name is None:
            return self.stream.items(position, stop)
        # The last sample that was dealt with comes again, to see that it is the same one.
        items = self.stream.items(position - 1, stop)
        first = next(items, None)
        if first is None or first.name != writer.last_name:
            raise PackError(
                f"{path}: sample {position - 1:,} of the source was {writer.last_name} before the "
                f"interruption, and is {first and first.name} now. "
                f"Remove {path}{PARTIAL_SUFFIX} and {path}{JOURNAL_SUFFIX} to start over."
            )
        return items

    def _encode(self, item: PackItem) -> tuple[PackItem, Record | PenstockError, str]:
        with heard() as messages:
            outcome = self._record(item)
        return *outcome, str(messages)

    def _record(self, item: PackItem) -> tuple[PackItem, Record | PenstockError]:
        try:
            data = _read(item.data)
            changed = None
            if self.reencoding.settings():
                changed = reencode(data, item.columns, self.reencoding)
            if changed is None:
                return item, encode_image(data)
            smaller, columns = changed
            record = replace(
                encode_image(smaller),
                restores="lossy",
                original_size=len(data),
                original_crc=zlib.crc32(data),
            )
            return replace(item, columns=columns), record
        except CoreError:  # a mistake of ours, or of the settings: not the file's
            raise
        except PenstockError as error:
            return item, error


def _bytes_of(item: PackItem) -> int:
    if isinstance(item.data, bytes):
        return len(item.data)
    try:
        return os.stat(item.data).st_size
    except (OSError, ValueError):  # reading it will tell
        return 0


def _check_same(path: str, job: _Job) -> None:
    packed = open_packed(path)
    settings = packed.table("settings")
    if packed.schema != job.source.columns or settings != job.reencoding.settings():
        raise PackError(
            f"{path}: is finished, but with other columns or settings than asked for now. "
            "Remove it to pack again."
        )


def _read(data: bytes | os.PathLike[str]) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        with open_regular(data) as file:
            size = os.fstat(file.fileno()).st_size
            if not beyond("record_bytes", size):
                return file.read()
    except OSError as error:
        raise DecodeError(f"cannot be read ({error.strerror or error})") from error
    raise DecodeError(f"it has {size:,} bytes. {how_to_allow('record_bytes', size)}")


def _check_parent(path: str) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise PackError(
            f"{path}: there is no folder {folder} to write it to. Make it first, or check the path."
        )


def _is_finished(path: str, shards: int, *, resume: bool) -> bool:
    """Whether a resumed pack had been finished; raises if a new one would overwrite something."""
    if shards == 1 and not path.endswith(SUFFIX):
        raise PackError(f"{path}: the name of a packed file must end in {SUFFIX}.")
    final = path if shards == 1 else os.path.join(path, MANIFEST)
    if resume:
        if os.path.exists(final):
            disk.remove(path + JOURNAL_SUFFIX)  # the last thing a pack does
            return True
        return False
    unfinished = (
        f"{path}: an unfinished pack is there. Go on with --resume (resume=True), or remove"
    )
    if os.path.exists(path + PARTIAL_SUFFIX):
        raise PackError(
            f"{unfinished} {path}{PARTIAL_SUFFIX} and {path}{JOURNAL_SUFFIX} to start over."
        )
    if shards > 1 and not os.path.exists(final) and os.path.exists(_first_shard(path, shards)):
        raise PackError(f"{unfinished} {path} to start over.")
    if os.path.exists(path):
        raise PackError(f"{path}: exists already. Remove it, or give another name.")
    return False


def _first_shard(folder: str, shards: int) -> str:
    """The file that is there first when shards are written, finished or not."""
    finished = os.path.join(folder, shard_name(0, shards))
    return finished if os.path.exists(finished) else finished + PARTIAL_SUFFIX
