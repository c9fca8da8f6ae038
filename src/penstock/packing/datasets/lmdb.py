"""LMDB: a Caffe Datum or an encoded image per key.

A Datum is one image, as pixels or as a file, and its label. Pickled values are refused: they are
programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, NamedTuple, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from penstock._core import GuardedRange
from penstock.errors import SourceError
from penstock.packing.datasets.annotations import png_of_pixels
from penstock.packing.datasets.files import (
    check_limit,
    image_extension,
    names_in,
    recognise_file,
    safe_name,
    unreadable,
)
from penstock.packing.datasets.layout_source import Asked, Layout, LayoutSource, require
from penstock.packing.datasets.protobuf import fields, packed_varints, submessage
from penstock.packing.items import LABEL, PackItem
from penstock.printable import printable
from penstock.regular_file import require_regular
from penstock.sources.source import PathTable

# The fields of a Datum.
CHANNELS, HEIGHT, WIDTH, DATA, DATUM_LABEL, FLOAT_DATA, ENCODED = range(1, 8)


class _Environment:
    """An open environment. LMDB opens each only once per process, so that sources share it."""

    _open: ClassVar[WeakValueDictionary[str, _Environment]] = WeakValueDictionary()

    def __init__(self, path: str) -> None:
        self.title = printable(path)
        self._lmdb = require("lmdb", "lmdb", self.title)
        try:
            require_regular(os.path.join(path, "data.mdb") if os.path.isdir(path) else path)
            self._handle = self._lmdb.open(
                path, readonly=True, lock=False, subdir=os.path.isdir(path), max_readers=1
            )
        except OSError as error:
            raise unreadable(path, error) from error
        except self._lmdb.Error as error:
            raise SourceError(f"{self.title}: LMDB cannot open it ({error}).") from error
        self.data_file = os.path.join(path, "data.mdb") if os.path.isdir(path) else path
        self._bytes = os.stat(self.data_file).st_size
        # LMDB maps the file, and reads where it is too short as well.
        self._maps = list(_maps_of(self.data_file))
        self._guards = [GuardedRange(begin, size) for begin, size in self._maps]

    def _check_whole(self, value: memoryview | None = None) -> None:
        """Raise SourceError if LMDB has read beyond the end of the file, or `value` is there."""
        now = os.stat(self.data_file).st_size
        if now < self._bytes or any(guard.lost for guard in self._guards):
            self._refuse(now)
        if value is not None and len(value):
            end = np.frombuffer(value, np.uint8).ctypes.data + len(value)
            # In the last page of the file, zeros follow after its end.
            if any(begin + now < end <= begin + size for begin, size in self._maps):
                self._refuse(now)

    def _refuse(self, now: int) -> NoReturn:
        raise SourceError(
            f"{self.title}: is cut short; it has {now:,} bytes, but its entries go on after "
            "that. Get the file again."
        )

    @classmethod
    def at(cls, path: str) -> _Environment:
        """Open an environment, or return the one that is open."""
        key = os.path.realpath(path)
        environment = cls._open.get(key)
        if environment is None:
            environment = cls._open[key] = cls(path)
        return environment

    def __len__(self) -> int:
        return int(self._handle.stat()["entries"])

    @cached_property
    def keys(self) -> PathTable:
        """All keys, so that the n-th can be found: LMDB does not number its entries."""
        with self._handle.begin() as transaction:
            keys = PathTable.from_paths(transaction.cursor().iternext(values=False))
        self._check_whole()
        return keys

    def entries(self, start: int = 0) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys and values in the order of keys, from entry `start` on."""
        if start and start >= len(self):
            return
        first = os.fsencode(self.keys[start]) if start else b""
        try:
            with self._handle.begin(buffers=True) as transaction:
                self._check_whole()
                cursor = transaction.cursor()
                if first and not cursor.set_key(first):
                    raise SourceError(f"{_where(self.title, start, first)}: is no longer there.")
                for number, (key, value) in enumerate(cursor, start=start):
                    self._check_whole(value)
                    where = _where(self.title, number, bytes(key[:80]))
                    check_limit("record_bytes", len(value), f"{where}: {len(value):,} bytes")
                    entry = bytes(key), bytes(value)
                    self._check_whole()
                    yield entry
                    self._check_whole()
            self._check_whole()
        except self._lmdb.Error as error:
            self._check_whole()
            raise SourceError(
                f"{self.title}: LMDB cannot read on ({error}). Get the file again."
            ) from error


def _maps_of(path: str) -> Iterator[tuple[int, int]]:
    """Yield where a file is mapped in this process, and how much of it."""
    status = os.stat(path)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            lines = [line.split() for line in maps]
    except OSError:  # not Linux: a file that is cut short ends the process there
        return
    for words in lines:
        if words[3] == device and words[4] == str(status.st_ino):
            begin, end = (int(number, 16) for number in words[0].split("-"))
            yield begin, end - begin


def recognise_lmdb(path: str) -> str | None:
    """Recognise an environment: a folder with data.mdb, or the file itself."""
    if os.path.isdir(path):
        return "data.mdb" if "data.mdb" in names_in(path) else None
    return recognise_file(path, (".mdb", ".lmdb"))


def open_lmdb(path: str, _: Asked) -> LayoutSource:
    """Open an environment: a folder with data.mdb, or the file itself."""
    environment = _Environment.at(path)
    title = printable(path)
    first = next(environment.entries(), None)
    if first is None:
        raise SourceError(f"{title}: no entry in it.")
    encoded = image_extension(first[1]) is not None
    labelled = not encoded and parse_datum(first[1], _where(title, 0, first[0])).label is not None

    def stream(start: int) -> Iterator[PackItem]:
        for position, (key, value) in enumerate(environment.entries(start), start):
            where = _where(title, position, key)
            if encoded:
                yield _encoded(key, value, where)
            else:
                yield _datum(key, value, where, labelled=labelled)

    return LayoutSource(
        kind="lmdb",
        title=title,
        columns=(LABEL,) if labelled else (),
        read=lambda index: next(stream(index)),
        length=len(environment),
        details=("encoded images" if encoded else "Caffe Datum")
        + ("" if labelled else " without labels"),
        files=(environment.data_file,),
        stream=stream,
    )


LMDB = Layout("lmdb", recognise_lmdb, open_lmdb, splits=False)


def _where(title: str, position: int, key: bytes) -> str:
    return f"{title}, entry {position:,} ({key[:80]!r})"


def _encoded(key: bytes, value: bytes, where: str) -> PackItem:
    extension = image_extension(value)
    if extension is None:
        raise SourceError(f"{where}: not an image, though the entries before it are.")
    return PackItem(_name(key, extension, where), value)


def _datum(key: bytes, value: bytes, where: str, *, labelled: bool) -> PackItem:
    datum = parse_datum(value, where)
    if (datum.label is not None) != labelled:
        raise SourceError(f"{where}: some entries have a label and some have none.")
    if datum.encoded:
        data = bytes(datum.data)
        extension = image_extension(data) or ".bin"
    else:
        shape = (datum.channels, datum.height, datum.width)
        if datum.channels not in {1, 3} or len(datum.data) != np.prod(shape, dtype=object):
            raise SourceError(
                f"{where}: {len(datum.data):,} bytes for {shape} channels, height and width. "
                "Only 8-bit images of 1 or 3 channels are read."
            )
        planes = np.frombuffer(datum.data, np.uint8).reshape(shape)
        # Caffe's channels are in OpenCV's order: blue, green, red.
        data = png_of_pixels(planes[::-1].transpose(1, 2, 0), where)
        extension = ".png"
    columns = {"label": datum.label} if labelled else {}
    return PackItem(_name(key, extension, where), data, columns)


def _name(key: bytes, extension: str, where: str) -> str:
    name = safe_name(key.decode("utf-8", "surrogateescape"), where)
    own = os.path.splitext(name)[1].lower()
    # Caffe names an entry after the file it was decoded from; what we have is a PNG.
    return name if own.replace(".jpeg", ".jpg") == extension else name + extension


class Datum(NamedTuple):
    """The message, without its float_data."""

    channels: int
    height: int
    width: int
    data: memoryview
    label: int | None
    encoded: bool


def parse_datum(value: bytes, where: str) -> Datum:
    """Read a Datum, or raise if this cannot be one."""
    numbers = dict.fromkeys((CHANNELS, HEIGHT, WIDTH, DATUM_LABEL, ENCODED), 0)
    data, labelled = memoryview(b""), False
    if value[:1] == b"\x80":
        raise SourceError(
            f"{where}: a pickled value. Pickle can run any program, so it is never read; "
            "store encoded images or Caffe Datum instead."
        )
    for number, content in fields(memoryview(value), where):
        if number in numbers and isinstance(content, int):
            numbers[number] = packed_varints(content, where)[0]
            labelled = labelled or number == DATUM_LABEL
        elif number == DATA:
            data = submessage(content, where)
        elif number == FLOAT_DATA:
            raise SourceError(f"{where}: pixels are floats; only 8-bit images are read.")
        else:
            raise SourceError(f"{where}: neither an encoded image nor a Caffe Datum.")
    return Datum(
        numbers[CHANNELS],
        numbers[HEIGHT],
        numbers[WIDTH],
        data,
        numbers[DATUM_LABEL] if labelled else None,
        bool(numbers[ENCODED]),
    )
