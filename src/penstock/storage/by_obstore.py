"""Objects by obstore: S3, Google's and Azure's stores, and plain web servers.

Its own retries are off, for ours are counted and obey a deadline for the whole read.
"""

from __future__ import annotations

import os
import re
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from penstock.errors import StorageError
from penstock.storage.address import Address
from penstock.storage.backend import (
    ChangedError,
    PassingError,
    Stat,
    check_not_forked,
    not_found,
    refused,
)
from penstock.storage.options import StorageOptions

_STATUS = re.compile(r"status(?: code)?:? ([1-5][0-9][0-9])\b")
_PASSING = {408, 425, 429}
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT")


class ObstoreBackend:
    """One object, by obstore."""

    def __init__(self, address: Address, options: StorageOptions) -> None:
        check_not_forked("obstore")
        self._address = address
        self._obstore, self._errors = _import_obstore(address)
        self._name = unquote(address.name) if address.is_web else address.name
        try:
            self._store = self._obstore.store.from_url(
                address.container,
                client_options={
                    "timeout": timedelta(seconds=options.request_s),
                    "read_timeout": timedelta(seconds=options.stall_s),
                    "connect_timeout": timedelta(seconds=min(options.stall_s, 10.0)),
                    "allow_http": _allows_http(address),
                },
                retry_config={"max_retries": 0, "retry_timeout": timedelta(0)},
            )
        except Exception as error:
            raise StorageError(f"{address}: cannot be opened ({error}).") from error

    async def stat(self) -> Stat:
        """Ask for the object's size and etag."""
        check_not_forked("obstore")
        try:
            return self._stat_of(await self._obstore.head_async(self._store, self._name))
        except Exception as error:
            raise self._told(error) from error

    async def last_bytes(self, count: int) -> tuple[memoryview, Stat]:
        """Ask for a suffix; its answer has size and etag as well."""
        check_not_forked("obstore")
        try:
            options = {"range": {"suffix": count}}
            result = await self._obstore.get_async(self._store, self._name, options=options)
            stat = self._stat_of(result.meta)
            content = memoryview(await result.bytes_async())
        except Exception as error:
            raise self._told(error) from error
        if len(content) != min(count, stat.size):
            raise PassingError(f"{len(content):,} of the last {count:,} bytes arrived")
        return content, stat

    async def read(self, start: int, end: int, stat: Stat) -> memoryview:
        """Ask for a range, on condition that the object is still the same."""
        check_not_forked("obstore")
        options = {"range": (start, end), **dict(stat.condition)}
        try:
            result = await self._obstore.get_async(self._store, self._name, options=options)
            size, content = result.meta["size"], memoryview(await result.bytes_async())
        except Exception as error:
            raise self._told(error) from error
        if size != stat.size:
            raise ChangedError(f"it has {size:,} bytes")
        return content

    def _stat_of(self, meta: Any) -> Stat:
        etag, modified = meta.get("e_tag"), meta.get("last_modified")
        # If-Match compares strong etags only, so a weak one would never match.
        if etag and not etag.startswith("W/"):
            return Stat(int(meta["size"]), etag, (("if_match", etag),))
        identity = f"{etag or ''} {modified.isoformat() if modified else ''}".strip()
        condition = (("if_unmodified_since", modified),) if modified else ()
        return Stat(int(meta["size"]), identity, condition)

    def _told(self, error: Exception) -> Exception:
        errors = self._errors
        if isinstance(error, errors.PreconditionError):
            return ChangedError("its etag or time has changed")
        if isinstance(error, (errors.NotFoundError, FileNotFoundError)):
            return not_found(self._address)
        if isinstance(error, (errors.PermissionDeniedError, errors.UnauthenticatedError)):
            return refused(self._address, error)
        said = " ".join(str(error).split())
        status = _STATUS.search(said)
        code = int(status[1]) if status else 0
        if code in {401, 403}:
            return refused(self._address, said)
        if 400 <= code < 500 and code not in _PASSING:
            return StorageError(f"{self._address}: the store answers {code} ({said[:300]}).")
        return PassingError(_shortened(said))


def _shortened(said: str) -> str:
    """Cut what obstore adds for its own developers."""
    return said.partition("Debug source:")[0].strip()[:300]


def _allows_http(address: Address) -> bool:
    """Whether somebody has asked for plain http in so many words."""
    endpoints = (os.environ.get(name, "") for name in _ENDPOINTS)
    return address.scheme == "http" or any(text.startswith("http://") for text in endpoints)


def _import_obstore(address: Address) -> tuple[Any, Any]:
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError as error:
        raise StorageError(
            f"{address}: reading {address.scheme}:// needs obstore. "
            "Type: pip install 'penstock[stores]'"
        ) from error
    return obstore, obstore.exceptions
