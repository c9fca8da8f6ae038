"""Objects by fsspec: every scheme that obstore has not, such as hf://.

fsspec sends no conditions with its requests. A replaced object is then found by the checksums of
what is read, which are those of the index that was read first.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from penstock.errors import StorageError
from penstock.storage.address import Address
from penstock.storage.backend import PassingError, Stat, check_not_forked, not_found, refused

_THREADS = 16  # fsspec's calls wait; so many may wait at the same time
_IDENTITIES = ("ETag", "etag", "sha256", "lfs", "oid", "checksum", "uid", "mtime", "created")


class FsspecBackend:
    """One object, by fsspec."""

    def __init__(self, address: Address) -> None:
        check_not_forked("fsspec")
        self._address = address
        self._pool = ThreadPoolExecutor(_THREADS, "penstock-fsspec")
        fsspec = _import_fsspec(address)
        try:
            self._files, self._path = fsspec.core.url_to_fs(address.text)
        except ImportError as error:
            raise StorageError(
                f"{address}: reading {address.scheme}:// needs a further package ({error})."
            ) from error
        except ValueError as error:
            known = "s3, gs, az, abfs, http, https"
            raise StorageError(
                f"{address}: {address.scheme}:// is unknown. obstore reads {known}; fsspec, which "
                f"was asked for the rest, says: {error}."
            ) from error
        except Exception as error:
            raise StorageError(f"{address}: cannot be opened ({error}).") from error

    async def stat(self) -> Stat:
        """Ask for the object's size and for whatever tells it from others."""
        told = await self._call(self._files.info, self._path)
        size = told.get("size")
        if not isinstance(size, int) or told.get("type") == "directory":
            raise StorageError(
                f"{self._address}: a folder, or an object of unknown size, so that parts of it "
                "cannot be read. Name one .pen file."
            )
        found = [f"{name}={told[name]}" for name in _IDENTITIES if told.get(name) is not None]
        return Stat(size, " ".join(found))

    async def last_bytes(self, count: int) -> tuple[memoryview, Stat]:
        """Read the end, whose place follows from the size."""
        stat = await self.stat()
        return await self.read(max(0, stat.size - count), stat.size, stat), stat

    async def read(self, start: int, end: int, stat: Stat) -> memoryview:
        """Ask for a range."""
        del stat
        return memoryview(await self._call(self._files.cat_file, self._path, start, end))

    async def _call(self, function: Any, *arguments: Any) -> Any:
        check_not_forked("fsspec")
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._pool, function, *arguments)
        except FileNotFoundError as error:
            raise not_found(self._address) from error
        except PermissionError as error:
            raise refused(self._address, error) from error
        except Exception as error:
            raise PassingError(" ".join(str(error).split())[:300] or repr(error)) from error


def _import_fsspec(address: Address) -> Any:
    try:
        import fsspec
        import fsspec.core
    except ImportError as error:
        raise StorageError(
            f"{address}: {address.scheme}:// is read by fsspec, which is not installed. Type: pip "
            "install fsspec, and the package for the scheme (for hf://, huggingface_hub)."
        ) from error
    return fsspec
