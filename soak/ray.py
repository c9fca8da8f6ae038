"""Kills workers of `penstock.ray` at random moments, and compares every batch with a Loader's.

Two processes iterate over their halves of one epoch, each with workers of its own. This process
kills workers with SIGKILL, spread over the epoch; whatever they had in hand must come from others.

    python -m soak.ray --kills 50
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

import penstock as ps
from penstock import transforms as T

RANKS = 2
BATCH = 32
PAUSE_S = 0.004  # for each image, so that a worker nearly always has something in hand
LONGEST_S = 900.0
_TOLD_S = 0.05  # how often a consumer tells who its workers are


def linger(image: PIL.Image.Image) -> PIL.Image.Image:
    """Take a while, without a core."""
    time.sleep(PAUSE_S)
    return image


def arguments(rank: int, samples: int) -> dict[str, Any]:
    """What both loaders of a rank are made with."""
    transform = T.Compose(
        [T.RandomResizedCrop(48), linger, T.RandAugment(), T.Normalize((0.5,) * 3, (0.2,) * 3)]
    )
    return {
        "batch_size": BATCH,
        "transform": transform,
        "shuffle": True,
        "seed": 5,
        "samples_per_epoch": samples,
        "rank": rank,
        "world_size": RANKS,
        "output": "numpy",
    }


def checksum(batch: tuple[Any, Any]) -> str:
    """A batch in a few letters."""
    hashed = hashlib.sha256()
    for array in batch:
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()[:16]


def consume(address: str, data: str, rank: int, samples: int, workers: int) -> None:
    """Iterate over one epoch, and tell the checksum of every batch and who the workers are."""
    import ray

    from penstock.ray import RayLoader

    ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    lock = threading.Lock()

    def tell(**what: Any) -> None:
        with lock:
            print(json.dumps({"rank": rank, **what}), flush=True)

    def tell_workers() -> None:
        while not done.wait(_TOLD_S):
            tell(pids=[worker.pid for worker in loader.workers])

    done = threading.Event()
    with RayLoader(data, workers=workers, **arguments(rank, samples)) as loader:
        threading.Thread(target=tell_workers, daemon=True).start()
        for step, batch in enumerate(loader):
            tell(step=step, sum=checksum(batch))
        done.set()
        metrics = loader.metrics
    tell(recomputed=metrics.recomputed, restarts=metrics.restarts, hedged=metrics.hedged)
    ray.shutdown()


@dataclass(slots=True)
class Told:
    """What the consumers have told."""

    batches: list[tuple[int, int, str]] = field(default_factory=list)  # rank, step, checksum
    pids: dict[int, list[int]] = field(default_factory=dict)  # by rank
    counts: list[dict[str, int]] = field(default_factory=list)

    def take(self, line: str) -> None:
        """Read a line of a consumer's; Ray may have printed others."""
        if not line.startswith("{"):
            return
        told = json.loads(line)
        rank = told.pop("rank")
        if "step" in told:
            self.batches.append((rank, told["step"], told["sum"]))
        elif "pids" in told:
            self.pids[rank] = told["pids"]
        else:
            self.counts.append(told)


def watch(consumers: Sequence[subprocess.Popen[str]], told: Told, kills: int, steps: int) -> int:
    """Read what consumers tell until they end, and kill their workers; returns how many."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read(stream: Any) -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    for consumer in consumers:
        threading.Thread(target=read, args=(consumer.stdout,), daemon=True).start()
    rng = random.Random(7)
    due = sorted(rng.choices(range(steps * 9 // 10), k=kills))  # after so many batches
    killed: set[int] = set()
    ended, begun = 0, time.monotonic()
    while ended < len(consumers):
        if time.monotonic() - begun > LONGEST_S:
            raise TimeoutError(f"{len(told.batches)} of {steps} batches after {LONGEST_S:.0f} s")
        line = lines.get(timeout=LONGEST_S)
        if line is None:
            ended += 1
            continue
        told.take(line)
        alive = [pid for pids in told.pids.values() for pid in pids if pid not in killed]
        if len(killed) < len(due) and len(told.batches) >= due[len(killed)] and alive:
            time.sleep(rng.random() * PAUSE_S * BATCH)
            pid = rng.choice(alive)
            killed.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                killed.remove(pid)
                told.pids.clear()
    return len(killed)


def expected(data: str, samples: int) -> Iterator[tuple[int, int, str]]:
    """What plain Loaders deliver."""
    for rank in range(RANKS):
        loader = ps.Loader(data, **arguments(rank, samples))
        for step, batch in enumerate(loader):
            yield rank, step, checksum(batch)
        loader.close()


def run(kills: int, samples: int, workers: int) -> dict[str, Any]:
    """Run it once, and return what happened; `problems` is empty if every batch came once."""
    import ray

    from penstock.ray import RayLoader  # noqa: F401 (an error now is better than one of a child)

    with tempfile.TemporaryDirectory(prefix="ps-soak-", dir="/tmp") as folder:
        data = str(ps.make_sample_set(Path(folder) / "set", images=64, classes=4))
        wanted = sorted(expected(data, samples))
        context = ray.init(
            num_cpus=RANKS * workers,
            include_dashboard=False,
            object_store_memory=200_000_000,
            _temp_dir=f"{folder}/ray",
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
        told, begun = Told(), time.monotonic()
        command = [sys.executable, "-m", "soak.ray", "--address", context.address_info["address"]]
        command += ["--data", data, "--samples", str(samples), "--workers", str(workers)]
        consumers = [
            subprocess.Popen([*command, "--rank", str(rank)], stdout=subprocess.PIPE, text=True)
            for rank in range(RANKS)
        ]
        try:
            killed = watch(consumers, told, kills, len(wanted))
        finally:
            for consumer in consumers:
                consumer.kill() if consumer.poll() is None else None
                consumer.wait()
            ray.shutdown()
    took_s = time.monotonic() - begun
    problems = find_problems(told, wanted, kills - killed)
    counts = {name: sum(one[name] for one in told.counts) for name in (told.counts or [{}])[0]}
    return {
        "batches": len(told.batches),
        "kills": killed,
        "seconds": round(took_s, 1),
        **counts,
        "problems": problems,
    }


def find_problems(told: Told, wanted: list[tuple[int, int, str]], kills_left: int) -> list[str]:
    """What is wrong with the batches that came."""
    problems = []
    for rank in range(RANKS):
        came = [step for one, step, _ in told.batches if one == rank]
        steps = [step for one, step, _ in wanted if one == rank]
        if came != steps:
            problems.append(
                f"rank {rank}: {len(came)} batches, {len(steps)} were expected in order"
            )
    sums = {(rank, step): told_sum for rank, step, told_sum in told.batches}
    different = [place[:2] for place in wanted if sums.get(place[:2]) != place[2]]
    problems += [f"rank {rank}, step {step}: not the Loader's" for rank, step in different]
    if kills_left:
        problems.append(f"{kills_left} kills were left when the epoch ended")
    if len(told.counts) != RANKS:
        problems.append(f"{RANKS - len(told.counts)} consumers did not end well")
    return problems


def main() -> int:
    """Run the soak, or one of its consumers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--samples", type=int, default=20_000, help="in the epoch of both ranks")
    parser.add_argument("--workers", type=int, default=2, help="of each rank")
    for name in ("address", "data", "rank"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if asked.rank is not None:
        consume(asked.address, asked.data, int(asked.rank), asked.samples, asked.workers)
        return 0
    result = run(asked.kills, asked.samples, asked.workers)
    print(json.dumps(result, indent=1))
    return 1 if result["problems"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
