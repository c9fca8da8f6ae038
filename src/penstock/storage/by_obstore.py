"""Objects by obstore: S3, Google's and Azure's stores, and plain web servers.

Its own retries are off where ours can do it, which are counted and obey a deadline for the whole.
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
    ExistsError,
    PassingError,
    Stat,
    check_not_forked,
    no_bucket,
    not_found,
    refused,
)
from penstock.storage.options import StorageOptions

_STATUS = re.compile(r"status(?: code)?:? ([1-5][0-9][0-9])\b")
_PASSING = {408, 409, 425, 429}  # 409: somebody else writes to the same address just now
_NO_BUCKET = (
    "<Code>NoSuchBucket<",
    "<Code>ContainerNotFound<",
    "The specified bucket does not exist",
)
_FULL = ("<Code>QuotaExceeded<", "<Code>InsufficientStorage<", "<Code>InsufficientCapacity<")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT")


class ObstoreBackend:
    """One object, by obstore."""

    def __init__(self, address: Address, options: StorageOptions) -> None:
        check_not_forked("obstore")
        self._address = address
        self._obstore = import_obstore(address)
        self._name = unquote(address.name) if address.is_web else address.name
        self._store = open_store(address, address.container, options)

    async def stat(self) -> Stat:
        """Ask for the object's size and etag."""
        check_not_forked("obstore")
        try:
            return stat_of(await self._obstore.head_async(self._store, self._name))
        except Exception as error:
            raise told(self._address, error) from error

    async def last_bytes(self, count: int) -> tuple[memoryview, Stat]:
        """Ask for a suffix; its answer has size and etag as well."""
        check_not_forked("obstore")
        try:
            options = {"range": {"suffix": count}}
            result = await self._obstore.get_async(self._store, self._name, options=options)
            stat = stat_of(result.meta)
            content = memoryview(await result.bytes_async())
        except Exception as error:
            raise told(self._address, error) from error
        if len(content) != min(count, stat.size):
            raise PassingError(f"{len(content):,} of the last {count:,} bytes arrived")
        return content, stat

    async def read(self, start: int, end: int, stat: Stat) -> memoryview:
        """Ask for a range, on condition that the object is still the same."""
        check_not_forked("obstore")
        options = {"range": (start, end), **stat.condition}
        try:
            result = await self._obstore.get_async(self._store, self._name, options=options)
            size, content = result.meta["size"], memoryview(await result.bytes_async())
        except Exception as error:
            raise told(self._address, error) from error
        if size != stat.size:
            raise ChangedError(f"it has {size:,} bytes")
        return content


def open_store(
    address: Address,
    container: str,
    options: StorageOptions,
    *,
    upload_s: float | None = None,
    retries: bool = False,
) -> Any:
    """Return obstore's way to a container; nothing is asked yet.

    With `retries`, obstore tries again by itself, for what only it can go on with.
    `upload_s` is for large uploads: how long one may take. The answer to it comes when all is sent,
    so that the usual time without a byte of an answer would be too short.
    """
    stall_s = options.stall_s if upload_s is None else upload_s
    try:
        return import_obstore(address).store.from_url(
            container,
            client_options={
                "timeout": timedelta(seconds=upload_s or options.request_s),
                "read_timeout": timedelta(seconds=stall_s),
                "connect_timeout": timedelta(seconds=min(options.stall_s, 10.0)),
                "allow_http": _allows_http(address),
            },
            retry_config=_retries(options) if retries else _NO_RETRIES,
        )
    except Exception as error:
        raise StorageError(f"{address}: cannot be opened ({error}).") from error


_NO_RETRIES = {"max_retries": 0, "retry_timeout": timedelta(0)}


def _retries(options: StorageOptions) -> dict[str, Any]:
    pauses = {"init_backoff": options.first_backoff_s, "max_backoff": options.longest_backoff_s}
    return {
        "max_retries": options.attempts - 1,
        "retry_timeout": timedelta(seconds=options.deadline_s),
        "backoff": {name: timedelta(seconds=value) for name, value in pauses.items()},
    }


def stat_of(meta: Any) -> Stat:
    """Return what a store says of an object, in a list or when it is asked for the object."""
    etag, modified = meta.get("e_tag"), meta.get("last_modified")
    # If-Match compares strong etags only, so a weak one would never match.
    if etag and not etag.startswith("W/"):
        etag = etag if etag.startswith('"') else f'"{etag}"'  # as Azure's lists have it
        return Stat(int(meta["size"]), etag)
    identity = f"{etag or ''} {modified.isoformat() if modified else ''}".strip()
    return Stat(int(meta["size"]), identity)


def told(address: Address, error: Exception) -> Exception:
    """Return what an error of obstore's means: one of the classes that `Backend` raises."""
    errors = import_obstore(address).exceptions
    if isinstance(error, errors.AlreadyExistsError):
        return ExistsError(str(address))
    if isinstance(error, errors.PreconditionError):
        return ChangedError("its etag or time has changed")
    said = " ".join(str(error).split())
    if any(code in said for code in _NO_BUCKET):
        return no_bucket(address)
    if isinstance(error, (errors.NotFoundError, FileNotFoundError)):
        return not_found(address)
    if any(code in said for code in _FULL):
        return StorageError(
            f"{address}: the bucket is full: its quota, or that of the account, is used up. Make "
            "room, then go on with --resume (resume=True)."
        )
    if isinstance(error, (errors.PermissionDeniedError, errors.UnauthenticatedError)):
        return refused(address, _shortened(said))
    status = _STATUS.search(said)
    code = int(status[1]) if status else 0
    if code in {401, 403}:
        return refused(address, _shortened(said))
    if isinstance(error, ValueError) or "Error parsing Path" in said:
        return StorageError(
            f"{address}: an object with a name that obstore refuses ({said[:300]})."
        )
    if 400 <= code < 500 and code not in _PASSING:
        return StorageError(f"{address}: the store answers {code} ({said[:300]}).")
    return PassingError(_shortened(said))


def _shortened(said: str) -> str:
    """Cut what obstore adds for its own developers."""
    return said.partition("Debug source:")[0].strip()[:300]


def _allows_http(address: Address) -> bool:
    """Whether somebody has asked for plain http in so many words."""
    endpoints = (os.environ.get(name, "") for name in _ENDPOINTS)
    return address.scheme == "http" or any(text.startswith("http://") for text in endpoints)


def import_obstore(address: Address) -> Any:
    """Return the module, with its stores and exceptions; or say how to get it."""
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError as error:
        raise StorageError(
            f"{address}: reading {address.scheme}:// needs obstore. "
            "Type: pip install 'penstock[stores]'"
        ) from error
    return obstore
