"""What a library that reaches a store must do: one request at a time, and tell faults apart.

Retries, deadlines and counts are ours (remote_object.py), so a backend tries once.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from penstock.errors import StorageError
from penstock.storage.address import Address
from penstock.storage.options import StorageOptions


class PassingError(Exception):
    """A request failed in a way that may pass: it is tried again."""


class ChangedError(Exception):
    """The object is no longer the one that was opened."""


class AbsentError(StorageError):
    """There is no such object."""


class ExistsError(Exception):
    """Another object has the address that a new one was to have."""


@dataclass(frozen=True, slots=True)
class Stat:
    """An object's size, and what tells it from others that had its address before or will have.

    `condition` is sent along with every request; a store that cannot check it has none.
    """

    size: int
    identity: str  # an etag in quotation marks, or a text that ends with a time, or nothing

    @property
    def condition(self) -> dict[str, Any]:
        """What obstore is told of it. Not kept, as there may be millions of objects."""
        if self.identity.startswith('"'):
            return {"if_match": self.identity}
        try:
            modified = datetime.fromisoformat(self.identity.rpartition(" ")[2])
        except ValueError:
            return {}
        return {"if_unmodified_since": modified}


class Backend(Protocol):
    """One object of a store. Raises PassingError, ChangedError or StorageError."""

    async def stat(self) -> Stat:
        """Return what the store says of the object."""
        ...

    async def last_bytes(self, count: int) -> tuple[memoryview, Stat]:
        """Return up to `count` bytes from the object's end; only where stores have suffixes."""
        ...

    async def read(self, start: int, end: int, stat: Stat) -> memoryview:
        """Return the bytes from `start` to `end` of the object that `stat` is about."""
        ...


_first_user: dict[str, int] = {}  # the process in which a library with threads was first used


def check_not_forked(library: str) -> None:
    """Raise in a process that was forked from one that has used the library already."""
    owner = _first_user.setdefault(library, os.getpid())
    if owner != os.getpid():
        raise StorageError(
            f"{library}: process {os.getpid()} was forked from process {owner}, which had used it "
            "already; its connections and threads do not survive that. Start processes by 'spawn' "
            "(multiprocessing.set_start_method, DataLoader's multiprocessing_context), or open "
            "the data set only in the process that reads it."
        )


def open_backend(address: Address, options: StorageOptions) -> Backend:
    """Return the way to an object; nothing is asked yet."""
    if address.by_obstore:
        from penstock.storage.by_obstore import ObstoreBackend

        return ObstoreBackend(address, options)
    from penstock.storage.by_fsspec import FsspecBackend

    return FsspecBackend(address)


def not_found(address: Address) -> AbsentError:
    """Return the error for an object that is not there."""
    return AbsentError(
        f"{address}: there is no such object. Check the address, and the variables that choose the "
        "account or endpoint (docs/object-stores.md)."
    )


def no_bucket(address: Address) -> StorageError:
    """Return the error for a bucket, or Azure's container, that is not there."""
    return StorageError(
        f"{address}: there is no such bucket or container. Make it with the store's own tool, or "
        "check the address, and the variables that choose the account or endpoint "
        "(docs/object-stores.md)."
    )


def refused(address: Address, said: object) -> StorageError:
    """Return the error for credentials that do not open the object."""
    return StorageError(
        f"{address}: the store refuses access ({_first_line(said)}). Check the credentials in the "
        "environment (docs/object-stores.md says which variables are read)."
    )


def _first_line(said: object) -> str:
    lines = str(said).strip().splitlines() or [type(said).__name__]
    return lines[0][:300]
