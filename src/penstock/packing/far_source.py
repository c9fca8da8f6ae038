"""A data set in a store, opened for packing.

Class folders are read where they lie: the folder is listed, and each worker fetches its own images.
Other layouts are read by seeking in files, so they are copied to this machine's disk first, up to a
limit. Which layout it is, is found as on a disk: in a folder with the same names, in which small
files that are no images have their content.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from penstock.errors import PenstockError, SourceError
from penstock.packing.datasets.files import TF_EXTENSIONS, safe_name
from penstock.packing.datasets.hdf5 import EXTENSIONS as HDF5_EXTENSIONS
from penstock.packing.datasets.open_dataset import FOLDER, KINDS, PARTS, recognise
from penstock.packing.datasets.shard_list import expand_braces
from penstock.packing.datasets.tar import TAR
from penstock.packing.disk import human_bytes
from penstock.packing.format import SUFFIX
from penstock.packing.staging import staging_folder
from penstock.packing.store_folder import Listing, is_image, list_store, open_store_folder
from penstock.progress import ProgressBar
from penstock.storage.address import Address, is_address, read_address
from penstock.storage.backend import Stat
from penstock.storage.folder import RemoteFolder
from penstock.storage.options import StorageOptions

USUAL_LIMIT = 50 * 10**9
_MOST_READ = 10_000  # small files that are read to recognise a layout
_SMALL_BYTES = 1 << 20
_IMAGES_SHOWN = 20  # of each folder, to whoever recognises the layout
_AT_ONCE = 16
_RECORDS = (*TAR, ".parquet", *TF_EXTENSIONS, *HDF5_EXTENSIONS, ".rec", ".mdb", ".lmdb")
_TOOLS = {
    "hf": "huggingface-cli download --repo-type dataset OWNER/NAME --local-dir FOLDER",
    "http": "wget",
    "https": "wget",
}


@dataclass(frozen=True, slots=True)
class Fetching:
    """How a data set is brought here."""

    engine: str
    staging: str | os.PathLike[str] | None
    limit: int
    options: StorageOptions
    progress: bool | None


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of `pack` that say what the data set is."""

    source: Any
    labels: Any
    kind: str | None
    split: str | None
    images: Any
    masks: Any


@dataclass(frozen=True, slots=True)
class Brought:
    """The same data set as it can be opened here."""

    given: Given
    renamed: dict[str, str]  # from a copy's path to its address

    def named(self, text: str) -> str:
        """Return a text in which copies that nobody knows of have the names of their originals."""
        for path, address in self.renamed.items():
            text = text.replace(path, address)
        return text


@contextmanager
def brought_near(given: Given, fetching: Fetching) -> Iterator[Brought]:
    """Give the same data set so that `open_pack_source` can open it; copies go at the end."""
    for name in ("labels", "images", "masks"):
        value = getattr(given, name)
        if is_address(value):
            raise SourceError(
                f"{name}: {value} is in a store, and must be on this machine. Copy it with the "
                "store's own tool, or give the address of a folder that holds all as the source."
            )
    listed = given.source if isinstance(given.source, (list, tuple)) else ()
    if any(map(is_address, listed)):
        raise SourceError(
            f"{next(filter(is_address, listed))}: a list of objects in a store is not read one by "
            "one. Give the folder that holds them, or copy them with the store's own tool."
        )
    if not is_address(given.source):
        yield Brought(given, {})
        return
    brought = Brought(given, {})
    address = read_address(given.source)
    with ExitStack() as stack:
        try:
            bringing = _Bringing(address, given, fetching, stack, brought.renamed)
            yield replace(brought, given=bringing.bring())
        except PenstockError as error:
            said = brought.named(str(error))
            if said == str(error):
                raise
            raise type(error)(said) from error


def far_folder(address: Address, options: StorageOptions | None = None) -> RemoteFolder:
    """Return a folder in a store that can be listed; SourceError for other addresses."""
    if address.is_web or not address.by_obstore:
        tool = _TOOLS.get(address.scheme, "that site's own tool")
        raise SourceError(
            f"{address}: from {address.scheme}://, pack cannot be sure to get all files, and the "
            f"same ones all the time. Copy the data here first, with {tool}, and pack the copy. "
            "From s3://, gs:// and az://, pack reads itself."
        )
    return RemoteFolder(address, options)


@dataclass(frozen=True, slots=True)
class _Bringing:
    address: Address
    given: Given
    fetching: Fetching
    stack: ExitStack
    renamed: dict[str, str]

    def bring(self) -> Given:
        """Return what to open."""
        text = self.address.text.rstrip("/")
        if text.endswith(SUFFIX):
            raise SourceError(
                f"{self.address}: a packed file. To pack its images anew, unpack it first: "
                f"penstock unpack {self.address} FOLDER."
            )
        if "{" in text or "::" in text:
            return self._tars()
        if self.given.kind is not None and self.given.kind not in KINDS:
            raise SourceError(f"kind: must be one of {', '.join(KINDS)}, got {self.given.kind!r}.")
        folder = far_folder(self.address, self.fetching.options)
        alone = self._alone(text)
        if alone is not None:
            return replace(self.given, source=f"{self._staged(alone)}/{self.address.name}")
        listing = list_store(folder, self.fetching.progress)
        kind = self._kind(listing)
        if kind == FOLDER:
            self._refuse_said(kind)
            items = open_store_folder(listing, any_names=self.given.kind is not None)
            return replace(self.given, source=items, kind=None)
        return replace(self.given, source=self._staged(listing), kind=kind)

    def _refuse_said(self, kind: str) -> None:
        if self.given.split is not None:
            raise SourceError(
                f"{self.address}: split={self.given.split!r} (--split), but {kind} data has no "
                "splits. Leave it out."
            )
        if self.given.images is not None:
            raise SourceError(
                f"{self.address}: images= (--images) is for COCO, but this is {kind} data. Leave "
                "it out."
            )

    def _kind(self, listing: Listing) -> str | None:
        """Return the layout; None if labels or masks from elsewhere say what the images are."""
        if self.given.labels is not None or self.given.masks is not None:
            return self.given.kind
        if self.given.kind is not None or _has_only_classes(listing):
            return self.given.kind or FOLDER
        others = [name for name in listing.stats if not is_image(name)]
        if len(others) > _MOST_READ:
            raise SourceError(
                f"{self.address}: {len(others):,} of its {len(listing.stats):,} objects are no "
                "images by their names, too many to find out what this is. Say which layout is "
                "meant: --kind (kind=...)."
            )
        with staging_folder(self.fetching.staging) as own:
            root = os.path.join(own, "data")
            self.renamed[root] = self.address.text
            small = {name for name in others if listing.stats[name].size <= _SMALL_BYTES}
            shown = _some_images(listing)
            for name in (*(name for name in others if name not in small), *shown):
                with open(_made(root, name), "xb"):
                    pass
            _download(listing, small, root, None)
            return recognise(root)

    def _alone(self, text: str) -> Listing | None:
        """Return a listing of one file of records and of what may belong to it; None for folders.

        That is what begins with the same name, and small files that are no images.
        """
        if text.lower().endswith((".json", ".yaml", ".yml")):
            raise SourceError(
                f"{self.address}: images belong to it. Give the address of the folder that holds "
                "them all."
            )
        if not text.lower().endswith(_RECORDS):
            return None
        folder = far_folder(self.address.folder, self.fetching.options)
        name = self.address.name
        folder.stat(name)  # raises if it is not there
        stem = name.partition(".")[0]
        found = {
            one.name: one.stat
            for one in folder.level()
            if one.name == name
            or (not one.name.lower().endswith(_RECORDS) and one.name.startswith(stem + "."))
            or (one.stat.size <= _SMALL_BYTES and not is_image(one.name))
        }
        return Listing(folder, found, frozenset())

    def _tars(self) -> Given:
        """Bring the archives that a pattern stands for, such as train-{000..009}.tar."""
        pieces = self.given.source.split("::")
        found = [read_address(text) for piece in pieces for text in expand_braces(piece)]
        wrong = [one for one in found if not one.text.lower().endswith(TAR)]
        if wrong or len({one.container for one in found}) > 1:
            raise SourceError(
                f"{self.address}: a pattern stands for tar archives in one folder of a store, but "
                f"one of them is {wrong[0] if wrong else found[-1]}. Name the folder itself."
            )
        folder = far_folder(found[0].folder, self.fetching.options)
        listing = list_store(folder, self.fetching.progress)
        missing = [one for one in found if one.name not in listing.stats]
        if missing:
            raise SourceError(
                f"{missing[0]}: there is no such object; it is one of {len(missing):,} of "
                f"{len(found):,} archives that are missing. Check the pattern."
            )
        stats = {one.name: listing.stats[one.name] for one in found}
        root = self._staged(Listing(folder, stats, frozenset()))
        return replace(self.given, source=[f"{root}/{one.name}" for one in found])

    def _staged(self, listing: Listing) -> str:
        """Copy objects to this machine, and return the folder that they are in."""
        fetching = self.fetching
        if fetching.engine == "ray":
            raise SourceError(
                f"{self.address}: of a data set in a store, workers on other machines read class "
                "folders only. Pack it with --engine processes, or copy it to a file system that "
                "all machines share."
            )
        size = listing.size
        if size > fetching.limit:
            raise SourceError(
                f"{self.address}: has to be copied to this machine to be read, "
                f"{human_bytes(size)}, and {human_bytes(fetching.limit)} are allowed. Allow "
                "more with --staging-limit (staging_limit=...), on a disk with room: --staging DIR."
            )
        own = self.stack.enter_context(staging_folder(fetching.staging))
        free = shutil.disk_usage(own).free
        if size > free:
            raise SourceError(
                f"{own}: {human_bytes(size)} of {self.address} do not fit, {human_bytes(free)} are "
                "free. Name a folder on a disk with room: --staging DIR (staging=...)."
            )
        root = os.path.join(own, os.path.basename(listing.folder.address.text))
        self.renamed[root] = listing.folder.address.text
        _download(listing, listing.stats, root, fetching.progress)
        return root


def _has_only_classes(listing: Listing) -> bool:
    """Whether names alone tell that these are class folders: nothing but images, in folders."""
    first = {name.split("/", 1)[0].lower() for name in listing.folders}
    is_odd = any(name in PARTS or name.startswith(".") or name == "__macosx" for name in first)
    return not is_odd and all("/" in name and is_image(name) for name in listing.stats)


def _some_images(listing: Listing) -> list[str]:
    """Return a few images of each folder: nobody who recognises a layout asks for more."""
    shown: dict[str, list[str]] = {}
    for name in sorted(filter(is_image, listing.stats)):
        some = shown.setdefault(name.rpartition("/")[0], [])
        if len(some) < _IMAGES_SHOWN:
            some.append(name)
    return [name for some in shown.values() for name in some]


def _download(listing: Listing, names: Iterable[str], root: str, progress: bool | None) -> None:
    stats: dict[str, Stat] = {name: listing.stats[name] for name in names}
    title = f"copying {listing.title}"
    os.makedirs(root, exist_ok=True)
    with (
        ProgressBar(title, total=len(stats), unit="objects", show=progress) as bar,
        ThreadPoolExecutor(_AT_ONCE, "penstock-copy") as pool,
    ):
        try:
            done = (
                pool.submit(listing.folder.download, name, stat, _made(root, name))
                for name, stat in stats.items()
            )
            for future in list(done):
                future.result()
                bar.advance(1)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _made(root: str, name: str) -> str:
    """Return the path of an object's copy, in a folder that is there."""
    path = os.path.join(root, safe_name(name, name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path
