"""A data set in packed form: one file, or a folder of shards with a manifest."""

from __future__ import annotations

import bisect
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass

import numpy as np

from penstock._core import keep_map_guard_on_top
from penstock.errors import PackError
from penstock.geometry import Bools, Ints
from penstock.limits import how_to_allow, limits_in_force
from penstock.packing.format import SUFFIX
from penstock.packing.items import Column
from penstock.packing.pack_index import SampleFacts
from penstock.packing.read import PackFile
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused
from penstock.storage.address import is_address

MANIFEST = "manifest.json"
UNFINISHED = "unfinished-pack.json"  # lies in a folder of a store until the manifest does
_KIND = ("penstock shards", 1)  # format and version of a manifest
_SHARD = re.compile(rf"[0-9]{{5,9}}-of-([0-9]{{5,9}}){re.escape(SUFFIX)}")


class PackSet:
    """The samples of one or more packed files, in order."""

    def __init__(self, path: str, files: Sequence[PackFile]) -> None:
        self.path = path
        self.files = tuple(files)
        self._ends: list[int] = []
        for file in self.files:
            self._ends.append(len(file) + (self._ends[-1] if self._ends else 0))
        first = self.files[0]
        for file in self.files[1:]:
            if file.schema != first.schema or _classes(file) != _classes(first):
                raise PackError(
                    f"{file.path}: other columns or classes than {first.path}. "
                    "The shards are not of one pack; pack again."
                )

    def __len__(self) -> int:
        return self._ends[-1]

    @property
    def schema(self) -> tuple[Column, ...]:
        """The user's columns."""
        return self.files[0].schema

    @property
    def lossy(self) -> bool:
        """Whether images were re-encoded on request."""
        return any(file.lossy for file in self.files)

    @property
    def file_bytes(self) -> int:
        """Size of all files, without the manifest."""
        return sum(file.file_bytes for file in self.files)

    def table(self, name: str) -> tuple[str, ...] | None:
        """Return a table of texts, such as `classes`, or None."""
        return self.files[0].table(name)

    def locate(self, index: int) -> tuple[PackFile, int]:
        """Return the file that holds a sample, and the sample's place in it."""
        if not 0 <= index < len(self):
            raise IndexError(f"{self.path}: sample {index:,} of {len(self):,}")
        keep_map_guard_on_top()  # whatever is read of a sample, it is located first
        number = bisect.bisect_right(self._ends, index)
        return self.files[number], index - (self._ends[number] - len(self.files[number]))

    def locate_all(self, indices: Ints) -> tuple[Ints, Ints]:
        """Return for each sample the number of its file, and its place in it."""
        if len(indices) and not (indices.min() >= 0 and indices.max() < len(self)):
            raise IndexError(f"{self.path}: samples {indices} of {len(self):,}")
        keep_map_guard_on_top()
        if len(self.files) == 1:
            return np.zeros(len(indices), dtype=np.int64), indices
        ends = np.array(self._ends)
        numbers = np.searchsorted(ends, indices, side="right")
        return numbers, indices - np.concatenate([[0], ends])[numbers]

    def by_file(self, indices: Ints) -> Iterator[tuple[int, Bools | slice, Ints]]:
        """Sort samples by file: yields its number, which of `indices` it has, and their places."""
        numbers, places = self.locate_all(indices)
        if len(self.files) == 1:  # nothing to sort, for small images an important part of the work
            yield 0, slice(None), places
            return
        for number in np.unique(numbers).tolist():
            here = numbers == number
            yield number, here, places[here]

    def check_unchanged(self, indices: Ints | None = None) -> None:
        """Raise PackError if a file was changed while it was open, see PackFile.

        Looks at the files, and if need be at the records, of these samples; None for all files.
        """
        if indices is None:
            for file in self.files:
                file.check_unchanged()
            return
        for number, _, places in self.by_file(indices):
            self.files[number].check_unchanged(places.tolist())

    @contextmanager
    def watched(self) -> Iterator[None]:
        """What is read in this context is thrown away, with PackError, if a file has changed."""
        with ExitStack() as stack:
            for file in self.files:
                stack.enter_context(file.watched())
            yield

    def sample(self, index: int) -> SampleFacts:
        """Return what the index says of a sample; `index` in it counts within its file."""
        file, place = self.locate(index)
        return file.sample(place)

    def value(self, column: str, index: int) -> object:
        """Return a sample's value in one of the user's columns."""
        file, place = self.locate(index)
        return file.columns[column][place]


def _classes(file: PackFile) -> tuple[tuple[str, ...] | None, ...]:
    return tuple(file.table(name) for name in ("classes", "box_classes", "box_class_ids"))


def shard_paths(folder: str, shards: int) -> list[str]:
    """Return the paths of the shards in a folder."""
    names = (f"{number:05d}-of-{shards:05d}{SUFFIX}" for number in range(shards))
    return [os.path.join(folder, name) for name in names]


def shards_of(name: str) -> int | None:
    """Return how many shards there are, by the name of one of them, finished or not."""
    match = _SHARD.match(name)
    return None if match is None else int(match[1])


@dataclass(frozen=True, slots=True)
class ShardFacts:
    """What a manifest says of a shard."""

    file: str
    samples: int
    bytes: int
    id: str

    @classmethod
    def of(cls, file: PackFile) -> ShardFacts:
        """Return them for an open shard."""
        name = os.path.basename(file.path)
        return cls(name, len(file), file.file_bytes, file.file_id.hex())


def manifest_text(shards: Iterable[ShardFacts]) -> str:
    """Return the manifest of these shards: it follows from them, byte for byte."""
    listed = [asdict(shard) for shard in shards]
    content = {"format": _KIND[0], "version": _KIND[1], "shards": listed}
    return json.dumps(content, indent=1) + "\n"


def open_packed(path: str | os.PathLike[str]) -> PackSet:
    """Open a packed file, or a folder of shards."""
    text = os.fspath(path)
    if is_address(text):
        from penstock.packing.remote import Access, open_remote  # which need this module

        return open_remote(text, Access(from_front_to_back=True))
    if not os.path.isdir(text):
        return PackSet(text, [PackFile(text)])
    manifest = os.path.join(text, MANIFEST)
    content = _read_manifest(manifest)
    files = [PackFile(os.path.join(text, name)) for name in listed_files(manifest, content)]
    check_manifest(manifest, content, files)
    return PackSet(text, files)


def check_manifest(manifest: str, content: str, files: Sequence[PackFile]) -> None:
    """Raise PackError unless a manifest is that of these shards."""
    if content != manifest_text(map(ShardFacts.of, files)):
        raise PackError(
            f"{manifest}: does not match the shards beside it. "
            "One of them was replaced or damaged: copy the folder again, or repack."
        )


def _read_manifest(manifest: str) -> str:
    most = limits_in_force().text_bytes
    try:
        with open_regular(manifest) as file:
            read = file.read(most + 1)
    except FileNotFoundError as error:
        raise PackError(
            f"{manifest}: no such file, so this is not a folder of shards. "
            "If the pack was interrupted, go on with penstock pack --resume."
        ) from error
    except OSError as error:
        raise_if_refused(error, printable(manifest))
        raise PackError(f"{manifest}: cannot be read ({error.strerror or error}).") from error
    if len(read) > most:
        raise PackError(f"{manifest}: more than {most:,} bytes. {how_to_allow('text_bytes')}.")
    try:
        return read.decode()
    except UnicodeDecodeError as error:
        raise PackError(f"{manifest}: not a manifest of shards ({error}).") from error


def listed_files(manifest: str, content: str) -> list[str]:
    """Return the names of the shards in a manifest."""
    try:
        listed = json.loads(content)
        kind = listed["format"], listed["version"]
        names = [str(shard["file"]) for shard in listed["shards"]] if kind == _KIND else []
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PackError(f"{manifest}: not a manifest of shards ({error}).") from error
    if kind != _KIND:
        raise PackError(
            f"{manifest}: {kind[0]} version {kind[1]}; this version reads {_KIND[0]} version "
            f"{_KIND[1]}. Upgrade penstock, or repack."
        )
    if not names or any(os.path.basename(name) != name or not name for name in names):
        raise PackError(f"{manifest}: lists no files, or files elsewhere: {names[:3]}.")
    return names
