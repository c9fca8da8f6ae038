"""A data set in numbered files: which belong together."""

from __future__ import annotations

import os
import re

from penstock.errors import SourceError
from penstock.packing.datasets.files import names_in
from penstock.packing.datasets.splits import choose_split
from penstock.printable import printable
from penstock.sources.image_folder import SPLIT_FOLDERS

# `train-00003-of-00128.parquet`, `part_000001_000004.parquet`, `val.tfrecord-00000-of-00002`
_NUMBERS = re.compile(r"([-_.]\d{3,}(-of-\d{3,})?)+$")
TF_EXTENSIONS = (".tfrecord", ".tfrecords", ".record")


def record_sets(folder: str, extensions: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files of a folder, and of folders in it named like splits, by data set."""
    sets: dict[str, list[str]] = {}
    for below in ("", *(name for name in names_in(folder) if _is_split(folder, name))):
        for name in names_in(os.path.join(folder, below)):
            unnumbered = _NUMBERS.sub("", name)
            if not unnumbered.lower().endswith(extensions):
                stem, extension = os.path.splitext(unnumbered)
                if extension.lower() not in extensions:
                    continue
                unnumbered = stem
            key = _NUMBERS.sub("", _without_extension(unnumbered, extensions))
            sets.setdefault(key, []).append(os.path.join(folder, below, name))
    return {key: sorted(files) for key, files in sorted(sets.items())}


def choose_record_files(path: str, extensions: tuple[str, ...], split: str | None) -> list[str]:
    """Return the files to read: one given, or those of one data set in a folder."""
    if not os.path.isdir(path):
        return [path]
    sets = record_sets(path, extensions)
    if not sets:
        raise SourceError(f"{printable(path)}: no {' or '.join(extensions)} files in it.")
    return sets[choose_split(path, list(sets), split)]


def _without_extension(name: str, extensions: tuple[str, ...]) -> str:
    for extension in extensions:
        if name.lower().endswith(extension):
            name = name[: -len(extension)]
    return name


def _is_split(folder: str, name: str) -> bool:
    return name in SPLIT_FOLDERS and os.path.isdir(os.path.join(folder, name))
