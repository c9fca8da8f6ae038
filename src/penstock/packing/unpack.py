"""`unpack`: the original files back, as a folder or as a WebDataset tar.

Files go below the target, and no two samples to one file. A name that no file can have is refused
when it is packed. All others can be unpacked, if necessary under another name: an ending is added
to an image of which only the pixels are kept, and one of two equal names gets a number.
"""

from __future__ import annotations

import base64
import io
import json
import os
import tarfile
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import PackError
from penstock.limits import Limits, obeying_limits
from penstock.packing import disk
from penstock.packing.disk import NewFiles, TargetLock
from penstock.packing.format import RESTORES, STORAGES
from penstock.packing.ordered_map import map_in_order
from penstock.packing.read import PackFile
from penstock.packing.records import JPEG_START, original_file
from penstock.packing.shards import PackSet, open_packed
from penstock.packing.write import PARTIAL_SUFFIX
from penstock.progress import ProgressBar
from penstock.usable_cores import usable_cores

COLUMNS_FILE = "columns.jsonl"
FORMATS = ("folder", "tar")
MOST_PART_BYTES = 255  # of a file's or folder's name: what Linux, macOS and Windows can do
MOST_PATH_BYTES = 4095  # of a path, on Linux
MOST_PARTS = 100
_MOST_ENDING_BYTES = 16  # longer ones are not taken for an ending
_JPEG_ENDINGS = (".jpg", ".jpeg", ".jpe", ".jfif")
_RAW, _BYTES = STORAGES.index("raw"), RESTORES.index("bytes")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """How many files were written, and how they relate to the originals."""

    files: int
    bytes: int
    identical: int  # byte for byte
    pixels: int  # the same pixels in another file
    lossy: int  # as they were re-encoded when packing
    repeated: int = 0  # samples more, of files that the source listed more than once

    def to_dict(self) -> dict[str, int]:
        """Return the figures for JSON."""
        return asdict(self)


class _File(NamedTuple):
    name: str
    data: bytes
    restores: str
    columns: dict[str, Any]
    is_repeated: bool


@obeying_limits
def unpack(
    packed: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    format: str | None = None,
    threads: int | None = None,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
    progress: bool | None = None,
) -> Unpacked:
    """Write the files of a packed data set to a new folder, or to a new tar file.

    Files are byte-identical to the originals where the index says so, and checked to be;
    others have identical pixels, unless the pack was lossy on request.
    Columns beside the images go to `columns.jsonl` in a folder, to `.cls` and `.json` in a tar.
    Where two different files would get one name, such as `a.bmp`, of which only the pixels are
    kept, beside `a.bmp.png`, one of them gets a number: `a.bmp.2.png`.
    `format` is "folder" or "tar"; None goes by the target's name.
    `limits` are the largest images that are restored.
    """
    if format is None:
        format = "tar" if os.fspath(target).endswith(".tar") else "folder"
    if format not in FORMATS:
        raise PackError(f"format: must be one of {', '.join(FORMATS)}, got {format!r}.")
    data, path = open_packed(packed), os.fspath(target)
    if format == "tar" or not os.path.isdir(path) or os.listdir(path):
        _check_free(path)
    with data.watched():
        names = UnpackedNames(data, (COLUMNS_FILE,)) if format == "folder" else None
    read = _Reader(data, names)
    files = map_in_order(read, range(len(data)), threads or usable_cores())
    written = (
        _write_tar(path, files)
        if format == "tar"
        else _write_folder(path, files, with_columns=bool(data.schema))
    )
    counts: Counter[str] = Counter()
    written_bytes = 0
    with ProgressBar("unpacking", total=len(data), unit="images", show=progress) as bar:
        try:
            for file in written:
                counts["repeated" if file.is_repeated else file.restores] += 1
                written_bytes += 0 if file.is_repeated else len(file.data)
                bar.advance()
        except OSError as error:
            if isinstance(error, PackError):
                raise
            raise PackError(f"{path}: cannot be written ({error.strerror or error}).") from error
    restores = [counts[name] for name in (*RESTORES, "repeated")]
    return Unpacked(sum(restores[:-1]), written_bytes, *restores)


def _check_free(path: str) -> None:
    if os.path.lexists(path):
        raise PackError(f"{path}: exists already. Give a name that does not, or an empty folder.")


@dataclass(frozen=True, slots=True)
class _Reader:
    data: PackSet
    names: UnpackedNames | None  # None for a tar, in which files are numbered

    def __call__(self, index: int) -> _File:
        file, place = self.data.locate(index)
        with file.watched([place]):
            columns = {name: _plain(reader[place]) for name, reader in file.columns.items()}
            name = unpacked_name(file, place) if self.names is None else self.names[index]
            is_repeated = self.names is not None and self.names.is_repeated(index)
            restores = file.sample(place).restores
            return _File(name, original_file(file, place), restores, columns, is_repeated)


def _write_folder(path: str, files: Iterator[_File], *, with_columns: bool) -> Iterator[_File]:
    os.makedirs(path, exist_ok=True)
    with NewFiles(path) as folder, ExitStack() as opened:
        columns = opened.enter_context(folder.create(COLUMNS_FILE)) if with_columns else None
        for file in files:
            if not file.is_repeated:
                with folder.create(file.name) as out:
                    out.write(file.data)
            if columns is not None:
                columns.write(_json({"file": file.name, "columns": file.columns}) + b"\n")
            yield file


def _write_tar(path: str, files: Iterator[_File]) -> Iterator[_File]:
    """Keys are numbers, as dots in a WebDataset key would cut it; `.json` holds the name."""
    partial = path + PARTIAL_SUFFIX
    with TargetLock(path), disk.create_anew(partial) as out:
        try:
            _check_free(path)  # nobody else has made it meanwhile
            with tarfile.open(fileobj=out, mode="w") as tar:
                for number, file in enumerate(files):
                    _add_sample(tar, f"{number:09d}", file)
                    yield file
            disk.rename(partial, path)
        except BaseException:
            disk.remove(partial)  # nothing can go on from it
            raise


def _add_sample(tar: tarfile.TarFile, key: str, file: _File) -> None:
    ending = os.path.splitext(file.name)[1].lower()
    if ending in {"", ".cls", ".json"}:  # those of other members
        ending = ".jpg" if file.data.startswith(JPEG_START) else ".png"
    _add(tar, key + ending, file.data)
    others = dict(file.columns)
    label = others.pop("label", None)
    if isinstance(label, (int, float)):
        _add(tar, f"{key}.cls", str(label).encode())
    _add(tar, f"{key}.json", _json({"file": file.name, "columns": others}))


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def _json(values: dict[str, Any]) -> bytes:
    return json.dumps(values).encode()


def _plain(value: Any) -> Any:
    """Return a column's value as JSON has it; bytes become base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


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
    """Return where `unpack` puts a sample, if no other is there; PackError if it is outside.

    The ending follows the content if that is no longer the original's.
    """
    name = file.name(index)
    reason = _what_is_wrong(name)
    if reason is None and (os.path.splitdrive(name)[0] or (os.sep != "/" and os.sep in name)):
        reason = "on this system it leads elsewhere"
    if reason is not None:
        raise PackError(
            f"{file.path}: sample {index:,} is named {name[:300]!r}, which is not a path below the "
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

        for index in sorted(met, key=was_renamed):  # those that need no change keep their names
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
