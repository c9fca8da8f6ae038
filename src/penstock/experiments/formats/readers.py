"""Reading each format in plain Python, in the way that is usual with torch.

`open_map` is for formats that are read sample by sample in any order, `open_stream` for those that
are read from front to back, a shard at a time. What comes out is an encoded image, or its pixels.
"""

from __future__ import annotations

import os
import struct
import tarfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from penstock.experiments.formats.writers import RECORD_MAGIC
from penstock.packing.datasets.lmdb import parse_datum
from penstock.packing.datasets.protobuf import parse_example

Stored = bytes | npt.NDArray[np.uint8]  # an image file, or RGB pixels


class Found(NamedTuple):
    """A sample as it is stored."""

    image: Stored
    label: int


class MapReader(Protocol):
    """Samples in any order."""

    def __len__(self) -> int: ...

    def read(self, index: int) -> Found:
        """Return a sample."""


class StreamReader(Protocol):
    """Samples from front to back, shard by shard."""

    @property
    def shards(self) -> int:
        """How many there are."""

    def read_shard(self, number: int) -> Iterator[Found]:
        """Yield the samples of a shard."""


def open_map(form: str, folder: str) -> MapReader:
    """Open a format that is read in any order."""
    readers: dict[str, type[Any]] = {
        "folder": _Folder, "recordio": _RecordIO, "hdf5": _Hdf5, "hdf5_raw": _RawHdf5,
        "lmdb": _Lmdb, "lmdb_raw": _Lmdb, "pen": _Packed, "pen_jpeg": _Packed,
    }  # fmt: skip
    opened: MapReader = readers[form](folder)
    return opened


def open_stream(form: str, folder: str) -> StreamReader:
    """Open a format that is read from front to back."""
    readers: dict[str, type[Any]] = {
        "tfrecord": _TFRecord, "webdataset": _WebDataset, "parquet": _Parquet,
    }  # fmt: skip
    opened: StreamReader = readers[form](folder)
    return opened


class _Folder:
    """A folder per class, as torchvision's ImageFolder reads it."""

    def __init__(self, folder: str) -> None:
        names = sorted(os.listdir(folder))
        self._files = [
            (os.path.join(folder, name, file), label)
            for label, name in enumerate(names)
            for file in sorted(os.listdir(os.path.join(folder, name)))
        ]

    def __len__(self) -> int:
        return len(self._files)

    def read(self, index: int) -> Found:
        path, label = self._files[index]
        with open(path, "rb") as file:
            return Found(file.read(), label)


class _RecordIO:
    """As MXNet's MXIndexedRecordIO: seek by the index, read a record."""

    _header = struct.Struct("<IfQQ")
    _length = (1 << 29) - 1

    def __init__(self, folder: str) -> None:
        with open(os.path.join(folder, "train.idx"), encoding="ascii") as index:
            self._starts = [int(line.split("\t")[1]) for line in index]
        self._file = open(os.path.join(folder, "train.rec"), "rb")  # noqa: SIM115 (as long as self)

    def __del__(self) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._starts)

    def read(self, index: int) -> Found:
        self._file.seek(self._starts[index])
        parts, flag = [], 1
        while flag in {1, 2}:
            magic, word = struct.unpack("<4sI", self._file.read(8))
            if magic != RECORD_MAGIC:
                raise OSError(f"{self._file.name}: record {index:,} does not begin with its mark.")
            flag, length = word >> 29, word & self._length
            parts.append(self._file.read(length))
            self._file.seek(-length % 4, os.SEEK_CUR)
        record = RECORD_MAGIC.join(parts)
        _, label, _, _ = self._header.unpack_from(record)
        return Found(record[self._header.size :], int(label))


class _Hdf5:
    """By h5py, a row at a time."""

    def __init__(self, folder: str) -> None:
        h5py = import_module("h5py")

        self._file = h5py.File(os.path.join(folder, "train.h5"), "r")
        self._images, self._labels = self._file["images"], self._file["labels"]

    def __len__(self) -> int:
        return len(self._images)

    def read(self, index: int) -> Found:
        return Found(self._images[index].tobytes(), int(self._labels[index]))


class _RawHdf5(_Hdf5):
    """The same with pixels."""

    def read(self, index: int) -> Found:
        height, width = self._file["shapes"][index]
        return Found(self._images[index].reshape(height, width, 3), int(self._labels[index]))


class _Lmdb:
    """By lmdb, with the options that are usual for training."""

    def __init__(self, folder: str) -> None:
        lmdb = import_module("lmdb")

        self._handle = lmdb.open(
            os.path.join(folder, "train_lmdb"),
            readonly=True,
            lock=False,
            readahead=False,
            meminit=False,
        )
        self._count = int(self._handle.stat()["entries"])
        self._transaction = self._handle.begin()

    def __len__(self) -> int:
        return self._count

    def read(self, index: int) -> Found:
        datum = parse_datum(self._transaction.get(f"{index:08}".encode()), "train_lmdb")
        label = datum.label or 0
        if datum.encoded:
            return Found(bytes(datum.data), label)
        planes = np.frombuffer(datum.data, np.uint8).reshape(-1, datum.height, datum.width)
        return Found(np.ascontiguousarray(planes[::-1].transpose(1, 2, 0)), label)


class _Packed:
    """A packed file as a store of JPEG files; tiles are turned into the original file."""

    def __init__(self, folder: str) -> None:
        from penstock.packing.read import PackFile

        self._file = PackFile(os.path.join(folder, "train.pen"))
        self._labels = self._file.columns["label"]

    def __len__(self) -> int:
        return len(self._file)

    def read(self, index: int) -> Found:
        from penstock.packing.records import rebuild_jpeg

        record = self._file.record(index)
        if self._file.sample(index).storage == "dct":
            record = rebuild_jpeg(record)
        return Found(record, int(self._labels[index]))


class _TFRecord:
    """As the tfrecord package for torch: records one after the other, checksums not looked at."""

    def __init__(self, folder: str) -> None:
        self._paths = _with_ending(folder, ".tfrecord")

    @property
    def shards(self) -> int:
        return len(self._paths)

    def read_shard(self, number: int) -> Iterator[Found]:
        with open(self._paths[number], "rb") as file:
            while head := file.read(12):
                (length,) = struct.unpack_from("<Q", head)
                example = parse_example(memoryview(file.read(length + 4))[:length], file.name)
                (image,) = example["image/encoded"].blobs
                (label,) = example["image/class/label"].integers
                yield Found(bytes(image), label)


class _WebDataset:
    """As the webdataset package: members of a tar one after the other, put together by name."""

    def __init__(self, folder: str) -> None:
        self._paths = _with_ending(folder, ".tar")

    @property
    def shards(self) -> int:
        return len(self._paths)

    def read_shard(self, number: int) -> Iterator[Found]:
        image = b""
        with tarfile.open(self._paths[number], "r|") as archive:
            for member in archive:
                content = archive.extractfile(member)
                data = content.read() if content is not None else b""
                if member.name.endswith(".jpg"):
                    image = data
                else:
                    yield Found(image, int(data))


class _Parquet:
    """By pyarrow, a row group at a time, as Hugging Face's streaming does."""

    def __init__(self, folder: str) -> None:
        pq = import_module("pyarrow.parquet")

        self._file: Any = pq.ParquetFile(os.path.join(folder, "train.parquet"))

    @property
    def shards(self) -> int:
        count: int = self._file.num_row_groups
        return count

    def read_shard(self, number: int) -> Iterator[Found]:
        group = self._file.read_row_group(number, use_threads=False)
        images = group.column("image").combine_chunks().field("bytes")
        labels = group.column("label").to_pylist()
        for image, label in zip(images, labels, strict=True):
            yield Found(image.as_py(), label)


def _with_ending(folder: str, ending: str) -> Sequence[str]:
    names = sorted(name for name in os.listdir(folder) if name.endswith(ending))
    return [os.path.join(folder, name) for name in names]


def each_sample(form: str, folder: str, *, is_stream: bool, seed: int | None) -> Iterator[Found]:
    """Yield all samples in the order that a format is read in; shuffled with a seed."""
    dice = None if seed is None else np.random.default_rng(seed)
    if is_stream:
        stream = open_stream(form, folder)
        shards = range(stream.shards) if dice is None else dice.permutation(stream.shards)
        found = (sample for shard in shards for sample in stream.read_shard(int(shard)))
        yield from found if dice is None else shuffled(found, dice)
        return
    reader = open_map(form, folder)
    order = range(len(reader)) if dice is None else dice.permutation(len(reader))
    for index in order:
        yield reader.read(int(index))


SHUFFLE_BUFFER = 256  # samples that are kept to choose the next one from


def shuffled(samples: Iterator[Found], dice: np.random.Generator) -> Iterator[Found]:
    """Yield samples in a new order, as far as a buffer allows."""
    kept: list[Found] = []
    for sample in samples:
        if len(kept) < SHUFFLE_BUFFER:
            kept.append(sample)
            continue
        place = int(dice.integers(SHUFFLE_BUFFER))
        kept[place], given = sample, kept[place]
        yield given
    dice.shuffle(kept)
    yield from kept
