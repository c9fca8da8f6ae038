"""Has `penstock run` judge six scripts, carries its advice out, and counts how often it was right.

`python -m tests.watching.run_causes --repeats 10`

The cause is right if the verdict is the one expected and the sentence names what is slow. The
advice is right if what it brought lies within 20 % of the range promised.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.results.records import Verdict

FOLDER = Path(__file__).parent
PENSTOCK_RUN = (sys.executable, "-m", "penstock.cli.main", "run")
WANTED = 0.9
NEAR = 1.2


@dataclass(frozen=True)
class Cause:
    """A script, what `run` should say of it, and how to carry its advice out."""

    script: str
    verdict: Verdict
    words: tuple[str, ...]
    mended: Callable[[str], list[str]] = field(default=lambda _: ["--mended"])


def workers(change: str) -> list[str]:
    """Give the script as many workers as it was advised to have."""
    return ["--workers", change.removeprefix("num_workers=")]


CAUSES = [
    Cause("network_latency.py", Verdict.READ, ("urllib", "network_latency.py:"), workers),
    Cause("blur.py", Verdict.AUGMENT, ("GaussianBlur",)),
    Cause("collate.py", Verdict.COLLATE, ("pad_and_stack", "collate.py:")),
    Cause("cpu_training.py", Verdict.SHARED_CORES, ("compete for the same",)),
    Cause("too_few_workers.py", Verdict.WORKERS, ("only worker", "num_workers="), workers),
    Cause("step_bound.py", Verdict.ACCELERATOR, ("sets the pace",)),
]


@dataclass(frozen=True)
class Trial:
    """What came of one script, run once as it is and once mended."""

    right: bool
    kept: bool  # whether the promise was
    gain: float
    low: float
    high: float
    sentence: str


def run(script: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """Run a script under `penstock run`; return its only loader's figures, and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        done = subprocess.run(
            [*PENSTOCK_RUN, "--json", str(file), str(script), *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        (loader,) = json.loads(file.read_text("utf-8"))["loaders"]
    return loader, done.stderr


def try_once(cause: Cause, *, show: bool) -> Trial:
    """Run a script, check what is said of it, do as advised, and see what that brings."""
    script = FOLDER / cause.script
    found, printed = run(script)
    if show:
        print(printed, file=sys.stderr)
    sentence = found["sentence"]
    right = found["verdict"] == cause.verdict.value and all(
        word in sentence for word in cause.words
    )
    if not right or not found["promises"]:
        return Trial(right, kept=False, gain=0.0, low=0.0, high=0.0, sentence=sentence)
    promise = found["promises"][0]
    low, high = promise["gain"]["low"], promise["gain"]["high"]
    mended, _ = run(script, *cause.mended(promise["change"]))
    gain = mended["later_images_per_s"] / found["later_images_per_s"]
    return Trial(right, low / NEAR <= gain <= high * NEAR, gain, low, high, sentence)


def main() -> int:
    """Try all, print a table, and fail if one is right too rarely."""
    parser = argparse.ArgumentParser(prog="python -m tests.watching.run_causes")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--only", help="the name of one script, without .py")
    parser.add_argument("--show", action="store_true", help="print what each run printed")
    args = parser.parse_args()
    failed = False
    print(f"{'script':18} {'cause':>8} {'promise':>8}  what it brought (what was promised)")
    for cause in CAUSES:
        name = cause.script.removesuffix(".py")
        if args.only not in {None, name}:
            continue
        trials = [try_once(cause, show=args.show) for _ in range(args.repeats)]
        right, kept = sum(one.right for one in trials), sum(one.kept for one in trials)
        gains = ", ".join(f"{one.gain:.2f} ({one.low:.1f}-{one.high:.1f})" for one in trials)
        print(f"{name:18} {right:>2} of {len(trials):<2} {kept:>2} of {len(trials):<2}  {gains}")
        for sentence in {one.sentence for one in trials if not one.right}:
            print(f"    WRONG: {sentence}")
        print(f"    {trials[-1].sentence}", flush=True)
        failed |= min(right, kept) < WANTED * len(trials)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
