"""The process a peer runs in: `python -m benchmarks.peer_process SETTINGS.json`.

It runs in the peer's own environment, so it imports nothing but the standard library and the peer.
Answers one line of JSON when ready, or to say that a library is missing; then one for each line it
reads, a request in JSON:

- {"seconds": 3}: do the work again and again for so long, at least once, and say what it took;
- {"pixels": "FILE.npy", "case": {...}}: write the images of another case to a file, by label.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from benchmarks.case import Case
from benchmarks.cold import drop_from_memory, files_of, share_in_memory
from benchmarks.peers import LOAD, WRITE, Peer, load_peer

MOST_LEFT_IN_MEMORY = 0.05  # of files that were dropped


@dataclass(frozen=True, slots=True)
class Settings:
    """What the process is started with."""

    peer: str
    case: Case
    cpus: tuple[int, ...]
    work: str = LOAD

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Read what `to_json` wrote."""
        told = json.loads(text)
        return cls(told["peer"], case_from(told["case"]), tuple(told["cpus"]), told["work"])

    def to_json(self) -> str:
        """Write it down for the process."""
        return json.dumps(asdict(self))


def case_from(told: dict[str, Any]) -> Case:
    """Return a case that went through JSON, which has no tuples."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in told.items()
    }
    return Case(**fields)


@dataclass(frozen=True, slots=True)
class Passes:
    """What some passes over the data took."""

    images: int
    seconds: float
    first_batch_s: float  # from construction in the first round, from its start in later ones
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


class Loading:
    """Passes over a loader; the first call builds it."""

    def __init__(self, peer: Peer, case: Case, cores: int) -> None:
        self._peer, self._case, self._cores = peer, case, cores
        self._loader: Any = None
        self._files = files_of(case.paths, case.written) if case.cold else []

    def run(self, least_s: float) -> Passes:
        """Run whole passes until `least_s` are over."""
        if self._loader is not None and hasattr(self._loader, "before_turn"):
            self._loader.before_turn()
        images_seen, passes = 0, 0
        first_batch = seconds = left = 0.0
        while seconds < least_s or passes == 0:
            left = max(left, self._drop_files())
            started = time.perf_counter()
            if self._loader is None:
                self._loader = self._peer.batches(self._case, self._cores)
            for images, labels in self._loader:
                if images_seen == 0:
                    first_batch = time.perf_counter() - started
                check_batch(images, self._case)
                images_seen += len(labels)
            seconds += time.perf_counter() - started
            passes += 1
            wanted = passes * len(self._case.paths)
            if images_seen != wanted:
                raise ValueError(
                    f"{passes} passes gave {images_seen} images, but the data set has {wanted}"
                )
        return Passes(images_seen, seconds, first_batch, left)

    def _drop_files(self) -> float:
        """Drop the files from memory if the case is cold; return the share that is still there.

        What a loader has mapped cannot be dropped: it is then built anew, outside of the clock.
        """
        if not self._files:
            return 0.0
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

    What it writes goes to a new folder each time; or to that of the case, to be read later.
    """

    def __init__(self, do: Callable[[Case, Path, int], None], settings: Settings) -> None:
        self._do, self._case, self._cores = do, settings.case, len(settings.cpus)
        self._keep = settings.work == WRITE and bool(settings.case.written)

    def run(self, least_s: float) -> Passes:
        """Do it until `least_s` are over; removing what was written is not timed."""
        passes, seconds = 0, 0.0
        while seconds < least_s or passes == 0:
            folder = Path(self._case.written if self._keep else tempfile.mkdtemp())
            started = time.perf_counter()
            self._do(self._case, folder, self._cores)
            seconds += time.perf_counter() - started
            passes += 1
            if not self._keep:
                shutil.rmtree(folder)
        return Passes(passes * len(self._case.paths), seconds, 0.0)


def write_pixels(batches: Iterable[tuple[Any, Any]], case: Case, target: str) -> None:
    """Write the images of one pass to a file, in the order of their labels."""
    import numpy as np

    found: dict[int, Any] = {}
    for images, labels in batches:
        check_batch(images, case)
        numbers = np.asarray(labels).reshape(-1).tolist()
        # Copied, since some libraries use the memory of a batch again.
        found.update(zip(numbers, np.array(images), strict=True))
    np.save(target, np.stack([found[label] for label in case.labels]))


def serve(settings: Settings, requests: TextIO, replies: TextIO) -> None:
    """Answer until there are no more requests."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, settings.cpus)
    try:
        peer = load_peer(settings.peer)
        about = {"label": peer.label, "versions": peer.versions()}
    except ImportError as error:
        reply(replies, {"missing": str(error)})
        return
    reply(replies, about)

    cores = len(settings.cpus)
    work: Loading | Working
    if settings.work == LOAD:
        work = Loading(peer, settings.case, cores)
    else:
        work = Working(getattr(peer, settings.work), settings)
    for line in requests:
        request = json.loads(line)
        if "pixels" in request:
            case = case_from(request["case"])
            write_pixels(peer.batches(case, cores), case, request["pixels"])
            reply(replies, {})
        else:
            reply(replies, asdict(work.run(request["seconds"])))


def reply(replies: TextIO, message: dict[str, Any]) -> None:
    """Send one line."""
    replies.write(json.dumps(message) + "\n")
    replies.flush()


def main() -> None:
    """Serve on the standard streams; what libraries print goes to the error stream instead."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    settings = Settings.from_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    serve(settings, sys.stdin, replies)


if __name__ == "__main__":
    main()
