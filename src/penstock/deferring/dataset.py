"""A Dataset around the user's: runs it as it is, with images that are computed batch by batch.

If a file turns out to be damaged, or something of ours fails, the user's code may have wanted to
know: generators are put back where they were, and the batch is asked for again with ordinary
images.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.utils import data as torch_data

from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install
from penstock.deferring.random_state import RandomState, generators_in
from penstock.deferring.samples import make_samples, plain_samples
from penstock.errors import PenstockError
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


class DeferredDataset(torch_data.Dataset[Any]):
    """The samples of another Dataset, to the bit; all other attributes are that Dataset's."""

    def __init__(self, dataset: Any, threads: int | None = None) -> None:
        self.dataset = dataset
        self._threads = threads
        self._start()

    def _start(self) -> None:
        install()
        self.counts = Counts()
        self._generators = generators_in(self.dataset)
        self._lender: SegmentMemory | None = None
        self._process = os.getpid()
        self._failures = 0
        self.python_s = 0.0  # that the user's own code took for the last batch

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        """Return these samples."""
        if self._failures > _MOST_FAILURES:
            return self._ask(indices)
        if self._process != os.getpid():
            self._start()
        before = RandomState.now(self._generators)
        try:
            return self._defer(indices)
        except Exception as error:  # noqa: BLE001 (it may be ours or the user's: asked again, both show)
            self._note(error)
        before.restore()
        return self._ask(indices)

    def _defer(self, indices: Sequence[Any]) -> list[Any]:
        self.counts.error = None
        started = time.perf_counter()
        with deferring(self.counts):
            samples = self._ask(indices)
        self.python_s = time.perf_counter() - started
        if self.counts.error is not None:  # which the user's code has caught
            raise self.counts.error
        return make_samples(samples, self._memory(), self._threads_here())

    def _ask(self, indices: Sequence[Any]) -> list[Any]:
        ask = getattr(self.dataset, "__getitems__", None)
        if ask:
            return list(ask(indices))
        return [self.dataset[index] for index in indices]

    def _note(self, error: Exception) -> None:
        self.counts.again += 1
        if not isinstance(error, PenstockError):
            self._failures += 1
        warnings.warn(
            f"accelerate: a batch is asked for again, with ordinary images ({error}).",
            stacklevel=4,
        )

    def _memory(self) -> SegmentMemory | None:
        if self._lender is None and torch_data.get_worker_info() is not None:
            self._lender = SegmentMemory()
        return self._lender

    def _threads_here(self) -> int:
        if self._threads is not None:
            return self._threads
        return usable_cores() if torch_data.get_worker_info() is None else 1

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "dataset":
            raise AttributeError(name)
        return getattr(self.dataset, name)

    def __getstate__(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "_threads": self._threads}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __repr__(self) -> str:
        return f"DeferredDataset({self.dataset!r})"
