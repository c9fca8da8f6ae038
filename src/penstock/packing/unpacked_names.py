"""Names of samples as `unpack` writes them: below the target, and no two samples to one file.

What cannot be a name of a file at all is refused when it is packed.
All others can be unpacked, under another name where it must be so:
an ending is added to an image of which only the pixels are kept, and names that meet get a number.
"""

from __future__ import annotations

import os
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from penstock.errors import PackError
from penstock.packing.format import RESTORES, STORAGES
from penstock.packing.read import PackFile
from penstock.packing.shards import PackSet

MOST_PART_BYTES = 255  # of a file's or folder's name: what Linux, macOS and Windows can do
MOST_PATH_BYTES = 4095  # of a path, on Linux
MOST_PARTS = 100
_MOST_ENDING_BYTES = 16  # longer ones are not taken for an ending
_JPEG_ENDINGS = (".jpg", ".jpeg", ".jpe", ".jfif")
_RAW, _BYTES = STORAGES.index("raw"), RESTORES.index("bytes")


def check_name(name: str) -> None:
    """Raise PackError, without the name before it, for a name that no file could be unpacked to."""
    reason = _what_is_wrong(name)
    if reason is not None:
        raise PackError(f"no file can be unpacked to that name: {reason}")


def _what_is_wrong(name: str) -> str | None:
    try:
        raw = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        return f"it is not Unicode ({error.reason})"
    parts = raw.split(b"/")
    if not raw or b"\0" in raw:
        return "it is empty" if not raw else "it has a zero byte"
    if any(part in {b"", b".", b".."} for part in parts):
        return 'it is not a path below a folder, without ".", ".." and empty parts'
    if len(raw) > MOST_PATH_BYTES:
        return f"it has {len(raw):,} bytes, at most {MOST_PATH_BYTES:,} are possible"
    if len(parts) > MOST_PARTS:
        return f"it leads {len(parts):,} folders deep, at most {MOST_PARTS} are possible"
    longest = max(map(len, parts))
    if longest > MOST_PART_BYTES:
        return f"a part of it has {longest:,} bytes, at most {MOST_PART_BYTES} are possible"
    return None


def unpacked_name(file: PackFile, index: int) -> str:
    """Return where `unpack` puts a sample, unless another is there; PackError if it leads out.

    The ending follows the content if that is no longer the original's.
    """
    name = file.name(index)
    reason = _what_is_wrong(name)
    if reason is None and (os.path.splitdrive(name)[0] or (os.sep != "/" and os.sep in name)):
        reason = "on this system it leads elsewhere"
    if reason is not None:
        raise PackError(
            f"{file.path}: sample {index:,} is named {name[:300]!r}, which is no path below the "
            f"target: {reason}. The file may be hostile; nothing was written for it."
        )
    if file.facts("restores")[index] == _BYTES:
        return name
    ending = os.path.splitext(name)[1].lower()
    if file.facts("storage")[index] == _RAW:
        return name if ending == ".png" else _with_ending(name, ".png")
    return name if ending in _JPEG_ENDINGS else _with_ending(name, ".jpg")


class UnpackedNames:
    """Where each sample of a data set goes in a folder.

    One that is the very same file as another, because the source lists it more than once, goes
    where that one is.
    """

    def __init__(self, data: PackSet, reserved: tuple[str, ...] = ()) -> None:
        self._data = data
        # Names themselves would take too much memory for large data sets.
        hashes, folders = array("q"), array("q", map(hash, reserved))
        last_folder = ""
        for index in range(len(data)):
            name = unpacked_name(*data.locate(index))
            hashes.append(hash(name))
            folder = name.rpartition("/")[0]
            if folder != last_folder:
                last_folder = folder
                while folder:
                    folders.append(hash(folder))
                    folder = folder.rpartition("/")[0]
        names, blocked = (np.array(found, np.int64) for found in (hashes, folders))
        self._used = np.unique(np.concatenate([names, blocked]))
        self._others: dict[int, str] = {}  # names that are not `unpacked_name`
        self._repeated: set[int] = set()
        _, inverse, counts = np.unique(names, return_inverse=True, return_counts=True)
        met = np.flatnonzero((counts[inverse] > 1) | np.isin(names, blocked))
        self._settle(met.tolist(), set(blocked.tolist()) if len(met) else set())

    def __getitem__(self, index: int) -> str:
        found = self._others.get(index)
        return unpacked_name(*self._data.locate(index)) if found is None else found

    def is_repeated(self, index: int) -> bool:
        """Whether another sample, which is written, is the same file."""
        return index in self._repeated

    def _settle(self, met: list[int], blocked: set[int]) -> None:
        """Find names for samples that would be written where a folder or another file is."""
        first_of: dict[str, int] = {}
        given: set[str] = set()
        numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))

        def was_renamed(index: int) -> bool:
            file, place = self._data.locate(index)
            return self[index] != file.name(place)

        for index in sorted(met, key=was_renamed):  # who has the name by itself keeps it
            name = self[index]
            first = first_of.setdefault(name, index)
            if first != index and self._are_same(first, index):
                self._repeated.add(index)
                self._others[index] = self[first]
            elif first != index or hash(name) in blocked:
                numbered = (_numbered(name, number) for number in numbers[name])
                free = (n for n in numbered if n not in given and not self._is_used(n))
                self._others[index] = next(free)
                given.add(self._others[index])

    def _is_used(self, name: str) -> bool:
        place = int(np.searchsorted(self._used, hash(name)))
        return place < len(self._used) and int(self._used[place]) == hash(name)

    def _are_same(self, first: int, second: int) -> bool:
        places = [self._data.locate(index) for index in (first, second)]
        one, two = (replace(file.sample(place), index=0, offset=0) for file, place in places)
        return one == two and len({file.record(place) for file, place in places}) == 1


def _numbered(name: str, number: int) -> str:
    stem, ending = os.path.splitext(name)
    if len(ending.encode("utf-8", "surrogateescape")) > _MOST_ENDING_BYTES:
        stem, ending = name, ""
    return _with_ending(stem, f".{number}{ending}")


def _with_ending(name: str, ending: str) -> str:
    """Add an ending; the last part of the name is cut if it gets too long."""
    folder, slash, last = name.rpartition("/")
    most_bytes = MOST_PART_BYTES - len(ending.encode("utf-8", "surrogateescape"))
    while len(last.encode("utf-8", "surrogateescape")) > most_bytes:
        last = last[:-1]
    return f"{folder}{slash}{last}{ending}"
