"""The pixels that a certificate is about, in an .npz file: one array for each image.

NumPy reads it (`numpy.load`). Here every array is checked against the certificate before a byte of
it is read, and by its hash afterwards.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from penstock.certifying.certificate import Certificate
from penstock.certifying.images import BFLOAT16, Item, Pixels
from penstock.errors import CertifyError, OutputError
from penstock.limits import beyond, how_to_allow
from penstock.regular_file import require_regular

if TYPE_CHECKING:
    from typing_extensions import Self

# What zipfile and zlib raise on damaged files; encrypted ones are RuntimeErrors.
_DAMAGE = (
    *(OSError, ValueError, EOFError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error),
)
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same pixels give the same file
_HEADER_BYTES = 1 << 12  # of an array; far more than it takes


def member_of(position: int) -> str:
    """Return what the array of an image is called."""
    return f"{position:08}.npy"


class PixelWriter:
    """Writes arrays one by one; the file has its name only once it is whole."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._part = f"{self._path}.part"
        try:
            self._zip = zipfile.ZipFile(self._part, "w", zipfile.ZIP_STORED)
        except OSError as error:
            raise self._cannot(error) from error

    def add(self, item: Item) -> None:
        """Write the pixels of an image."""
        array = np.ascontiguousarray(item.pixels().stored)
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        buffer = BytesIO()
        np.lib.format.write_array(buffer, little, version=(1, 0), allow_pickle=False)
        entry = zipfile.ZipInfo(member_of(item.position), _LONG_AGO)
        try:
            self._zip.writestr(entry, buffer.getbuffer())
        except OSError as error:
            raise self._cannot(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self._zip.close()
            if error is None:
                os.replace(self._part, self._path)
        except OSError as failed:
            if error is None:
                raise self._cannot(failed) from failed
        finally:
            with suppress(OSError):
                os.remove(self._part)

    def _cannot(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self._path}: cannot write the pixels: {error.strerror}. Name a file in a folder "
            "that you may write to, on a disk with room for it."
        )


class PixelFile:
    """The pixels of a certificate's images, read one by one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        try:
            require_regular(self._path)
            self._zip = zipfile.ZipFile(self._path)
        except _DAMAGE as error:
            raise CertifyError(
                f"{self._path}: the pixels cannot be read ({error}). Make them anew with --pixels, "
                "or move the file away to compare hashes alone."
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def loader(self, image: Item) -> Callable[[], Pixels]:
        """Return what reads the pixels of an image."""
        return partial(self._load, image)

    def _load(self, image: Item) -> Pixels:
        where = f"{self._path}: image {image.position:,}"
        bits = np.dtype(np.uint16 if image.dtype == BFLOAT16 else image.dtype).newbyteorder("<")
        size = math.prod(image.shape) * bits.itemsize
        if beyond("record_bytes", size):
            raise CertifyError(
                f"{where}: has {size:,} bytes. {how_to_allow('record_bytes', size)}."
            )
        try:
            entry = self._zip.getinfo(member_of(image.position))
            if entry.file_size > size + _HEADER_BYTES:
                raise self._damaged(where, f"{entry.file_size:,} bytes for {size:,} of pixels")
            with self._zip.open(entry) as file:
                stored = _read_array(file, image.shape, bits, size)
        except KeyError as error:
            raise self._damaged(where, "it is missing") from error
        except CertifyError:
            raise
        except _DAMAGE as error:
            raise self._damaged(where, f"{error}") from error
        found = Pixels(stored, image.dtype)
        if found.digest() != image.digest:
            raise self._damaged(where, "its hash is not that of the certificate")
        return found

    @staticmethod
    def _damaged(where: str, what: str) -> CertifyError:
        return CertifyError(
            f"{where}: these are not the pixels of the certificate ({what}). Make both anew with "
            "--save and --pixels, or move this file away to compare hashes alone."
        )


def open_pixels(certificate: Certificate, place: str) -> PixelFile | None:
    """Return the pixels beside a certificate that was read from `place`; None if there are none."""
    if certificate.pixels is None:
        return None
    path = os.path.join(os.path.dirname(os.path.abspath(place)), certificate.pixels)
    return PixelFile(path) if os.path.exists(path) else None


def _read_array(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> Any:
    """Return an array after its header is found to be what the certificate says."""
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array of version {version}")
    said = np.lib.format.read_array_header_1_0(file)
    if said != (shape, False, dtype):
        raise ValueError(f"an array of {said[0]} {said[2]} for {shape} {dtype}")
    content = file.read(size)
    if len(content) != size or file.read(1):
        raise ValueError("its length is not that of the image")
    return np.frombuffer(content, dtype).reshape(shape)
