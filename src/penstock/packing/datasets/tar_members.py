"""Files in a tar archive, one after the other, with what tarfile lets pass checked.

`tarfile` takes a damaged header for the end of the archive, and gives short data for a cut member.
"""

from __future__ import annotations

import lzma
import os
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from penstock.errors import SourceError
from penstock.packing.datasets.files import unreadable
from penstock.packing.datasets.layout_source import Findings
from penstock.packing.datasets.names import safe_name
from penstock.resources import raise_if_refused
from penstock.sources.file_source import printable

LARGEST_MEMBER_BYTES = 1 << 31
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

    def open(self) -> IO[bytes]:
        """Return the member as a file."""
        file = self._tar.extractfile(self._info)
        if file is None:
            raise SourceError(f"{self.where}: not a regular file.")
        return file

    def read(self) -> bytes:
        """Return the member's bytes."""
        if self.size > LARGEST_MEMBER_BYTES:
            raise SourceError(f"{self.where}: {self.size:,} bytes are too many for one file.")
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
    path: str, findings: Findings | None = None, file: IO[bytes] | None = None
) -> Iterator[TarMember]:
    """Yield the regular files of an archive, in its order.

    Args:
        path: The archive, plain or compressed; with `file`, only what errors call it.
        findings: Where to count what was left out.
        file: The archive itself, if it is inside another one.
    """
    title = printable(path)
    try:
        with tarfile.open(path if file is None else None, "r:*", fileobj=file) as tar:
            yield from _walk(tar, title, findings)
    except _DAMAGE as error:
        raise _damaged(title, error) from error
    except OSError as error:
        raise unreadable(title, error) from error


def _walk(tar: tarfile.TarFile, title: str, findings: Findings | None) -> Iterator[TarMember]:
    while (info := tar.next()) is not None:
        # It would remember every member of a large archive.
        tar.members.clear()  # type: ignore[attr-defined]
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


def is_tar_name(name: str) -> bool:
    """Tell from its name whether a file is a tar archive."""
    return name.lower().endswith((".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz"))


def tar_stem(path: str) -> str:
    """Return an archive's name without folder and extensions."""
    return os.path.basename(path).split(".tar")[0].removesuffix(".tgz")


def _damaged(where: str, error: Exception) -> SourceError:
    return SourceError(
        f"{where}: not a valid tar archive ({error}). It may have been cut short; get it again."
    )
