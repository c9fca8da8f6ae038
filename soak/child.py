"""A child process of the soak: does one job with a Loader and tells each batch's checksum.

The job is a JSON object, the only argument; each line of the output is one too:

    {"batch": checksum, "samples": [checksums]}     each batch delivered
    {"state": {...}}                                where the loader stands, if the job asks
    {"round": {...}}                                what is in use, after each round of a leak hunt
    {"error": "PackError", "ours": true, "text": "..."}   an exception that came out
    {"done": true}                                  the job went through
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import hashlib
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from penstock import Loader, PenstockError
from penstock import transforms as T

PLANT = "PENSTOCK_SOAK_PLANT"  # names a fault that the soak must find; see `_plant`
POLL_S = 0.002


def tell(**line: Any) -> None:
    """Write one line of the output, whole even if the process dies after it."""
    os.write(1, (json.dumps(line) + "\n").encode())


def make_loader(job: dict[str, Any]) -> Loader:
    """Make the job's Loader."""
    steps = [_step(spec) for spec in job["transform"]]
    options = dict(job["options"])
    if job["batch_transform"] is not None:
        options["batch_transform"] = _step(job["batch_transform"])
    loader = Loader(
        job["data"],
        transform=T.Compose(steps) if steps else None,
        threads=job["threads"],
        prefetch=job["prefetch"],
        **options,
    )
    loader.set_epoch(job["epoch"])
    if job.get("state") is not None:
        loader.load_state_dict(job["state"])
    return loader


def _step(spec: list[Any]) -> Any:
    name, args, options = spec
    return getattr(T, name)(*args, **options)


def _feed(checksum: Any, value: Any) -> None:
    """Take in a value of a batch: its type, shape and bytes."""
    if hasattr(value, "detach"):  # a tensor; NumPy has no bfloat16
        checksum.update(str(value.dtype).encode())
        value = value.float().numpy()
    if isinstance(value, np.ndarray):
        checksum.update(f"{value.dtype}{value.shape}".encode())
        checksum.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        for key in sorted(value):
            checksum.update(key.encode())
            _feed(checksum, value[key])
    elif isinstance(value, (list, tuple)):
        checksum.update(f"[{len(value)}".encode())
        for part in value:
            _feed(checksum, part)
    else:
        checksum.update(repr(value).encode("utf-8", "surrogateescape"))


def digest(value: Any) -> str:
    """Return the checksum of a batch or a part of one."""
    checksum = hashlib.blake2b(digest_size=8)
    _feed(checksum, value)
    return checksum.hexdigest()


def sample_digests(batch: Any) -> list[str]:
    """Return a checksum for each sample of a batch, over all that came with it."""
    parts = list(batch.values()) if isinstance(batch, dict) else batch
    parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
    count = len(parts[0])
    return [digest([_row(part, place) for part in parts]) for place in range(count)]


def _row(part: Any, place: int) -> Any:
    if isinstance(part, dict):
        return {key: value[place] for key, value in part.items()}
    return part[place]


def batches(job: dict[str, Any]) -> None:
    """Tell the batches of some epochs; wait, stop and save the state as the job says."""
    loader = make_loader(job)
    told = 0
    for _ in range(job["epochs"]):
        for batch in loader:
            _plant(job, batch, told)
            tell(batch=digest(batch), samples=sample_digests(batch))
            told += 1
            if "state_file" in job:
                _save(job["state_file"], {"told": told, "state": loader.state_dict()})
            if told == job.get("wait_after"):
                _wait_for(job["wait_for"])
            if told == job.get("stop_after"):
                tell(state=loader.state_dict())
                return
    loader.close()


def _wait_for(path: str) -> None:
    while not os.path.exists(path):
        time.sleep(POLL_S)


def _save(path: str, value: dict[str, Any]) -> None:
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".new", path)


def close(job: dict[str, Any]) -> None:
    """Close the loader in mid-epoch, from this or another thread; then run an epoch undisturbed.

    What was delivered until then is told as it is always told; what came after as usual, too.
    """
    loader = make_loader(job)
    before = _threads()
    closers: list[threading.Timer] = []
    try:
        for told, batch in enumerate(loader):
            tell(batch=digest(batch), samples=[])
            if told + 1 < job["close_after"] or closers:
                continue
            if job["from_thread"]:
                closer = threading.Timer(job["delay_s"], loader.close)
                closer.start()
                closers.append(closer)
            else:
                time.sleep(job["delay_s"])
                loader.close()
    except PenstockError as error:
        tell(closed=str(error))
    for closer in closers:
        closer.join()
    loader.close()
    if not _threads_end(before):
        tell(failure=f"{_threads()} threads after close(), {before} before the first batch")
    loader.set_epoch(job["epoch"])
    tell(again=True)
    for batch in loader:
        tell(batch=digest(batch), samples=[])
    loader.close()


def leak(job: dict[str, Any]) -> None:
    """Run all the job's pipelines again and again, and tell what is in use after each round."""
    kept: list[Any] = []
    before = _threads()
    for number in range(job["rounds"]):
        for pipeline in job["pipelines"]:
            _use(pipeline, leave=number % 2 == 1, close=number % 3 > 0)
        if os.environ.get(PLANT) == "leak":
            kept.append(np.ones(1 << 20))
        if os.environ.get(PLANT) == "descriptors":
            kept.append(os.open(os.devnull, os.O_RDONLY))
        tell(round=_in_use(before))


def _use(pipeline: dict[str, Any], *, leave: bool, close: bool) -> None:
    """Run an epoch or leave it, and close the loader or drop it."""
    try:
        loader = make_loader(pipeline)
        for told, batch in enumerate(loader):
            digest(batch)
            if leave and told == pipeline["options"]["seed"] % 5:
                break
        if close:
            loader.close()
    except PenstockError:
        pass  # what is refused must not leak either


def _in_use(threads_before: int) -> dict[str, int]:
    """Count what a leak would add to."""
    gc.collect()
    _threads_end(threads_before)
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    opened = [_target(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    shared = maps.count(" /dev/shm/") + sum(path.startswith("/dev/shm/") for path in opened)  # noqa: S108
    return {
        "resident_kb": int(resident.split()[1]),
        "descriptors": len(opened),
        "threads": _threads(),
        "shared_memory": shared,
        "temporary_files": len(os.listdir(tempfile.gettempdir())),
    }


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:  # the folder's own descriptor
        return ""


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _threads_end(before: int) -> bool:
    """Wait a moment: the system's part of a thread ends after Python's, which is waited for."""
    deadline_s = time.monotonic() + 3
    while _threads() > before and time.monotonic() < deadline_s:
        time.sleep(POLL_S)
    return _threads() <= before


def _plant(job: dict[str, Any], batch: Any, told: int) -> None:
    """Do on purpose what the soak is there to find, if asked to, in runs with many threads."""
    planted = os.environ.get(PLANT)
    if planted is None or job["threads"] == 1 or told != 1:
        return
    if planted == "wrong_batch":
        images = next(iter(batch.values())) if isinstance(batch, dict) else batch
        while isinstance(images, (list, tuple)):
            images = images[0]
        images.reshape(-1)[0] += 1
    elif planted == "raw_exception":
        raise KeyError("planted")
    elif planted == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif planted == "hang":
        time.sleep(3600)


JOBS = {"batches": batches, "close": close, "leak": leak}


def main() -> int:
    """Do the job; an error of ours is told and ends with 1, any other ends as Python ends."""
    faulthandler.enable()
    job = json.loads(sys.argv[1])
    try:
        JOBS[job["job"]](job)
    except PenstockError as error:
        tell(error=type(error).__name__, ours=True, text=str(error))
        return 1
    tell(done=True)
    return 0


def lines_of(text: str) -> Iterator[dict[str, Any]]:
    """Read an output, without a last line that was cut short."""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
