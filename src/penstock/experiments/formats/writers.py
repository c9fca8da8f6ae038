"""Writing the samples in each format, as its own tools or the usual recipes write it.

TFRecord and RecordIO are so simple that no library is needed: a length, a checksum or a mark, and
the bytes. The other formats are written by their own libraries.
"""

from __future__ import annotations

import io
import os
import struct
import tarfile
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock.experiments.formats.photos import PhotoSet, Sample

SHARDS = 8  # of formats that are read from front to back, so that workers share them
MOST_ROWS_PER_GROUP = 100  # of Parquet; what Hugging Face's tools take for images
LABEL_DIGITS = 8  # of WebDataset's .cls files: one length, so that DALI can stack them
RECORD_MAGIC = struct.pack("<I", 0xCED7230A)
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_LENGTH_BITS = 29
_MOST_MAPPED_BYTES = 1 << 40  # of LMDB: addresses, not memory or disk; the usual choice


def write_folder(photos: PhotoSet, folder: str) -> None:
    """Write a folder per label, and a file per sample."""
    for sample in photos.each():
        place = os.path.join(folder, f"class_{sample.label:04}")
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, f"{sample.name}.jpg"), "wb") as file:
            file.write(sample.data)


def write_tfrecord(photos: PhotoSet, folder: str) -> None:
    """Write shards of tf.train.Example with TF-Slim's names, and DALI's index beside each."""
    google_crc32c = import_module("google_crc32c")

    for shard, samples in _shards(photos):
        path = os.path.join(folder, f"train-{shard:05}-of-{SHARDS:05}.tfrecord")
        with open(path, "wb") as file, open(f"{path}.idx", "w", encoding="ascii") as index:
            for sample in samples:
                record = framed_tfrecord(_example(sample), google_crc32c.value)
                index.write(f"{file.tell()} {len(record)}\n")
                file.write(record)


def framed_tfrecord(record: bytes, crc32c: Callable[[bytes], int]) -> bytes:
    """Return a record with its length before it, and a checksum after each."""
    length = struct.pack("<Q", len(record))
    checks = [struct.pack("<I", _masked(crc32c(part))) for part in (length, record)]
    return b"".join((length, checks[0], record, checks[1]))


def _masked(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _example(sample: Sample) -> bytes:
    features = {
        "image/encoded": _field(1, _field(1, sample.data)),
        "image/class/label": _field(3, _field(1, _varint(sample.label))),
    }
    entries = (_field(1, name.encode()) + _field(2, value) for name, value in features.items())
    return _field(1, b"".join(_field(1, entry) for entry in entries))


def write_recordio(photos: PhotoSet, folder: str) -> None:
    """Write one file as MXNet's im2rec does, and its index."""
    path = os.path.join(folder, "train")
    with open(f"{path}.rec", "wb") as file, open(f"{path}.idx", "w", encoding="ascii") as index:
        for number, sample in enumerate(photos.each()):
            index.write(f"{number}\t{file.tell()}\n")
            header = struct.pack("<IfQQ", 0, float(sample.label), number, 0)
            file.write(framed_recordio(header + sample.data))


def framed_recordio(record: bytes) -> bytes:
    """Return a record behind a mark and its length; cut where the mark is inside it by chance."""
    cuts = [
        at
        for at in _occurrences(record, RECORD_MAGIC)
        if at % 4 == 0  # readers look for the mark at whole words only
    ]
    begins, ends = [0, *(cut + 4 for cut in cuts)], [*cuts, len(record)]
    framed = b""
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        part = record[begin:end]
        flag = _part_flag(number, len(begins))
        head = RECORD_MAGIC + struct.pack("<I", flag << _LENGTH_BITS | len(part))
        framed += head + part + bytes(-len(part) % 4)
    return framed


def _part_flag(number: int, parts: int) -> int:
    if parts == 1:
        return _WHOLE
    if number == 0:
        return _FIRST
    return _LAST if number == parts - 1 else _MIDDLE


def _occurrences(data: bytes, wanted: bytes) -> Iterator[int]:
    at = data.find(wanted)
    while at >= 0:
        yield at
        at = data.find(wanted, at + 1)


def write_hdf5(photos: PhotoSet, folder: str) -> None:
    """Write rows of bytes of any length, each a JPEG file."""
    h5py = import_module("h5py")

    with h5py.File(os.path.join(folder, "train.h5"), "w") as file:
        rows = _byte_rows(h5py, file, photos.samples)
        labels = file.create_dataset("labels", photos.samples, "i8")
        for number, sample in enumerate(photos.each()):
            rows[number] = np.frombuffer(sample.data, np.uint8)
            labels[number] = sample.label


def write_hdf5_raw(photos: PhotoSet, folder: str) -> None:
    """Write rows of pixels, and the height and width of each: the images differ in size."""
    h5py = import_module("h5py")

    with h5py.File(os.path.join(folder, "train.h5"), "w") as file:
        rows = _byte_rows(h5py, file, photos.samples)
        labels = file.create_dataset("labels", photos.samples, "i8")
        shapes = file.create_dataset("shapes", (photos.samples, 2), "i4")
        for number, sample in enumerate(photos.each()):
            pixels = _pixels(sample)
            rows[number] = pixels.ravel()
            shapes[number] = pixels.shape[:2]
            labels[number] = sample.label


def _byte_rows(h5py: Any, file: Any, count: int) -> Any:
    return file.create_dataset("images", count, h5py.vlen_dtype(np.uint8))


def write_lmdb(photos: PhotoSet, folder: str) -> None:
    """Write Caffe's Datum with an encoded image."""
    _write_lmdb(photos, folder, _encoded_datum)


def write_lmdb_raw(photos: PhotoSet, folder: str) -> None:
    """Write Caffe's Datum with planes of pixels: blue, green, red."""
    _write_lmdb(photos, folder, _raw_datum)


def _write_lmdb(photos: PhotoSet, folder: str, datum: Callable[[Sample], bytes]) -> None:
    lmdb = import_module("lmdb")

    with (
        lmdb.open(os.path.join(folder, "train_lmdb"), map_size=_MOST_MAPPED_BYTES) as handle,
        handle.begin(write=True) as transaction,
    ):
        for sample in photos.each():
            transaction.put(sample.name.encode(), datum(sample))


def _encoded_datum(sample: Sample) -> bytes:
    return _field(4, sample.data) + _number(5, sample.label) + _number(7, 1)


def _raw_datum(sample: Sample) -> bytes:
    planes = _pixels(sample)[..., ::-1].transpose(2, 0, 1)
    sides = b"".join(_number(field, side) for field, side in enumerate(planes.shape, 1))
    return sides + _field(4, planes.tobytes()) + _number(5, sample.label)


def write_webdataset(photos: PhotoSet, folder: str) -> None:
    """Write shards of a .jpg and a .cls per sample, and DALI's index beside each."""
    for shard, samples in _shards(photos):
        path = os.path.join(folder, f"train-{shard:06}.tar")
        lines = []
        with tarfile.open(path, "w") as archive:
            for sample in samples:
                label = f"{sample.label:0{LABEL_DIGITS}}".encode()
                for ending, data in (("jpg", sample.data), ("cls", label)):
                    info = tarfile.TarInfo(f"{sample.name}.{ending}")
                    info.size = len(data)
                    lines.append(f"{ending} {archive.offset + 512} {len(data)} {info.name}")
                    archive.addfile(info, io.BytesIO(data))
        pairs = [" ".join(pair) for pair in zip(lines[::2], lines[1::2], strict=True)]
        with open(f"{path}.idx", "w", encoding="ascii") as index:
            index.write("\n".join([f"v1.2 {len(pairs)}", *pairs]) + "\n")


def write_parquet(photos: PhotoSet, folder: str) -> None:
    """Write a column of encoded images as Hugging Face's tools do, and one of labels."""
    pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("image", image), ("label", pa.int64())])
    rows = max(1, min(MOST_ROWS_PER_GROUP, photos.samples // SHARDS))
    with pq.ParquetWriter(os.path.join(folder, "train.parquet"), schema) as writer:
        samples = list(photos.each())
        for first in range(0, len(samples), rows):
            group = samples[first : first + rows]
            images = [{"bytes": one.data, "path": f"{one.name}.jpg"} for one in group]
            labels = [one.label for one in group]
            writer.write_table(pa.table({"image": images, "label": labels}, schema=schema))


def write_pen(photos: PhotoSet, folder: str) -> None:
    """Write a packed file with coefficient tiles."""
    _pack(photos, folder, keep_jpeg=False)


def write_pen_jpeg(photos: PhotoSet, folder: str) -> None:
    """Write a packed file that keeps the JPEGs: the container without the codec."""
    _pack(photos, folder, keep_jpeg=True)


def _pack(photos: PhotoSet, folder: str, *, keep_jpeg: bool) -> None:
    from penstock.packing.items import LABEL, Column, PackItem
    from penstock.packing.pack import pack

    class Samples:
        """The samples as `pack` asks for them."""

        columns: tuple[Column, ...] = (LABEL,)
        classes: tuple[str, ...] | None = None
        box_classes: tuple[str, ...] | None = None
        length: int | None = photos.samples

        @staticmethod
        def items(start: int = 0) -> Iterator[PackItem]:
            for number, sample in enumerate(photos.each()):
                if number >= start:
                    label = {"label": sample.label}
                    yield PackItem(f"{sample.name}.jpg", sample.data, label)

        @staticmethod
        def describe() -> str:
            return f"{photos.samples:,} samples"

    target = os.path.join(folder, "train.pen")
    # One thread, as the other formats are written with.
    pack(Samples(), target, keep_jpeg=keep_jpeg, threads=1, progress=False)


def _shards(photos: PhotoSet) -> Iterator[tuple[int, Iterator[Sample]]]:
    samples = photos.each()
    for shard in range(SHARDS):
        begin, end = (photos.samples * edge // SHARDS for edge in (shard, shard + 1))
        yield shard, (next(samples) for _ in range(end - begin))


def _pixels(sample: Sample) -> npt.NDArray[np.uint8]:
    with PIL.Image.open(io.BytesIO(sample.data)) as image:
        return np.asarray(image.convert("RGB"))


def _field(number: int, data: bytes) -> bytes:
    """Return a field of bytes in protocol buffers."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(number: int) -> bytes:
    data = b""
    while number > 127:
        data, number = data + bytes([number & 127 | 128]), number >> 7
    return data + bytes([number])
