"""The command line of the soak; `make soak SOAK_SECONDS=600 ARGS="--seed 7"` calls it."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import count
from pathlib import Path

from soak import faults, loading, packing
from soak.children import REASONABLE_S, Scene
from soak.data_sets import DataSet, make_data_sets
from soak.results import Outcome, Results

# Every kind, and how often it comes in comparison with the others.
KINDS: dict[str, tuple[Callable[[Scene], None], int]] = {
    "batches": (loading.batches, 8),
    "resume": (loading.resume, 3),
    "ranks": (loading.ranks, 3),
    "close": (loading.close, 3),
    "leak": (loading.leak, 1),
    "truncate": (loading.truncate, 3),
    "replace": (loading.replace_file, 3),
    "kill_loader": (loading.kill_loader, 3),
    "kill_pack": (packing.kill_pack, 3),
    "two_packs": (packing.two_packs, 2),
    "fault_pack": (faults.fault_pack, 3),
    "fault_loader": (faults.fault_loader, 3),
}
PLANTS = (
    *("wrong_batch", "raw_exception", "signal", "hang"),
    *("leak", "descriptors", "damaged_pack"),
)
TELL_EVERY_S = 10.0
IMAGES = 40


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="how long (default: an hour)")
    parser.add_argument("--configurations", type=int, help="stop after so many, if that is sooner")
    parser.add_argument("--seed", type=int, help="default: from the clock; it is printed")
    parser.add_argument("--number", type=int, help="only this configuration, to repeat a failure")
    parser.add_argument("--repeat", type=int, default=1, help="how often, with --number")
    parser.add_argument("--kinds", help=f"some of {','.join(KINDS)}")
    parser.add_argument("--jobs", type=int, default=2, help="configurations at a time")
    parser.add_argument(
        "--images", type=int, default=IMAGES, help="images in the largest data sets"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result there; - for stdout")
    parser.add_argument("--keep", type=Path, help="keep the folders of failures below this one")
    parser.add_argument("--plant", choices=PLANTS, help="plant a fault, to see that it is found")
    parser.add_argument(
        "--patience", type=float, default=REASONABLE_S, help="seconds until a child hangs"
    )
    return parser.parse_args(arguments)


class Soak:
    """Runs configurations; each depends on the seed and its number alone."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.args = args
        self.folder = folder
        seed = args.seed if args.seed is not None else int(time.time()) % 1_000_000
        options = f" --kinds {args.kinds}" if args.kinds else ""
        if args.images != IMAGES:
            options += f" --images {args.images}"
        self.results = Results(seed, options)
        self.kinds = self._choose_kinds()
        self.data_sets: dict[str, DataSet] = make_data_sets(folder / "data", seed, args.images)

    def _choose_kinds(self) -> list[str]:
        names = self.args.kinds.split(",") if self.args.kinds else list(KINDS)
        unknown = sorted(set(names) - set(KINDS))
        if unknown:
            raise SystemExit(f"soak: no such kind: {', '.join(unknown)}. There are {list(KINDS)}.")
        if faults.library() is None:
            for name in ("fault_pack", "fault_loader"):
                self.results.left_out[name] = "io_faults.c cannot be compiled here"
        if set(names) <= set(self.results.left_out):
            raise SystemExit(f"soak: nothing left to run: {self.results.left_out}")
        return [name for name in names for _ in range(KINDS[name][1])]

    def run_one(self, number: int) -> Outcome:
        """Run the configuration of that number."""
        rng = random.Random(f"{self.results.seed}:{number}")
        kind = rng.choice(self.kinds)
        while kind in self.results.left_out:  # the other numbers mean the same on every machine
            kind = rng.choice(self.kinds)
        folder = Path(tempfile.mkdtemp(prefix=f"{number}-{kind}-", dir=self.folder))
        scene = Scene(rng, folder, self.data_sets, self.args.plant, self.args.patience)
        began_s = time.monotonic()
        KINDS[kind][0](scene)
        left = [path.name for path in (folder / "tmp").glob("*")]
        scene.expect(not left, f"temporary files left behind: {left}")
        if scene.failures and self.args.keep is not None:
            shutil.copytree(folder, self.args.keep / folder.name)
        shutil.rmtree(folder)
        return Outcome(
            number,
            kind,
            tuple(scene.failures),
            tuple(scene.notes),
            scene.refused,
            scene.children,
            scene.peak_mb,
            time.monotonic() - began_s,
        )

    def outcomes(self, end_s: float) -> Iterator[Outcome]:
        """Run configurations until the time is up, some at a time."""
        args = self.args
        numbers = count() if args.number is None else iter([args.number] * args.repeat)
        if args.configurations is not None:
            numbers = iter(range(args.configurations))
        under_way: set[Future[Outcome]] = set()
        with ThreadPoolExecutor(args.jobs) as pool:
            while True:
                while len(under_way) < args.jobs and time.monotonic() < end_s:
                    number = next(numbers, None)
                    if number is None:
                        break
                    under_way.add(pool.submit(self.run_one, number))
                if not under_way:
                    return
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak until the time is up; return 1 if anything failed."""
    args = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="penstock-soak-") as folder:
        soak = Soak(args, Path(folder))
        results = soak.results
        began_s = told_s = time.monotonic()  # the data sets are made
        print(f"soak: seed {results.seed}, {args.seconds:.0f} s, {args.jobs} at a time", flush=True)
        try:
            for outcome in soak.outcomes(began_s + args.seconds):
                results.outcomes.append(outcome)
                if outcome.failures:
                    first = outcome.failures[0].splitlines()[0]
                    print(f"soak: FAILED {outcome.kind} {outcome.number}: {first}", flush=True)
                if time.monotonic() - told_s > TELL_EVERY_S:
                    told_s = time.monotonic()
                    print(results.progress(told_s - began_s), flush=True)
        except KeyboardInterrupt:
            print("soak: interrupted; what was under way does not count", flush=True)
    took_s = time.monotonic() - began_s
    if args.json:
        text = json.dumps(results.to_dict(took_s), indent=1)
        if args.json == "-":
            print(text)
        else:
            Path(args.json).write_text(text + "\n", encoding="utf-8")
    if args.json != "-":
        print(results.table(took_s))
    return 1 if results.failed or not results.outcomes else 0  # nothing run is nothing shown


if __name__ == "__main__":
    sys.exit(main())
