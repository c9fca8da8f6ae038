"""The process a peer runs in: `python -m benchmarks.peer_process '<settings as JSON>'`.

Answers one line of JSON when ready, then one for each line it reads: a timed pass over the data.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
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


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass over the data took."""

    images: int
    seconds: float
    first_batch_s: float  # from construction in the first pass, from its start in later ones


def check_batch(images: Any, case: Case) -> None:
    """Refuse a batch that is not what the case asks for: a wrong answer has no speed."""
    expected = (len(images), *case.batch_shape[1:])
    if tuple(images.shape) != expected or str(images.dtype) != "torch.float32":
        raise TypeError(
            f"expected a float32 batch of shape {expected}, "
            f"got {images.dtype} of shape {tuple(images.shape)}"
        )
    if not images.is_contiguous():
        raise TypeError("expected a contiguous batch, got one that is still to be laid out")


def time_pass(loader: Iterable[tuple[Any, Any]], case: Case, started: float) -> Pass:
    """Run one pass; its images per second count from `started`."""
    images_seen = 0
    first_batch = 0.0
    for images, labels in loader:
        if images_seen == 0:
            first_batch = time.perf_counter()
        check_batch(images, case)
        images_seen += len(labels)
    ended = time.perf_counter()
    if images_seen != len(case.paths):
        raise ValueError(
            f"a pass gave {images_seen} images, but the data set has {len(case.paths)}"
        )
    return Pass(images_seen, ended - started, first_batch - started)


def serve(settings: Settings, requests: TextIO, replies: TextIO) -> None:
    """Answer until there are no more requests."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, settings.cpus)
    case = CASES[settings.case](image_paths(Path(settings.folder), settings.images))
    peer = load_peer(settings.peer)
    reply(replies, {"label": peer.label, "versions": peer.versions()})

    loader = None
    for _ in requests:
        started = time.perf_counter()
        if loader is None:
            loader = peer.batches(case, len(settings.cpus))
        reply(replies, asdict(time_pass(loader, case, started)))


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
