"""LMDB: a Caffe Datum or an encoded image a key. Pickled values are refused: they are programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import ClassVar
from weakref import WeakValueDictionary

import numpy as np

from penstock.errors import SourceError
from penstock.limits import beyond, how_to_allow
from penstock.packing.datasets.caffe_datum import parse_datum
from penstock.packing.datasets.files import unreadable
from penstock.packing.datasets.images import png_of_pixels
from penstock.packing.datasets.layout_source import LayoutSource
from penstock.packing.datasets.names import image_extension, safe_name
from penstock.packing.datasets.optional import require
from penstock.packing.items import LABEL, PackItem
from penstock.regular_file import require_regular
from penstock.sources.file_source import printable


class _Environment:
    """An open environment. LMDB opens each but once a process, so that sources share it."""

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

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys and values in the order of keys."""
        try:
            with self._handle.begin(buffers=True) as transaction:
                for number, (key, value) in enumerate(transaction.cursor()):
                    if beyond("record_bytes", len(value)):
                        where = _where(self.title, number, bytes(key[:80]))
                        raise SourceError(
                            f"{where}: {len(value):,} bytes. "
                            f"{how_to_allow('record_bytes', len(value))}."
                        )
                    yield bytes(key), bytes(value)
        except self._lmdb.Error as error:
            raise SourceError(
                f"{self.title}: LMDB cannot read on ({error}). Get the file again."
            ) from error


def open_lmdb(path: str) -> LayoutSource:
    """Open an environment: a folder with data.mdb, or the file itself."""
    environment = _Environment.at(path)
    title = printable(path)
    first = next(environment.entries(), None)
    if first is None:
        raise SourceError(f"{title}: no entry in it.")
    encoded = image_extension(first[1]) is not None
    labelled = not encoded and parse_datum(first[1], _where(title, 0, first[0])).label is not None

    def items(start: int) -> Iterator[PackItem]:
        for position, (key, value) in enumerate(environment.entries()):
            if position >= start:
                where = _where(title, position, key)
                yield (
                    _encoded(key, value, where)
                    if encoded
                    else _datum(key, value, where, labelled=labelled)
                )

    return LayoutSource(
        kind="lmdb",
        title=title,
        columns=(LABEL,) if labelled else (),
        read=items,
        length=len(environment),
        details=("encoded images" if encoded else "Caffe Datum")
        + ("" if labelled else " without labels"),
    )


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
