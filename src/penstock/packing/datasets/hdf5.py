"""HDF5: an array of images, or of encoded images, and arrays of as many labels beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from penstock.errors import SourceError
from penstock.packing.datasets.annotations import png_of_pixels
from penstock.packing.datasets.files import (
    check_limit,
    numbered_name,
    only_file,
    recognise_file,
    user_column_name,
)
from penstock.packing.datasets.layout_source import Asked, Layout, LayoutSource, require
from penstock.packing.items import LABEL, REGRESSION_LABEL, Column, PackItem
from penstock.printable import printable
from penstock.regular_file import require_regular

EXTENSIONS = (".h5", ".hdf5", ".hdf")
CLASS_LISTS = ("list_classes", "classes", "class_names", "label_names", "categories")
LABEL_WORDS = frozenset(["label", "labels", "y", "target", "targets", "class", "fine_labels"])
BYTES_PER_READ = 1 << 24


def open_hdf5(path: str, asked: Asked) -> LayoutSource:
    """Open a file; with several arrays of images in it, the split names the one to read."""
    path = only_file(path, EXTENSIONS)
    title = printable(path)
    h5py = require("h5py", "h5py", title)
    try:
        require_regular(path)
        file = h5py.File(path, "r")
        arrays = _arrays(file, h5py, title)
        images = _images(arrays, title, asked)
        names = [_class_names(arrays[name], title) for name in CLASS_LISTS if name in arrays]
    except SourceError:
        raise
    except (OSError, RuntimeError, KeyError) as error:
        raise SourceError(f"{title}: HDF5 cannot read it ({error}).") from error
    array = arrays[images]
    columns = _columns(arrays, images, title)
    for name in (images, *columns):
        _check_rows(arrays[name], f"{title}, {name}")
    reader = _Reader(title, images, array, {name: arrays[name] for name in columns}, columns)
    return LayoutSource(
        kind="hdf5",
        title=title + (f", {images}" if asked.split else ""),
        columns=tuple(columns.values()),
        read=lambda index: next(reader.rows(index, rows=1)),
        length=len(array),
        classes=names[0] if names and LABEL in columns.values() else None,
        details=f"{images} {array.shape}",
        files=(path,),
        stream=reader.rows,
    )


HDF5 = Layout("hdf5", lambda path: recognise_file(path, EXTENSIONS), open_hdf5)


def _arrays(file: Any, h5py: Any, title: str) -> dict[str, Any]:
    """Return the arrays by their path, each once; what comes from other files is refused."""
    found: dict[str, Any] = {}
    seen = {h5py.h5o.get_info(file.id).addr}
    pending = [(name, file, 1) for name in reversed(list(file))]
    while pending:
        path, group, depth = pending.pop()
        name = path.rpartition("/")[2]
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise _from_elsewhere(f"{title}, {path}", f"a link to {link.filename!r}")
        node = None if isinstance(link, h5py.SoftLink) else group[name]
        if not isinstance(node, (h5py.Dataset, h5py.Group)):
            continue
        address = h5py.h5o.get_info(node.id).addr
        if address in seen:
            continue
        seen.add(address)
        for limit, count in (("depth", depth), ("columns", len(found) + 1)):
            check_limit(limit, count, f"{title}, {path[-80:]}: too many", counting=True)
        if isinstance(node, h5py.Dataset):
            _refuse_elsewhere(node, f"{title}, {path}")
            found[path] = node
        else:
            pending += [(f"{path}/{inner}", node, depth + 1) for inner in reversed(list(node))]
    return found


def _refuse_elsewhere(array: Any, where: str) -> None:
    """Raise for pixels in other files: they might be anything that this user can read."""
    if array.external:
        raise _from_elsewhere(where, f"its values are in {array.external[0][0]!r}")
    if array.is_virtual:
        raise _from_elsewhere(where, "a virtual data set, made of others")


def _from_elsewhere(where: str, what: str) -> SourceError:
    return SourceError(
        f"{where}: {what}. Only what is in the file itself is read, since another file may be any "
        "of yours. Copy the values into one file (h5py: new['images'] = old['images'][...])."
    )


def _check_rows(array: Any, where: str) -> None:
    """Raise for an array that would take much more memory than it has in the file."""
    row = _row_bytes(array)
    check_limit("record_bytes", row, f"{where}: rows of {row:,} bytes")
    if array.chunks is None:
        is_written = array.id.get_storage_size() > 0
    else:
        # To read one row, all rows of its chunk are inflated.
        chunk = int(np.prod(array.chunks, dtype=object)) * array.dtype.itemsize
        check_limit("record_bytes", chunk, f"{where}: chunks of {chunk:,} bytes")
        sides = zip(array.shape, array.chunks, strict=True)
        is_written = array.id.get_num_chunks() == math.prod(-(-n // of) for n, of in sides)
    if not is_written:
        raise SourceError(
            f"{where}: a part of it was never written, so that HDF5 would make up its values "
            f"({array.fillvalue}). Write it again, as long as it has values."
        )


def _row_bytes(array: Any) -> int:
    return int(np.prod(array.shape[1:], dtype=object)) * int(array.dtype.itemsize)


def _class_names(array: Any, title: str) -> tuple[str, ...]:
    size = int(np.prod(array.shape, dtype=object))
    for limit, needed in (("nodes", size), ("text_bytes", size * array.dtype.itemsize)):
        check_limit(limit, needed, f"{title}, {array.name}: {size:,} names of classes")
    return tuple(
        name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
        for name in np.ravel(array[...]).tolist()
    )


def _images(arrays: dict[str, Any], title: str, asked: Asked) -> str:
    found = [name for name, array in arrays.items() if _is_pixels(array) or _is_encoded(array)]
    if not found:
        shapes = ", ".join(f"{name} {a.dtype}{a.shape}" for name, a in list(arrays.items())[:20])
        raise SourceError(
            f"{title}: no images in it, but {shapes or 'nothing'}. Needed is uint8 in the shape "
            "(images, height, width, channels) or (images, height, width), or rows of bytes."
        )
    return asked.choose_split(title, found)


def _is_pixels(array: Any) -> bool:
    if array.dtype != np.uint8 or 0 in array.shape:
        return False
    return array.ndim == 3 or (
        array.ndim == 4 and bool({1, 3, 4} & {array.shape[1], array.shape[3]})
    )


def _is_encoded(array: Any) -> bool:
    return (
        array.ndim == 1
        and array.dtype == object
        and bool(
            array.dtype.metadata and array.dtype.metadata.get("vlen") == np.uint8 and len(array)
        )
    )


def _columns(arrays: dict[str, Any], images: str, title: str) -> dict[str, Column]:
    """Return a column for each other array of as many rows; the one of labels is `label`."""
    count = len(arrays[images])
    others = {
        name: array
        for name, array in arrays.items()
        if name != images and array.ndim and len(array) == count and array.dtype.kind in "biuf"
    }
    flat = {name: array for name, array in others.items() if array.size == count}
    vectors = [name for name, array in others.items() if array.ndim == 2 and name not in flat]
    labels = _called_labels(flat) or _called_labels(vectors)
    if len(labels) > 1:
        raise SourceError(
            f"{title}: any of {', '.join(labels)} might be the labels of {images}. "
            "Rename all but one in a copy of the file."
        )
    columns = {}
    for name, array in others.items():
        column = Column(
            user_column_name(name), "fixed", array.dtype.newbyteorder("=").name, array.shape[1:]
        )
        if name in labels and name in flat:
            column = LABEL if array.dtype.kind in "biu" else REGRESSION_LABEL
        elif name in labels:  # a vector for each image, such as a multi-hot one
            column = replace(column, name=LABEL.name)
        columns[name] = column
    return columns


def _called_labels(names: Iterable[str]) -> list[str]:
    return [n for n in names if set(n.lower().replace("/", "_").split("_")) & LABEL_WORDS]


@dataclass(frozen=True, slots=True)
class _Reader:
    title: str
    name: str
    images: Any
    beside: dict[str, Any]
    columns: dict[str, Column]

    def rows(self, start: int, rows: int | None = None) -> Iterator[PackItem]:
        """Yield the samples from `start` on, read some rows at a time."""
        row_bytes = sum(map(_row_bytes, [self.images, *self.beside.values()])) or 1
        step = max(1, BYTES_PER_READ // row_bytes) if self.images.ndim > 1 else 1
        step = rows or step
        for first in range(start, len(self.images), step):
            block = self._read(self.images, first, step)
            beside = {name: self._read(array, first, step) for name, array in self.beside.items()}
            for row, image in enumerate(block):
                where = f"{self.title}, {self.name}[{first + row:,}]"
                data = bytes(image) if self.images.ndim == 1 else _png(image, where)
                columns = {
                    column.name: beside[name][row].reshape(column.shape)[()]
                    for name, column in self.columns.items()
                }
                yield PackItem(numbered_name(first + row, data), data, columns)

    def _read(self, array: Any, first: int, step: int) -> Any:
        try:
            return array[first : first + step]
        except (OSError, RuntimeError, MemoryError) as error:
            raise SourceError(f"{self.title}, row {first:,}: cannot be read ({error}).") from error


def _png(image: Any, where: str) -> bytes:
    if image.ndim == 3 and image.shape[2] not in {1, 3, 4}:
        image = image.transpose(1, 2, 0)
    return png_of_pixels(np.ascontiguousarray(image), where)
