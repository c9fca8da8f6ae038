"""Formats and libraries by name: what they are called, who reads which, where they lie."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from penstock.experiments.experiment import UnavailableError
from penstock.experiments.formats import writers
from penstock.experiments.formats.photos import PhotoSet


@dataclass(frozen=True, slots=True)
class Form:
    """One way to store the samples."""

    title: str
    write: Callable[[PhotoSet, str], None]  # into an empty folder
    module: str | None = None  # that writing and reading needs
    package: str = ""  # what to install for it
    is_record: bool = False  # one of the binary record formats that the study is about
    is_raw: bool = False  # pixels instead of JPEGs
    is_stream: bool = False  # read from front to back by its users


FORMS: Mapping[str, Form] = {
    "folder": Form("folder of JPEGs", writers.write_folder),
    "tfrecord": Form(
        "TFRecord", writers.write_tfrecord, "google_crc32c", "google-crc32c",
        is_record=True, is_stream=True,
    ),
    "recordio": Form("RecordIO", writers.write_recordio, is_record=True),
    "hdf5": Form("HDF5", writers.write_hdf5, "h5py", "h5py", is_record=True),
    "lmdb": Form("LMDB", writers.write_lmdb, "lmdb", "lmdb", is_record=True),
    "webdataset": Form("WebDataset", writers.write_webdataset, is_record=True, is_stream=True),
    "parquet": Form(
        "Parquet", writers.write_parquet, "pyarrow", "pyarrow", is_record=True, is_stream=True
    ),
    "hdf5_raw": Form(
        "HDF5, raw pixels", writers.write_hdf5_raw, "h5py", "h5py", is_record=True, is_raw=True
    ),
    "lmdb_raw": Form(
        "LMDB, raw pixels", writers.write_lmdb_raw, "lmdb", "lmdb", is_record=True, is_raw=True
    ),
    "pen_jpeg": Form(".pen keeping the JPEGs", writers.write_pen_jpeg),
    "pen": Form(".pen with tiles", writers.write_pen),
}  # fmt: skip


TORCH, DALI, PENSTOCK = "torchvision", "DALI", "penstock"
LIBRARIES = (TORCH, DALI, PENSTOCK)
_DALI_READS = frozenset({"folder", "tfrecord", "recordio", "webdataset"})


def reads(library: str, form: str) -> bool:
    """Tell whether a library has a reader for a format."""
    if library == DALI:
        return form in _DALI_READS
    if library == PENSTOCK:
        return form != "hdf5_raw"  # rows of bytes are read as image files
    return form != "pen"  # tiles are for our own decoder


def contestants() -> list[tuple[str, str]]:
    """Return each library with each format that somebody would read with it."""
    return [(library, form) for form in FORMS for library in LIBRARIES if reads(library, form)]


def require_form(name: str) -> Form:
    """Return a format; UnavailableError if the library for it is not installed."""
    form = FORMS[name]
    if form.module is not None and find_spec(form.module) is None:
        raise UnavailableError(
            f"{form.title}: {form.package} is not installed (pip install {form.package})"
        )
    return form


@dataclass(frozen=True, slots=True)
class Written:
    """Where the formats of one set of photos lie."""

    folder: Path

    def path(self, name: str) -> str:
        """Return the folder of a format."""
        return str(self.folder / name)

    def files(self, name: str) -> list[str]:
        """Return all files of a format."""
        walked = os.walk(self.path(name))
        return sorted(os.path.join(place, file) for place, _, files in walked for file in files)

    def bytes(self, name: str) -> int:
        """Return the size of all files of a format."""
        return sum(os.path.getsize(file) for file in self.files(name))

    def write(self, name: str, photos: PhotoSet) -> float:
        """Write a format, in the place of an earlier one; return the seconds it took.

        A format has its name only when all of it is written and on the disk.
        """
        form = require_form(name)
        target, partial = self.path(name), self.path(f".{name}.partial")
        for folder in (target, partial):
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(partial)
        began_s = time.perf_counter()
        form.write(photos, partial)
        took_s = time.perf_counter() - began_s
        os.rename(partial, target)
        # Pages that are not on the disk yet cannot be dropped from memory for a cold run.
        for file in self.files(name):
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return took_s

    def ensure(self, name: str, photos: PhotoSet) -> None:
        """Write a format that was written before and has been removed since."""
        if not os.path.isdir(self.path(name)):
            self.write(name, photos)
