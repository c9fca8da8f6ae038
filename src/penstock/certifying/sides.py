"""What can be compared: whatever gives images, run from a seed, or a certificate of such a run."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.certifying.batches import Given, split_batch, split_sample
from penstock.certifying.images import Item
from penstock.certifying.labels import hash_label, show_label
from penstock.certifying.names import (
    NO_NAMES,
    NOT_ASKED,
    Names,
    names_of_dataset,
    names_of_loader,
    names_of_torch_loader,
)
from penstock.certifying.random_state import Generators
from penstock.errors import CertifyError, PenstockError
from penstock.loading.loader import Loader
from penstock.translation.delivery import AcceleratedLoader

_END = object()


@dataclass(frozen=True, slots=True)
class Settings:
    """How sides are run."""

    seed: int
    epoch: int
    images: int | None  # the first so many of each side; None is all of them
    labels: bool = True  # whether what goes with images is looked at
    named: bool = True  # whether images may be told by their names


def _nothing_to_check() -> None:
    return


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A pipeline that is ready to give its images."""

    groups: Iterator[Any]  # batches, or samples
    split: Callable[[Any, str], list[Given]]
    unit: str  # what messages call a group: "batch" or "sample"
    names: Names
    total: int | None  # images to come, if that is known
    check: Callable[[], None] = _nothing_to_check  # raises if names were not those that came


@dataclass(slots=True, eq=False)
class LiveSide:
    """A pipeline that is run here."""

    value: Any
    title: str  # what the user calls it
    letter: str  # which side it is
    settings: Settings
    transform: str | None = None  # said in the certificate, where data was given with one
    is_reproducible: bool | None = None  # None: not looked at, `unknown` says why
    unknown: str = ""
    names: Names = field(default=NO_NAMES)
    total: int | None = None
    kind: str = ""
    root: str = ""  # what names begin with that the other side's do not
    _first: list[str] = field(default_factory=list)  # hashes of the first batch

    @property
    def called(self) -> str:
        """What errors call it."""
        return f"{self.letter} ({self.title})"

    def open(self) -> Iterator[Item]:
        """Make the pipeline and seed it; return its images, which then come one by one."""
        opened, generators = self._begin(self.settings.images)
        self.names = opened.names
        total = opened.total if opened.names.batches is None else len(opened.names.listed())
        most = self.settings.images
        self.total = total if total is None or most is None else min(total, most)
        return self._items(opened, generators)

    def check_reproducible(self) -> None:
        """Run the first batch again, and note whether it is the same."""
        if not self._first:
            return
        if not _is_made(self.value) and iter_is_itself(self.value):
            self.unknown = "it is an iterator, which runs once"
            return
        opened, generators = self._begin(self.settings.images)
        with generators.in_force():
            group = self._next(opened, 0)
        given = [] if group is _END else opened.split(group, self.called)
        again = [view.digest() for one in given for view in one.views]
        shared = min(len(again), len(self._first))
        self.is_reproducible = bool(shared) and again[:shared] == self._first[:shared]

    def _begin(self, most: int | None) -> tuple[Opened, Generators]:
        with Generators(self.settings.seed).in_force():
            value = self._made()
        self.kind = type(value).__name__
        generators = Generators(self.settings.seed)  # torch may have been imported just now
        with generators.in_force(), self._explained("cannot be begun"):
            opened = open_pipeline(value, self.called, self.settings.epoch, most)
        if not self.settings.named:
            opened = replace(opened, names=NOT_ASKED, check=_nothing_to_check)
        return opened, generators

    def _made(self) -> Any:
        if not _is_made(self.value):
            return self.value
        with self._explained("cannot be made"):
            return self.value()

    def _items(self, opened: Opened, generators: Generators) -> Iterator[Item]:
        position = 0
        number = 0
        while True:
            with generators.in_force():
                group = self._next(opened, number)
            if group is _END:
                break
            where = f"{self.called}: {opened.unit} {number:,}"
            given = opened.split(group, where)
            names = self._names_of(opened.names, number, len(given), where)
            for one, name in zip(given, names, strict=True):
                for item in self._views(one, name, position, where):
                    if number == 0:
                        self._first.append(item.digest)
                    yield item
                    position += 1
                    if position == self.settings.images:
                        opened.check()
                        return
            number += 1
        opened.check()

    def _views(self, given: Given, name: str | None, position: int, where: str) -> Iterator[Item]:
        label = given.label if self.settings.labels else None
        digest, shown = hash_label(label, where), show_label(label)
        for number, view in enumerate(given.views):
            named = name if name is None else name.removeprefix(self.root)
            if named is not None and len(given.views) > 1:
                named = f"{named}, view {number + 1}"
            yield Item(
                position + number,
                named,
                view.shape,
                view.dtype,
                view.digest(),
                digest,
                view.count_nans(),
                shown,
                view,
            )

    def _next(self, opened: Opened, number: int) -> Any:
        with self._explained(f"failed at {opened.unit} {number:,}"):
            return next(opened.groups, _END)

    @staticmethod
    def _names_of(names: Names, number: int, count: int, where: str) -> Iterable[str | None]:
        if names.batches is None:
            return [None] * count
        listed = names.batches[number] if number < len(names.batches) else ()
        if len(listed) != count:
            raise CertifyError(
                f"{where} has {count:,} images, but {len(listed):,} samples were to be in it, so "
                "it is not known which file is which. Have nothing left out (on_error='raise'), or "
                "match images by their position (--match position)."
            )
        return listed

    def _explained(self, what: str) -> _Explained:
        return _Explained(f"{self.called}: {what}")


@dataclass(frozen=True, slots=True)
class _Explained:
    """Makes one sentence of whatever somebody's pipeline raises."""

    what: str

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CertifyError):
            is_ours = isinstance(error, PenstockError)
            told = f"{error}" if is_ours else f"{type(error).__name__}: {error}"
            raise CertifyError(f"{self.what}: {told}") from error


def _is_made(value: Any) -> bool:
    """Whether a side is to be called, and what it returns is meant."""
    return (
        inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, functools.partial)
    )


def iter_is_itself(value: Any) -> bool:
    """Whether something is an iterator, which cannot begin anew."""
    return hasattr(value, "__next__") and hasattr(value, "__iter__")


def open_pipeline(value: Any, title: str, epoch: int, most: int | None) -> Opened:
    """Find out what kind of pipeline this is, and begin the epoch."""
    torch_data = sys.modules.get("torch.utils.data")
    if isinstance(value, (Loader, AcceleratedLoader)):
        value.set_epoch(epoch)
        names = names_of_loader(value, most)
        check = functools.partial(_check_ledger, value, title)
        return Opened(iter(value), split_batch, "batch", names, None, check)
    if torch_data is not None and isinstance(value, torch_data.DataLoader):
        _tell_epoch(value, epoch)
        has_positions = not isinstance(value.dataset, torch_data.IterableDataset)
        names = names_of_torch_loader(value, most) if has_positions else NO_NAMES
        is_single = value.batch_sampler is None and value.batch_size is None
        split, unit = (split_sample, "sample") if is_single else (split_batch, "batch")
        return Opened(iter(value), split, unit, names, None)
    if torch_data is not None and isinstance(value, torch_data.IterableDataset):
        return Opened(iter(value), split_sample, "sample", NO_NAMES, None)
    if hasattr(value, "__getitem__") and hasattr(value, "__len__") and not _is_batches(value):
        _tell_epoch(value, epoch)
        count = len(value) if most is None else min(most, len(value))
        names = names_of_dataset(value, count)
        samples = (value[index] for index in range(count))
        return Opened(samples, split_sample, "sample", names, count)
    if hasattr(value, "__iter__"):
        _tell_epoch(value, epoch)
        return Opened(iter(value), split_batch, "batch", NO_NAMES, None)
    raise CertifyError(
        f"{title}: is of type {type(value).__name__}. Give a torch DataLoader or Dataset, a "
        "penstock Loader, an iterable of batches, a function that returns one of these, a data "
        "set's path, or a certificate."
    )


def _is_batches(value: Any) -> bool:
    """Whether something with positions is a plain list of batches, not a Dataset of samples."""
    return isinstance(value, (list, tuple))


def _tell_epoch(value: Any, epoch: int) -> None:
    """Tell whoever has draws or an order for each epoch: the loader, or else its parts."""
    parts: list[Any] = [
        getattr(value, name, None) for name in ("sampler", "batch_sampler", "dataset")
    ]
    for told in [value] if hasattr(value, "set_epoch") else parts:
        if callable(getattr(told, "set_epoch", None)):
            told.set_epoch(epoch)


def _check_ledger(loader: Loader | AcceleratedLoader, title: str) -> None:
    replaced = loader.ledger.counts().get("substituted", 0)
    if replaced:
        raise CertifyError(
            f"{title}: {replaced:,} of its files cannot be read and other samples took their "
            "places, so it is not known which file is which. Use on_error='raise' or 'skip'."
        )
