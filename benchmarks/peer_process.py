"""The process a peer runs in: `python -m benchmarks.peer_process '<settings as JSON>'`.

Answers one line of JSON when ready, or to say that a library is missing; then one for each line it
reads, a number of seconds: what passes over the data took, as many as that time needs and at least
one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from benchmarks.case import Case
from benchmarks.cases import CASES
from benchmarks.dataset import image_paths
from benchmarks.peers import load_peer


@dataclass(frozen=True, slots=True)
class Settings:
    """What the process is started with."""

    peer: str
    case: str
    folder: str
    images: int
    cpus: tuple[int, ...]
    layers: int = 0  # of RandAugment


@dataclass(frozen=True, slots=True)
class Passes:
    """What some passes over the data took."""

    images: int
    seconds: float
    first_batch_s: float  # from construction in the first round, from its start in later ones


def check_batch(images: Any, case: Case) -> None:
    """Refuse a batch that is not what the case asks for: a wrong answer has no speed."""
    apart = isinstance(images, (tuple, list))  # as detectors take them
    expected = case.batch_shape[1:] if apart else (len(images), *case.batch_shape[1:])
    for tensor in images if apart else [images]:
        if tuple(tensor.shape) != expected or str(tensor.dtype) != "torch.float32":
            raise TypeError(
                f"expected a float32 batch of shape {expected}, "
                f"got {tensor.dtype} of shape {tuple(tensor.shape)}"
            )
    if not apart and not images.is_contiguous():
        raise TypeError("expected a contiguous batch, got one that is still to be laid out")


def time_passes(
    loader: Iterable[tuple[Any, Any]], case: Case, started: float, least_s: float
) -> Passes:
    """Run whole passes until `least_s` are over; images per second count from `started`."""
    images_seen, passes = 0, 0
    first_batch = ended = 0.0
    while ended - started < least_s or passes == 0:
        for images, labels in loader:
            if images_seen == 0:
                first_batch = time.perf_counter()
            check_batch(images, case)
            images_seen += len(labels)
        ended = time.perf_counter()
        passes += 1
        if images_seen != passes * len(case.paths):
            raise ValueError(
                f"{passes} passes gave {images_seen} images, but the data set has {len(case.paths)}"
            )
    return Passes(images_seen, ended - started, first_batch - started)


def serve(settings: Settings, requests: TextIO, replies: TextIO) -> None:
    """Answer until there are no more requests."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, settings.cpus)
    case = replace(
        CASES[settings.case].make(image_paths(Path(settings.folder), settings.images)),
        augment_layers=settings.layers,
    )
    try:
        peer = load_peer(settings.peer)
    except ModuleNotFoundError as error:
        reply(replies, {"missing": str(error)})
        return
    reply(replies, {"label": peer.label, "versions": peer.versions()})

    loader = None
    for least_s in requests:
        started = time.perf_counter()
        if loader is None:
            loader = peer.batches(case, len(settings.cpus))
        reply(replies, asdict(time_passes(loader, case, started, float(least_s))))


def reply(replies: TextIO, message: dict[str, Any]) -> None:
    """Send one line."""
    replies.write(json.dumps(message) + "\n")
    replies.flush()


def main() -> None:
    """Serve on the standard streams; what libraries print goes to the error stream instead."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(Settings(**json.loads(sys.argv[1])), sys.stdin, replies)


if __name__ == "__main__":
    main()
