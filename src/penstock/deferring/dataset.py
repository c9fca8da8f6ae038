"""A Dataset around the user's: runs it as it is, with images that are computed batch by batch.

If a file turns out to be damaged, or something of ours fails, the user's code may have wanted to
know: generators are put back where they were, and the batch is asked for again with ordinary
images.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from torch.utils import data as torch_data

from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install
from penstock.deferring.random_state import RandomState, generators_in
from penstock.deferring.samples import make_samples, plain_samples
from penstock.deferring.sending import send_in
from penstock.errors import PenstockError, TranslationError
from penstock.torch.segments import SegmentMemory
from penstock.usable_cores import usable_cores

_MOST_FAILURES = 3  # of ours, after which images stay ordinary


class PlainCollate:
    """A collate function of the user's; single tensors in its batches are ordinary ones then."""

    def __init__(self, collate_fn: Callable[[Any], Any]) -> None:
        self.collate_fn = collate_fn

    def __call__(self, samples: Any) -> Any:
        """Return the batch."""
        batch = self.collate_fn(samples)
        if torch_data.get_worker_info() is not None:
            return batch  # rows travel in their batch, and arrive as ordinary tensors
        return plain_samples([batch])[0]

    def __repr__(self) -> str:
        return repr(self.collate_fn)


class Deferral:
    """A Dataset, and how it is asked for whole batches in this process."""

    def __init__(self, dataset: Any, threads: int | None) -> None:
        self.dataset = dataset
        self.threads = threads
        self._start()

    def _start(self) -> None:
        install()
        self.counts = Counts()
        self._lender: SegmentMemory | None = None
        self._process = os.getpid()
        self._failures = 0
        self._cores: int | None = None  # looked up once, in files
        self.python_s = 0.0  # that the user's own code took for the last batch

    def samples(self, ask: Callable[[], list[Any]]) -> list[Any]:
        """Return what the Dataset is asked for, computed together."""
        if self._process != os.getpid():
            self._start()
        if self._failures > _MOST_FAILURES:
            return self._made(ask())
        generators = generators_in(self.dataset)
        before = RandomState.now(generators)
        try:
            return self._defer(ask)
        except Exception as error:  # noqa: BLE001 (it may be ours or the user's: asked again, both show)
            self._note(error)
            _refuse_new_generators(self.dataset, generators, error)
        before.restore()
        return self._made(ask())

    def _defer(self, ask: Callable[[], list[Any]]) -> list[Any]:
        self.counts.error = None
        started = time.perf_counter()
        with deferring(self.counts):
            samples = ask()
        self.python_s = time.perf_counter() - started
        if self.counts.error is not None:  # which the user's code has caught
            raise self.counts.error
        return self._made(samples)

    def _made(self, samples: list[Any]) -> list[Any]:
        """Compute what is deferred; ordinary samples may have some too, which the Dataset kept."""
        return make_samples(samples, self._memory(), self._threads_here())

    def _note(self, error: Exception) -> None:
        self.counts.again += 1
        if not isinstance(error, PenstockError):
            self._failures += 1
            self.counts.are_arrays_taken = False  # code in C may have refused one
        warnings.warn(
            f"accelerate: a batch is asked for again, with ordinary images ({error}).",
            stacklevel=5,
        )

    def _memory(self) -> SegmentMemory | None:
        if self._lender is None and torch_data.get_worker_info() is not None:
            self._lender = SegmentMemory()
            send_in(self._lender)
        return self._lender

    def _threads_here(self) -> int:
        if self.threads is not None:
            return self.threads
        if self._cores is None:
            self._cores = usable_cores() if torch_data.get_worker_info() is None else 1
        return self._cores


def _refuse_new_generators(dataset: Any, before: tuple[Any, ...], error: Exception) -> None:
    """A batch that a Dataset made a generator for cannot be asked for a second time."""
    known = {id(one) for one in before}
    if any(id(one) not in known for one in generators_in(dataset)):
        raise TranslationError(
            f"{type(dataset).__name__}: a batch has to be asked for again ({error}), but the "
            "Dataset has made a random generator meanwhile, and nobody knows where it stood. Make "
            "it in __init__ or in worker_init_fn, or use the DataLoader without accelerate.",
            ("a generator was made while a batch was asked for",),
        ) from error


class DeferredDataset(torch_data.Dataset[Any]):
    """The samples of another Dataset, to the bit; all else is that Dataset's, its class as well."""

    def __init__(self, dataset: Any, threads: int | None = None) -> None:
        vars(self)["_deferral"] = Deferral(dataset, threads)

    def __len__(self) -> int:
        return len(self._deferral.dataset)

    def __getitem__(self, index: Any) -> Any:
        deferral = self._deferral
        return deferral.samples(lambda: [deferral.dataset[index]])[0]

    def __getitems__(self, indices: Sequence[Any]) -> Any:
        """Return these samples."""
        deferral = self._deferral
        dataset = deferral.dataset
        ask = getattr(dataset, "__getitems__", None)
        if not ask:
            return deferral.samples(lambda: [dataset[index] for index in indices])
        kinds: list[type] = []

        def listed() -> list[Any]:
            found = ask(indices)
            kinds[:] = [type(found)]
            return list(found) if isinstance(found, (list, tuple)) else [found]

        samples = deferral.samples(listed)
        if issubclass(kinds[0], (list, tuple)):
            return tuple(samples) if issubclass(kinds[0], tuple) else samples
        return samples[0]

    @property
    def __class__(self) -> Any:
        return type(self._deferral.dataset)

    @__class__.setter
    def __class__(self, kind: Any) -> None:
        self._deferral.dataset.__class__ = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_deferral":
            raise AttributeError(name)
        return getattr(self._deferral.dataset, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._deferral.dataset, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._deferral.dataset, name)

    def __reduce__(self) -> Any:
        return DeferredDataset, (self._deferral.dataset, self._deferral.threads)

    def __repr__(self) -> str:
        return f"DeferredDataset({self._deferral.dataset!r})"


def deferral_of(dataset: DeferredDataset) -> Deferral:
    """How the samples of such a Dataset are made."""
    found: Deferral = vars(dataset)["_deferral"]
    return found
