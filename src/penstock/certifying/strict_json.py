"""JSON that may come from anybody: read as a whole, and taken apart key by key.

Whatever is not exactly as it should be is an error that says where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any, NoReturn, TypeVar

from penstock.errors import CertifyError
from penstock.limits import beyond, how_to_allow
from penstock.regular_file import open_regular

Value = TypeVar("Value")
DIGEST = re.compile(r"[0-9a-f]{64}")


def read_json(path: str | PathLike[str]) -> Any:
    """Return what a file holds; CertifyError if that is not JSON, or has a key twice."""
    place = fspath(path)
    try:
        with open_regular(place) as file:
            size = file.seek(0, 2)
            if beyond("text_bytes", size):
                raise CertifyError(
                    f"{place}: has {size:,} bytes. {how_to_allow('text_bytes', size)}."
                )
            file.seek(0)
            content = file.read()
    except OSError as error:
        raise CertifyError(f"{place}: {error.strerror}. Check the path.") from error
    try:
        return json.loads(
            content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        raise CertifyError(
            f"{place}: not JSON as it should be ({error}). It was probably cut short or changed; "
            "make the certificate anew."
        ) from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} comes twice")
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


class Fields:
    """The entries of an object, each of which must be taken exactly once."""

    def __init__(self, given: Any, where: str) -> None:
        if not isinstance(given, Mapping):
            raise CertifyError(f"{where}: must be an object, got {_short(given)}.")
        self._left = dict(given)
        self.where = where

    def take(self, name: str, read: Callable[[Any], Value | None], meant: str) -> Value:
        """Return what `read` makes of an entry; it returns None for what is wrong."""
        if name not in self._left:
            raise CertifyError(f"{self.where}: {name!r} is missing.")
        given = self._left.pop(name)
        found = read(given)
        if found is None:
            raise CertifyError(f"{self.where}: {name!r} must be {meant}, got {_short(given)}.")
        return found

    def take_or_none(
        self, name: str, read: Callable[[Any], Value | None], meant: str
    ) -> Value | None:
        """Return the same, or None if the entry is null."""
        if self._left.get(name, 0) is None:
            del self._left[name]
            return None
        return self.take(name, read, f"{meant}, or null")

    def end(self) -> None:
        """Raise if anything is left."""
        if self._left:
            raise CertifyError(
                f"{self.where}: {min(self._left)!r} is not known here. A newer penstock may have "
                "written this, or somebody changed it."
            )


def as_text(given: Any) -> str | None:
    """Read text that can be printed and written again."""
    if not isinstance(given, str):
        return None
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return given


def as_whole(given: Any) -> int | None:
    """Read a whole number of 0 or more."""
    is_whole = isinstance(given, int) and not isinstance(given, bool) and given >= 0
    return given if is_whole else None


def as_truth(given: Any) -> bool | None:
    """Read true or false."""
    return given if isinstance(given, bool) else None


def as_digest(given: Any) -> str | None:
    """Read a SHA-256 in hexadecimal."""
    return given if isinstance(given, str) and DIGEST.fullmatch(given) else None


def as_texts(given: Any) -> Mapping[str, str] | None:
    """Read an object whose values are texts."""
    if not isinstance(given, Mapping) or any(as_text(value) is None for value in given.values()):
        return None
    return dict(given) if all(as_text(name) is not None for name in given) else None


def _short(given: Any) -> str:
    text = json.dumps(given)
    return text if len(text) <= 60 else f"{text[:60]}..."
