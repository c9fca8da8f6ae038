"""Where an object is: `s3://bucket/train.pen` and the like, read once and checked.

obstore knows the large stores and plain web servers; any other scheme is left to fsspec.
Credentials never stand in an address: both libraries take them from the environment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from penstock.errors import StorageError
from penstock.printable import printable

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # a drive's letter is no scheme
_OBSTORE = frozenset({"s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "http", "https"})
_AZURE = frozenset({"az", "adl", "azure", "abfs", "abfss"})


@dataclass(frozen=True, slots=True)
class Address:
    """One object, or the folder that objects lie in."""

    text: str
    scheme: str

    @property
    def is_web(self) -> bool:
        """Whether a plain web server has it, which can list nothing."""
        return self.scheme in {"http", "https"}

    @property
    def by_obstore(self) -> bool:
        """Whether obstore reads it; fsspec reads the others."""
        return self.scheme in _OBSTORE

    @property
    def has_suffixes(self) -> bool:
        """Whether the last bytes can be asked for before the size is known; Azure refuses that."""
        return self.by_obstore and self.scheme not in _AZURE

    @property
    def container(self) -> str:
        """The address up to the last slash, which a store is opened with."""
        return self.text.rpartition("/")[0]

    @property
    def folder(self) -> Address:
        """The folder that the object lies in, which may be the bucket."""
        return Address(self.container, self.scheme)

    @property
    def name(self) -> str:
        """What stands after the last slash."""
        return self.text.rpartition("/")[2]

    def beside(self, name: str) -> Address:
        """Return the address of an object in this folder."""
        return Address(f"{self.text.rstrip('/')}/{name}", self.scheme)

    def __str__(self) -> str:
        return printable(self.text)


def is_address(data: Any) -> bool:
    """Whether this is an address, and not a path."""
    return isinstance(data, str) and _ADDRESS.match(data) is not None


def read_address(text: str) -> Address:
    """Read an address, or say what is wrong with it."""
    match = _ADDRESS.match(text)
    if match is None:
        raise StorageError(
            f"{text}: not an address. Write SCHEME://BUCKET/NAME, as in s3://bucket/train.pen."
        )
    scheme = match[1].lower()
    if scheme == "file":
        raise StorageError(f"{text}: a file of this machine. Give its path alone.")
    address = Address(scheme + text[len(match[1]) :], scheme)
    rest = text[match.end() :]
    if "@" in rest.partition("/")[0] and scheme not in _AZURE:
        host = rest.partition("/")[0].rpartition("@")[2]
        raise StorageError(
            f"{scheme}://...@{host}: an address must not have a password in it, for addresses are "
            "printed. Give credentials in environment variables (docs/object-stores.md)."
        )
    if address.is_web and (urlsplit(text).query or urlsplit(text).fragment):
        raise StorageError(
            f"{text.partition('?')[0]}: an address must end with the object's name; what follows "
            "'?' or '#' is not sent. Use the store's own scheme (s3://, gs://, az://) with "
            "credentials instead of a signed address."
        )
    bucket, slash, key = rest.partition("/")
    if not bucket or (address.by_obstore and not (slash and key.strip("/"))):
        raise StorageError(
            f"{text}: names no object. Write {scheme}://BUCKET/NAME, "
            f"as in {scheme}://bucket/train.pen."
        )
    if any(word in {".", ".."} for word in key.split("/")):
        raise StorageError(
            f"{text}: '.' and '..' are no names of folders in a store. Write it out."
        )
    return address
