"""The process a peer runs in: `python -m benchmarks.peer_process SETTINGS.json`.

It runs in the peer's own environment, so it imports nothing but the standard library and the peer.
Answers one line of JSON when ready, or to say that a library is missing; then one for each line it
reads, a request in JSON:

- {"seconds": 3, "images": 9}: do the work for so long, or longer for so many images, and say what
  it took;
- {"pixels": "FILE.npy", "case": {...}}: write the images of another case to a file, by label.

It leads a process group of its own, with all that it starts, so that it can be paused.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from benchmarks.case import Case
from benchmarks.peer_work import FromCold, Steady, Working, write_pixels
from benchmarks.peers import LOAD, WRITE, Peer, load_peer


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


def serve(settings: Settings, requests: TextIO, replies: TextIO) -> None:
    """Answer until there are no more requests."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, settings.cpus)
    cores = len(settings.cpus)
    try:
        peer = load_peer(settings.peer)
        about = {"label": peer.label, "versions": peer.versions()}
    except ImportError as error:
        reply(replies, {"missing": str(error)})
        return
    reply(replies, about)

    work = work_of(peer, settings)
    for line in requests:
        request = json.loads(line)
        if "pixels" in request:
            write_pixels(peer, case_from(request["case"]), cores, request["pixels"])
            reply(replies, {})
        else:
            reply(replies, asdict(work.run(request["seconds"], request.get("images", 0))))


def work_of(peer: Peer, settings: Settings) -> Steady | FromCold | Working:
    """Return what does the work of a turn."""
    case, cores = settings.case, len(settings.cpus)
    if settings.work != LOAD:
        kept = case.written if settings.work == WRITE else ""
        return Working(getattr(peer, settings.work), case, cores, kept)
    return FromCold(peer, case, cores) if case.cold else Steady(peer, case, cores)


def reply(replies: TextIO, message: dict[str, Any]) -> None:
    """Send one line."""
    replies.write(json.dumps(message) + "\n")
    replies.flush()


def main() -> None:
    """Serve on the standard streams; what libraries print goes to the error stream instead."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    settings = Settings.from_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    serve(settings, sys.stdin, replies)


if __name__ == "__main__":
    main()
