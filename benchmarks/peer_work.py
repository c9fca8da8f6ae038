"""What a peer's process does in its turn: load batches, or write, unpack or verify a format.

It runs in the peer's own environment, so it imports nothing but the standard library and the peer.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from benchmarks.cold import drop_from_memory, files_of, share_in_memory
from benchmarks.peers import Peer

MOST_LEFT_IN_MEMORY = 0.05  # of files that were dropped


@dataclass(frozen=True, slots=True)
class Turn:
    """What the work of one turn took."""

    images: int
    seconds: float
    first_batch_s: float = 0.0  # from construction, in the turn that has built the loader
    left_in_memory: float = 0.0  # of files that were dropped from it, the largest share


def check_batch(images: Any, case: Case) -> None:
    """Refuse a batch that is not what the case asks for: a wrong answer has no speed."""
    apart = isinstance(images, (tuple, list))  # as detectors take them
    expected = case.batch_shape[1:] if apart else (len(images), *case.batch_shape[1:])
    for tensor in images if apart else [images]:
        dtype = str(tensor.dtype).removeprefix("torch.")
        if tuple(tensor.shape) != expected or dtype != case.output:
            raise TypeError(
                f"expected a {case.output} batch of shape {expected}, "
                f"got {tensor.dtype} of shape {tuple(tensor.shape)}"
            )
    if not apart and not _is_contiguous(images):
        raise TypeError("expected a contiguous batch, got one that is still to be laid out")


def _is_contiguous(images: Any) -> bool:
    of_torch = getattr(images, "is_contiguous", None)
    return bool(of_torch() if of_torch else images.flags.c_contiguous)


class Steady:
    """Batches without end, epoch after epoch, as in a long training.

    The first turn builds the loader. Between turns the process is paused, and then goes on where it
    was. Batches that were under way by then are not timed.
    """

    def __init__(self, peer: Peer, case: Case, cores: int) -> None:
        self._peer, self._case, self._cores = peer, case, cores
        self._batches: Iterator[int] | None = None

    def run(self, least_s: float, least_images: int = 0) -> Turn:
        """Time batches for at least so long, and up to twice as long for so many images."""
        first_batch_s = 0.0
        if self._batches is None:
            started = time.perf_counter()
            self._batches = self._endless()
            next(self._batches)
            first_batch_s = time.perf_counter() - started
        self._take(self._batches)
        images, started, seconds = 0, time.perf_counter(), 0.0
        while not images or seconds < least_s or (images < least_images and seconds < 2 * least_s):
            images += self._take(self._batches)
            seconds = time.perf_counter() - started
        return Turn(images, seconds, first_batch_s)

    def _take(self, batches: Iterator[int]) -> int:
        """Take a batch of each worker, since these finish together, and return how many images."""
        return sum(next(batches) for _ in range(self._cores))

    def _endless(self) -> Iterator[int]:
        """Yield the number of images of each batch; some loaders never end an epoch."""
        loader = self._peer.batches(self._case, self._cores)
        while True:
            yield from images_of_epoch(loader, self._case)


def images_of_epoch(loader: Any, case: Case) -> Iterator[int]:
    """Yield the number of images of each batch of an epoch, which must be complete."""
    seen = 0
    for images, labels in loader:
        check_batch(images, case)
        seen += len(labels)
        yield len(labels)
    if seen != case.samples:
        raise ValueError(f"an epoch gave {seen} images, but the data set has {case.samples}")


class FromCold:
    """Whole epochs, before each of which the files are dropped from memory."""

    def __init__(self, peer: Peer, case: Case, cores: int) -> None:
        self._peer, self._case, self._cores = peer, case, cores
        self._loader: Any = None
        self._files = files_of(case.paths, case.written)

    def run(self, least_s: float, _least_images: int = 0) -> Turn:
        """Time epochs until `least_s` are over; in the first turn, building the loader counts."""
        images = 0
        first_batch_s = seconds = left = 0.0
        while not images or seconds < least_s:
            left = max(left, self._drop_files())
            started = time.perf_counter()
            builds = self._loader is None
            if builds:
                self._loader = self._peer.batches(self._case, self._cores)
            for number in images_of_epoch(self._loader, self._case):
                if builds and not images:
                    first_batch_s = time.perf_counter() - started
                images += number
            seconds += time.perf_counter() - started
        return Turn(images, seconds, first_batch_s, left)

    def _drop_files(self) -> float:
        """Drop the files from memory; return the share that is still there.

        What a loader has mapped cannot be dropped: it is then built anew, outside of the clock.
        """
        drop_from_memory(self._files)
        left = share_in_memory(self._files)
        if left > MOST_LEFT_IN_MEMORY and self._loader is not None:
            self._loader = None
            gc.collect()  # with the workers that it has started
            self._loader = self._peer.batches(self._case, self._cores)
            drop_from_memory(self._files)
            left = share_in_memory(self._files)
        return left


class Working:
    """Another work on all images: writing, unpacking or verifying a format.

    What it writes goes to a new folder each time; or to `keep_in`, to be read later.
    """

    def __init__(
        self, do: Callable[[Case, Path, int], None], case: Case, cores: int, keep_in: str = ""
    ) -> None:
        self._do, self._case, self._cores, self._keep_in = do, case, cores, keep_in

    def run(self, least_s: float, _least_images: int = 0) -> Turn:
        """Do it until `least_s` are over; removing what was written is not timed."""
        times, seconds = 0, 0.0
        while not times or seconds < least_s:
            folder = Path(self._keep_in or tempfile.mkdtemp())
            started = time.perf_counter()
            self._do(self._case, folder, self._cores)
            seconds += time.perf_counter() - started
            times += 1
            if not self._keep_in:
                shutil.rmtree(folder)
        return Turn(times * len(self._case.paths), seconds)


def write_pixels(peer: Peer, case: Case, cores: int, target: str) -> None:
    """Write the images of one epoch to a file, in the order of their labels."""
    import numpy as np

    found: dict[int, Any] = {}
    for images, labels in peer.batches(case, cores):
        check_batch(images, case)
        numbers = np.asarray(labels).reshape(-1).tolist()
        # Copied, since some libraries use the memory of a batch again.
        found.update(zip(numbers, np.array(images), strict=True))
        if len(found) == len(case.labels):
            break  # some loaders never end
    np.save(target, np.stack([found[label] for label in case.labels]))
