"""`penstock.webdataset.loader`: the keys and values that webdataset gives, in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from penstock.errors import LoaderError, SourceError
from penstock.loading.loader import Loader
from penstock.loading.to_library import finisher
from penstock.loading.to_torch import torch_is_installed
from penstock.packing.datasets.layout_source import explaining_parsers
from penstock.packing.datasets.shard_list import tar_list
from penstock.packing.datasets.tar import tars_at
from penstock.packing.datasets.webdataset import open_tars
from penstock.printable import printable
from penstock.webdataset.fields import Field, TarSource, read_keys

_DECIDED = ("columns", "targets", "labels", "masks", "mask_fill", "background", "batch_transform")


class KeyedLoader:
    """A `Loader` whose batches are tuples of the keys asked for, or dictionaries by key.

    `loader` is the `penstock.Loader` behind it, with all that can be asked of one.
    """

    def __init__(
        self, loader: Loader, fields: Sequence[Field], library: Any, *, as_dict: bool
    ) -> None:
        self.loader = loader
        self._fields = fields
        self._to_library = finisher(library)
        self._as_dict = as_dict
        self._title = loader.source.describe()

    def __len__(self) -> int:
        """Batches in an epoch."""
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        for batch in self.loader:
            values = {field.key: self._value(field, batch) for field in self._fields}
            yield values if self._as_dict else tuple(values.values())

    def _value(self, field: Field, batch: Mapping[str, Any]) -> Any:
        column = "image" if field.column is None else field.column
        try:
            value = field.finish(batch[column])
        except (ValueError, OverflowError) as error:
            raise SourceError(
                f"{self._title}: a file .{field.key} cannot be read ({error}). Correct it, or "
                "leave the key out."
            ) from error
        return self._to_library(value) if isinstance(value, np.ndarray) else value

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration run `epoch` from its start."""
        self.loader.set_epoch(epoch)

    def state_dict(self) -> dict[str, int]:
        """Where the loader stands: after the batches delivered so far."""
        return self.loader.state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Make the next iteration go on from a `state_dict`, batch for batch."""
        self.loader.load_state_dict(state)

    def close(self) -> None:
        """Stop its threads now."""
        self.loader.close()

    def __repr__(self) -> str:
        return f"{self.loader!r} by {', '.join(field.key for field in self._fields)}"


def loader(
    urls: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    keys: Sequence[str] | None = None,
    as_dict: bool | None = None,
    transform: Any = None,
    batch_size: int = 1,
    **options: Any,
) -> KeyedLoader:
    """Return a loader of tar archives whose batches have the keys and values that webdataset gives.

    Args:
        urls: An archive, a folder of archives, a list of them, or a pattern such as
            "train-{000..009}.tar". Only uncompressed files on this machine are read.
        keys: Extensions of the files to deliver, as in `to_tuple`: ("jpg", "cls"), or
            ("jpg;png", "json", "__key__"). None delivers all of them in dictionaries.
        as_dict: Whether batches are dictionaries by key; None: if `keys` is None.
        transform: What is done to images, as in `penstock.Loader`.
        batch_size: Samples in a batch.
        options: Further arguments of `penstock.Loader`: shuffle, seed, rank, world_size, ...
    """
    taken = [name for name in _DECIDED if name in options]
    if taken:
        raise LoaderError(
            f"penstock.webdataset.loader: {taken[0]} is not an argument, since keys say what is "
            "delivered. Use penstock.Loader for it."
        )
    if keys is None and as_dict is False:
        raise LoaderError(
            "penstock.webdataset.loader: as_dict=False needs keys, which say what is in the tuples."
        )
    archives, title = _archives(urls)
    with explaining_parsers(title):
        source = TarSource(*open_tars(archives, title))
    if source.layout.sequential:
        raise LoaderError(
            f"{source.title}: {source.layout.sequential}, so that samples cannot be read in any "
            "order. Uncompress it, or pack it once with penstock.pack."
        )
    fields = read_keys(source, keys)
    columns = [field.column for field in fields if field.column is not None]
    made = Loader(
        source,
        batch_size=batch_size,
        transform=transform,
        targets="none",
        columns=columns or None,
        as_dict=True,
        **options,
    )
    library = options.get("output") or ("torch" if torch_is_installed() else "numpy")
    return KeyedLoader(made, fields, library, as_dict=keys is None if as_dict is None else as_dict)


def _archives(urls: Any) -> tuple[list[str], str]:
    found = tar_list(urls)
    if found is not None:
        is_text = isinstance(urls, (str, os.PathLike))
        return found, printable(urls) if is_text else "list of archives"
    if not isinstance(urls, (str, os.PathLike)):
        raise LoaderError(
            "penstock.webdataset.loader: a tar archive, a folder, a pattern or a list of archives "
            f"is needed, got {type(urls).__name__}."
        )
    path = os.path.expanduser(os.fspath(urls))
    archives = tars_at(path) if os.path.exists(path) else []
    if not archives:
        raise LoaderError(f"{printable(path)}: no tar archive is there. Check the path.")
    return archives, printable(path)
