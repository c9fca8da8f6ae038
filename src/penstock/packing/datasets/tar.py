"""Files in a tar archive, one after the other, with what tarfile lets pass checked.

`tarfile` takes a damaged header for the end of the archive, and gives short data for a cut member.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, cast

from penstock.errors import SourceError
from penstock.packing.datasets.files import check_limit, names_in, safe_name, unreadable
from penstock.packing.datasets.layout_source import Findings
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused

TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
LINKS = "links and special files in the archive were left out"
NO_END = "archives lack the mark at their end, so they may have been cut short"
_DAMAGE = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, ValueError)


@dataclass(frozen=True, slots=True)
class TarMember:
    """One file in an archive; read it before taking the next."""

    archive: str
    name: str  # safe: below the folder one would unpack to
    size: int
    _tar: tarfile.TarFile
    _info: tarfile.TarInfo

    @property
    def where(self) -> str:
        """How errors call this file."""
        return f"{self.archive}, {printable(self.name)} (byte {self._info.offset:,})"

    @property
    def start(self) -> int:
        """Where in the archive it begins: `tar_members` can start there."""
        return self._info.offset

    def open(self) -> IO[bytes]:
        """Return the member as a file."""
        file = self._tar.extractfile(self._info)
        if file is None:
            raise SourceError(f"{self.where}: not a regular file.")
        return file

    def read(self) -> bytes:
        """Return the member's bytes."""
        check_limit("record_bytes", self.size, f"{self.where}: {self.size:,} bytes")
        try:
            data = self.open().read()
        except (OSError, *_DAMAGE) as error:
            raise_if_refused(error, self.where)
            raise _damaged(self.where, error) from error
        if len(data) != self.size:
            raise SourceError(
                f"{self.where}: {len(data):,} of its {self.size:,} bytes are there. "
                "The archive was cut short; get it again."
            )
        return data


def tar_members(
    path: str, findings: Findings | None = None, file: IO[bytes] | None = None, *, start: int = 0
) -> Iterator[TarMember]:
    """Yield the regular files of an archive, in its order.

    Args:
        path: The archive, plain or compressed; with `file`, only what errors call it.
        findings: Where to count what was left out.
        file: The archive itself, if it is inside another one.
        start: Where the first file to yield begins.
    """
    title = printable(path)
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(open_regular(path)) if file is None else file
            plain = _Bounded(stack.enter_context(_decompressed(archive)), title)
            headers = {}
            if start:  # what is said at the beginning holds for all files
                with tarfile.open(fileobj=plain, mode="r:") as tar:
                    headers = dict(tar.pax_headers)
                plain.seek(start)
            tar = stack.enter_context(tarfile.open(fileobj=plain, mode="r:", pax_headers=headers))
            yield from _walk(tar, title, findings)
    except _DAMAGE as error:
        raise _damaged(title, error) from error
    except OSError as error:
        raise unreadable(title, error) from error


def _decompressed(archive: IO[bytes]) -> IO[bytes]:
    """Return an archive's plain bytes, whatever its name says of how it is compressed."""
    start = archive.read(6)
    archive.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(archive))
    if start.startswith(b"BZh"):
        return bz2.open(archive)
    if start == b"\xfd7zXZ\0" or start.startswith(b"\x5d\0\0\x80"):
        return lzma.open(archive)
    return archive


class _Bounded(io.RawIOBase):
    """An archive that hands out no more at a time than one file in it may have.

    `tarfile` reads the headers of long names at once, however long those say that they are.
    """

    def __init__(self, archive: IO[bytes], title: str) -> None:
        self._archive, self._title = archive, title

    def read(self, size: int = -1) -> bytes:
        needed = size - tarfile.BLOCKSIZE
        if size < 0:
            raise SourceError(f"{self._title}: all of it was asked for at once.")
        check_limit("record_bytes", needed, f"{self._title}: {needed:,} bytes in one piece")
        return self._archive.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._archive.seek(offset, whence)

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._archive.tell()


def _walk(tar: tarfile.TarFile, title: str, findings: Findings | None) -> Iterator[TarMember]:
    while (info := tar.next()) is not None:
        # It would remember every member of a large archive.
        tar.members.clear()  # type: ignore[attr-defined]
        if info.size < 0 or tar.offset <= info.offset:
            raise SourceError(
                f"{title}, byte {info.offset:,}: a file of {info.size:,} bytes. "
                "The archive is damaged; get it again."
            )
        if info.isreg():
            name = safe_name(info.name, f"{title}, byte {info.offset:,}")
            yield TarMember(title, name, info.size, tar, info)
        elif not info.isdir() and findings is not None:
            findings.add(LINKS, f"{title}, {printable(info.name)}")
    _require_end(tar, title, findings)


def _require_end(tar: tarfile.TarFile, title: str, findings: Findings | None) -> None:
    archive = tar.fileobj
    if archive is None:
        return
    archive.seek(tar.offset)
    block = archive.read(tarfile.BLOCKSIZE)
    if block.count(0) != len(block):
        raise SourceError(
            f"{title}, byte {tar.offset:,}: no valid header of a file in the archive. "
            "The archive is damaged; get it again."
        )
    if not block and findings is not None:
        findings.add(NO_END, title)


def tars_at(path: str) -> list[str]:
    """Return the tar archives that a path stands for, by their names: itself, or a folder's."""
    names = names_in(path) if os.path.isdir(path) else [path]
    return [os.path.join(path, n) if n != path else path for n in names if n.lower().endswith(TAR)]


def why_sequential(paths: list[str]) -> str:
    """Return why files of these archives cannot be read in any order; empty if they can."""
    for path in paths:
        try:
            with open_regular(path) as archive, _decompressed(archive) as plain:
                if plain is not archive:
                    return "the archive is compressed"
        except OSError as error:
            raise unreadable(path, error) from error
    return ""


def tar_stem(path: str) -> str:
    """Return an archive's name without folder and extensions."""
    return os.path.basename(path).split(".tar")[0].removesuffix(".tgz")


def _damaged(where: str, error: Exception) -> SourceError:
    return SourceError(
        f"{where}: not a valid tar archive ({error}). It may have been cut short; get it again."
    )
