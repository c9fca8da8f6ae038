"""The photos that all loaders load: some of a data set, or made by the project itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from penstock.data.open_data import open_data
from penstock.demo.sample_set import cached_folder, make_sample_set
from penstock.errors import AnalysisError
from penstock.packing.pack import pack
from penstock.sources import Source, has_paths
from penstock.user_cache import needed_cache_folder

_LABELS = 8  # of photos whose data set has no class for each of them


@dataclass(frozen=True, slots=True)
class Photos:
    """Files, no two of which are the same."""

    paths: tuple[str, ...]
    origin: str
    digest: str  # of all their bytes
    mean_bytes: int

    @property
    def labels(self) -> list[int]:
        """Return a label for each: which one does not matter to a rate."""
        return [index % _LABELS for index in range(len(self.paths))]

    def packed(self) -> str:
        """Return the same photos in one packed file, which is kept from one call to the next."""
        target = _cache() / f"{self.digest}.pen"
        if not target.exists():
            beside = target.with_name(f".{os.getpid()}-{target.name}")
            pack(list(self.paths), beside, labels=self.labels)
            os.replace(beside, target)
        return str(target)

    def to_dict(self) -> dict[str, Any]:
        """Return what a reader of the results must know."""
        return {
            "distinct": len(self.paths),
            "origin": self.origin,
            "digest": self.digest,
            "mean_bytes": self.mean_bytes,
        }


def choose_photos(data: str | None, most: int) -> Photos:
    """Return up to `most` distinct photos, evenly taken from a data set of any layout.

    Without a data set, the project makes them. Photos that are no files of their own are written
    into files, since some of the loaders read nothing else.
    """
    if data is None:
        made = make_sample_set(cached_folder(most), most)
        source: Source = open_data(made)
        origin = "photos that penstock makes itself"
    else:
        source = open_data(data)
        origin = f"photos of {os.path.basename(os.path.normpath(data))}"
    if not len(source):
        raise AnalysisError(f"--data {data}: no photos in it. Name a folder that holds some.")
    count = min(most, len(source))
    indices = np.unique(np.linspace(0, len(source) - 1, count).astype(np.int64))
    paths: dict[bytes, str] = {}  # by their content, so that none counts twice
    size = 0
    for index in indices.tolist():
        with source.open(index) as file:
            content = file.read()
        key = sha256(content).digest()
        if key not in paths:
            size += len(content)
            paths[key] = _path_of(source, index, content, key)
    digest = sha256(b"".join(paths)).hexdigest()[:16]
    return Photos(tuple(paths.values()), origin, digest, round(size / len(paths)))


def _path_of(source: Source, index: int, content: bytes, key: bytes) -> str:
    if has_paths(source):
        return os.path.abspath(source.paths(np.array([index]))[0])
    target = _cache() / "files" / key.hex()[:24]
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
    return str(target)


def _cache() -> Path:
    folder = needed_cache_folder() / "experiments"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
