"""`unpack`: the original files back, as a folder or as a WebDataset tar."""

from __future__ import annotations

import base64
import io
import json
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import PackError
from penstock.limits import Limits, obeying_limits
from penstock.packing import disk
from penstock.packing.format import RESTORES
from penstock.packing.ordered_map import map_in_order
from penstock.packing.original import original_file, unpacked_name
from penstock.packing.read import PackFile
from penstock.packing.shards import PackSet, open_packed
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

    def to_dict(self) -> dict[str, int]:
        """Return the figures for JSON."""
        return asdict(self)


class _File(NamedTuple):
    name: str
    data: bytes
    restores: str
    columns: dict[str, Any]


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
    `format` is "folder" or "tar"; None goes by the target's name.
    `limits` are the largest images that are restored.
    """
    if format is None:
        format = "tar" if os.fspath(target).endswith(".tar") else "folder"
    if format not in FORMATS:
        raise PackError(f"format: must be one of {', '.join(FORMATS)}, got {format!r}.")
    data, path = open_packed(packed), os.fspath(target)
    if os.path.exists(path) and (format == "tar" or not _is_empty_folder(path)):
        raise PackError(f"{path}: exists already. Give a name that does not, or an empty folder.")
    files = map_in_order(_read, _places(data), threads or usable_cores())
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
                counts[file.restores] += 1
                written_bytes += len(file.data)
                bar.advance()
        except OSError as error:
            if isinstance(error, PackError):
                raise
            raise PackError(f"{path}: cannot be written ({error.strerror or error}).") from error
    restores = [counts[name] for name in RESTORES]
    return Unpacked(sum(restores), written_bytes, *restores)


def _is_empty_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.listdir(path)


def _places(data: PackSet) -> Iterator[tuple[PackFile, int]]:
    return (data.locate(index) for index in range(len(data)))


def _read(place: tuple[PackFile, int]) -> _File:
    file, index = place
    columns = {name: _plain(reader[index]) for name, reader in file.columns.items()}
    restores = file.sample(index).restores
    return _File(unpacked_name(file, index), original_file(file, index), restores, columns)


def _write_folder(path: str, files: Iterator[_File], *, with_columns: bool) -> Iterator[_File]:
    os.makedirs(path, exist_ok=True)
    columns = open(os.path.join(path, COLUMNS_FILE), "xb") if with_columns else None  # noqa: SIM115
    try:
        for file in files:
            goal = os.path.join(path, *file.name.split("/"))
            os.makedirs(os.path.dirname(goal), exist_ok=True)
            # "x": two samples of one name, or a file where a folder should be, are errors.
            with open(os.fsencode(goal), "xb") as out:
                out.write(file.data)
            if columns is not None:
                columns.write(_json({"file": file.name, "columns": file.columns}) + b"\n")
            yield file
    finally:
        if columns is not None:
            columns.close()


def _write_tar(path: str, files: Iterator[_File]) -> Iterator[_File]:
    """Keys are numbers, as dots in a WebDataset key would cut it; `.json` holds the name."""
    with tarfile.open(path + PARTIAL_SUFFIX, "w") as tar:
        for number, file in enumerate(files):
            key = f"{number:09d}"
            _add(tar, key + os.path.splitext(file.name)[1].lower(), file.data)
            others = dict(file.columns)
            label = others.pop("label", None)
            if isinstance(label, (int, float)):
                _add(tar, f"{key}.cls", str(label).encode())
            _add(tar, f"{key}.json", _json({"file": file.name, "columns": others}))
            yield file
    disk.rename(path + PARTIAL_SUFFIX, path)


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
