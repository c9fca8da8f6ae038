"""Files and folders of a data set: mapping, listing, and finding images."""

from __future__ import annotations

import os

from penstock._core import MappedFile
from penstock.errors import SourceError
from penstock.limits import how_to_allow, limits_in_force
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused
from penstock.sources.scan import IMAGE_EXTENSIONS


class MappedInput:
    """A file mapped into memory, of which slices are copies.

    If it is cut short while it is mapped, or its disk fails, that is a SourceError.
    """

    def __init__(self, path: str) -> None:
        self._title = printable(path)
        self._file: MappedFile | None = None  # none of an empty file, which cannot be mapped
        try:
            with open_regular(path) as file:
                if os.fstat(file.fileno()).st_size:
                    self._file = MappedFile(file.fileno())
        except OSError as error:
            raise unreadable(path, error) from error
        self.view = memoryview(b"") if self._file is None else self._file.bytes.data

    def __len__(self) -> int:
        return len(self.view)

    def __getitem__(self, span: slice) -> bytes:
        copied = bytes(self.view[span])
        self.check()
        return copied

    def check(self) -> None:
        """Raise SourceError if something that was read through `view` was no longer there."""
        file = self._file
        # Behind the end of a file, the rest of its last page reads as zeros, without a fault.
        if file is not None and (file.lost or os.fstat(file.descriptor).st_size < len(self.view)):
            raise SourceError(
                f"{self._title}: was cut short while it was read, or its disk failed. Get it again."
            )


def read_bytes(path: str, limit: str) -> bytes:
    """Read a whole file; `limit` is the name of the one in `Limits` that holds for it."""
    allowed: int = getattr(limits_in_force(), limit)
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(allowed + 1) if size <= allowed else b""
    except OSError as error:
        raise unreadable(path, error) from error
    size = max(size, len(data))
    if size > allowed:
        raise SourceError(
            f"{printable(path)}: {size:,} bytes. Is this the right file? "
            f"{how_to_allow(limit, size)}."
        )
    return data


def read_text(path: str, limit: str) -> str:
    """Read a whole text file in UTF-8."""
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{printable(path)}, byte {error.start:,}: not UTF-8 text. Save it as UTF-8."
        ) from error


def names_in(folder: str) -> list[str]:
    """Return the names in a folder, sorted."""
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise unreadable(folder, error) from error


def images_below(folder: str) -> list[str]:
    """Return the image files below a folder, relative to it with "/", sorted."""
    found = []

    def refuse(error: OSError) -> None:
        raise unreadable(error.filename, error) from error

    for directory, _, names in os.walk(folder, onerror=refuse):
        prefix = os.path.relpath(directory, folder).replace(os.sep, "/") + "/"
        prefix = "" if prefix == "./" else prefix
        found += [prefix + name for name in names if is_image_name(name)]
    return sorted(found)


def is_image_name(name: str) -> bool:
    """Tell from its extension whether a file is an image."""
    return name.lower().endswith(IMAGE_EXTENSIONS)


def unreadable(path: str, error: OSError) -> SourceError:
    """Return the error for a file or folder that the system does not let us read."""
    raise_if_refused(error, printable(path))
    return SourceError(f"{printable(path)}: it cannot be read ({error.strerror}). Check the path.")
