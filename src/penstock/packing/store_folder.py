"""Class folders in a store, and images without folders: samples, labels and order as on a disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from penstock.errors import SourceError
from penstock.geometry import Ints
from penstock.packing.far_files import FarFile
from penstock.packing.items import Column, PackItem, name_below
from penstock.progress import ProgressBar
from penstock.sources.image_folder import source_of_scan
from penstock.sources.scan import IMAGE_EXTENSIONS, STAMPS, Scan
from penstock.sources.source import FileSource, PathTable
from penstock.storage.backend import Stat
from penstock.storage.folder import RemoteFolder

_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Listing:
    """All objects below a folder of a store, as the store listed them."""

    folder: RemoteFolder
    stats: dict[str, Stat]  # by the name below the folder
    folders: frozenset[str]  # all that names lead through, without the folder itself

    @property
    def title(self) -> str:
        """How the user named it."""
        return str(self.folder.address)

    @property
    def size(self) -> int:
        """Bytes of all objects."""
        return sum(stat.size for stat in self.stats.values())


def list_store(folder: RemoteFolder, progress: bool | None = None) -> Listing:
    """List all objects below a folder; SourceError if there are none."""
    with ProgressBar(f"listing {folder.address}", unit="objects", show=progress) as bar:
        stats = {found.name: found.stat for found in folder.objects(bar.advance)}
    folders = {
        "/".join(parts[:depth])
        for parts in {tuple(name.split("/")[:-1]) for name in stats}
        for depth in range(1, len(parts) + 1)
    }
    for name in folders & stats.keys():
        if stats[name].size:
            raise SourceError(
                f"{folder.address.beside(name)}: an object of {stats[name].size:,} bytes, and a "
                "folder of others, which no folder of files can be. Rename one of them."
            )
        del stats[name]  # what some tools put there to show an empty folder
    if not stats:
        raise SourceError(
            f"{folder.address}: there is nothing below this address. Check it, and the variables "
            "that choose the account or endpoint (docs/object-stores.md)."
        )
    return Listing(folder, stats, frozenset(folders))


def is_image(name: str) -> bool:
    """Whether an object is an image by its name."""
    return name.lower().endswith(IMAGE_EXTENSIONS)


class StoreItems:
    """Image files in a store, each with the label of its class folder if there are such."""

    box_classes: tuple[str, ...] | None = None

    def __init__(self, folder: RemoteFolder, source: FileSource, stats: Iterable[Stat]) -> None:
        self._folder = folder
        self._source = source
        known = list(stats)
        self._sizes: Ints = np.array([stat.size for stat in known], np.int64)
        self._identities = PathTable.from_paths(stat.identity for stat in known)
        self.columns: tuple[Column, ...] = ()
        if source.labels is not None:
            self.columns = (Column("label", "fixed", source.labels.dtype.name),)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels."""
        return self._source.classes

    @property
    def length(self) -> int | None:
        """Number of files."""
        return len(self._source)

    def items(self, start: int = 0) -> Iterator[PackItem]:
        """Yield the files from position `start` on; none of them is read yet."""
        labels = self._source.labels
        for first in range(start, len(self._source), _AT_ONCE):
            indices = np.arange(first, min(first + _AT_ONCE, len(self._source)))
            names, identities = self._source.files.at(indices), self._identities.at(indices)
            for index, name, identity in zip(indices.tolist(), names, identities, strict=True):
                stat = Stat(int(self._sizes[index]), identity)
                values = {} if labels is None else {"label": labels[index]}
                yield PackItem(name_below(None, name), FarFile(self._folder, name, stat), values)

    def describe(self) -> str:
        """Return one line for people."""
        return self._source.describe()


def open_store_folder(
    listing: Listing, *, allow_empty: bool = False, any_names: bool = False
) -> StoreItems:
    """Open class folders, or images without folders, as they would be opened on a disk."""
    root = listing.folder.address.text
    loose = sorted(name for name in listing.stats if "/" not in name and is_image(name))
    shown = [name for name in listing.folders if not name.startswith(".")]
    visible = [name for name in loose if not name.startswith(".")]
    if visible and not shown:
        files = PathTable.from_paths(visible)
        source = FileSource(listing.title, root, files, None, None)
        return StoreItems(listing.folder, source, (listing.stats[name] for name in visible))
    scan, names = _scan_of(listing)
    source = source_of_scan(
        listing.title, root, scan, len(loose), allow_empty=allow_empty, any_names=any_names
    )
    return StoreItems(listing.folder, source, (listing.stats[name] for name in names))


def _scan_of(listing: Listing) -> tuple[Scan, list[str]]:
    """Return what a scan of such a folder would give, and its files: see `sources/scan.py`."""
    images: dict[str, list[str]] = {"": [], **{path: [] for path in listing.folders}}
    for name in listing.stats:
        folder, _, file = name.rpartition("/")
        if folder and is_image(file):
            images[folder].append(file)
    paths = sorted(images, key=lambda path: (path.split("/", 1)[0], path))
    files = [f"{path}/{file}" for path in paths for file in sorted(images[path])]
    scan = Scan(
        PathTable.from_paths(paths),
        np.zeros((len(paths), STAMPS), np.int64),
        np.array([len(images[path]) for path in paths], np.int64),
        PathTable.from_paths(files),
    )
    return scan, files
