"""Files and folders of a data set: mapping, listing, and finding images."""

from __future__ import annotations

import mmap
import os

from penstock.errors import SourceError
from penstock.resources import raise_if_refused
from penstock.sources.file_source import printable
from penstock.sources.scan import IMAGE_EXTENSIONS


def map_file(path: str) -> bytes | mmap.mmap:
    """Map a file into memory for reading; an empty file, which cannot be mapped, is b""."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise unreadable(path, error) from error


def read_bytes(path: str, limit: int) -> bytes:
    """Read a small file, such as one image's labels; one above `limit` bytes is refused."""
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > limit:
        raise SourceError(
            f"{printable(path)}: more than {limit:,} bytes, too many for such a file. "
            "Is this the right file?"
        )
    return data


def read_text(path: str, limit: int) -> str:
    """Read a small text file in UTF-8."""
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
