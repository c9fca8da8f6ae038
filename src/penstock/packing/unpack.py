"""`unpack`: the original files back, as a folder or as a WebDataset tar."""

from __future__ import annotations

import base64
import io
import json
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import PackError
from penstock.limits import Limits, obeying_limits
from penstock.packing import disk
from penstock.packing.encode import JPEG_START
from penstock.packing.format import RESTORES
from penstock.packing.lock import TargetLock
from penstock.packing.new_files import NewFiles
from penstock.packing.ordered_map import map_in_order
from penstock.packing.original import original_file
from penstock.packing.shards import PackSet, open_packed
from penstock.packing.unpacked_names import UnpackedNames, unpacked_name
from penstock.packing.write import PARTIAL_SUFFIX
from penstock.progress import ProgressBar
from penstock.usable_cores import usable_cores

COLUMNS_FILE = "columns.jsonl"
FORMATS = ("folder", "tar")


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
    if format == "tar" or not _is_empty_folder(path):
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


def _is_empty_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.listdir(path)


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
