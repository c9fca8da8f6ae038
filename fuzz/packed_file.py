"""Mutates small packed files and does with them what users do: nothing but PenstockError may come.

A signal, a sanitizer's report, another exception, over 1 GB or over 5 s of computing is a finding:
the file goes to build/fuzz/findings/, and the line that repeats it is printed. Mutants are made by
pen_mutants.py and run in child processes, thousands in each; one that dies costs only its mutant.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import os
import random
import resource
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

FINDINGS = Path("build/fuzz/findings")
MOST_BYTES = 1 << 30
MOST_CPU_S = 5.0
_HANGS_S = 60.0  # without a word; other work on the machine may slow one down
_PER_CHILD = 5000
_MOST_FINDINGS = 20


def load_core(path: str | None) -> None:
    """Take the extension from another build, such as one with sanitizers."""
    if path is None:
        return
    spec = importlib.util.spec_from_file_location("penstock._core", path)
    core = importlib.util.module_from_spec(spec)
    sys.modules["penstock._core"] = core
    spec.loader.exec_module(core)


# ---- in a child: what is done with a mutant -----------------------------------------------------


def uses(rng: random.Random, path: Path, data: bytes, scratch: Path) -> list[Callable[[], Any]]:
    """What users do with a packed file; the loaders are some of many."""
    from penstock import inspect, unpack, verify
    from penstock.packing.inspect import make_contact_sheet

    def look() -> None:
        inspection = inspect(path)
        inspection.lines()
        json.dumps(inspection.to_dict())

    how = rng.choice([{}, {"deep": True}, {"originals": True}])
    target = scratch / rng.choice(["out", "out.tar"])
    return [
        look,
        lambda: verify(path, threads=1, progress=False, **how),
        lambda: unpack(path, target, threads=1, progress=False),
        lambda: rng.random() < 0.15 and make_contact_sheet(path, scratch / "sheet.png", images=2),
        lambda: load(path, rng, data),
        lambda: rng.random() < 0.6 and load(path, rng, data),
        lambda: plan(path, rng),
        lambda: rng.random() < 0.2 and open_index(path, data),
    ]


def loader_options(rng: random.Random, data: bytes) -> dict[str, Any]:
    """Arguments of a loader, drawn; mostly some that go with what the file says it has."""
    from penstock import transforms as T

    def has(name: str) -> bool:
        return name.encode() + bytes(8) in data or rng.random() < 0.03

    transform: Any = rng.choice(
        [
            T.Resize((8, 8)),
            T.RandomResizedCrop(12),
            [T.RandomCrop(16, pad_if_needed=True), T.RandomHorizontalFlip(), T.ColorJitter(0.4)],
            [T.Pad(3), T.CenterCrop(20), T.RandomRotation(30)],
            [T.RandAugment(), T.CenterCrop(10)],
            [T.Grayscale(3), T.Resize((30, 30)), T.ElasticTransform(), T.GaussianBlur(3)],
            *([[T.RandomIoUCrop(), T.Resize((16, 16))]] if has("boxes") else []),
            *([[T.RandomZoomOut(), T.RandomShortestSize((8, 12))]] if has("boxes") else []),
        ]
    )
    objects = has("boxes") or has("keypoints")
    kinds = ["list", "padded"] if objects else [*(["labels"] if has("label") else []), "none"]
    options: dict[str, Any] = {
        "transform": T.Compose(transform) if isinstance(transform, list) else transform,
        "targets": rng.choice([None, None, *kinds]),
        "on_error": rng.choice(["raise", "skip", "skip", "substitute"]),
        "batch_size": rng.choice([1, 3, 6]),
        "shuffle": rng.random() < 0.5,
        "threads": rng.choice([1, 1, 2]),
        "prefetch": rng.choice([0, 1]),
        "seed": rng.getrandbits(20),
    }
    if options["targets"] not in ("labels", "none") and has("masks") and rng.random() < 0.7:
        options["masks"] = True
    columns = [name for name in ("label", "remark", "blob", "area", "vector", "name") if has(name)]
    if columns and rng.random() < 0.4:
        options["columns"] = rng.sample(columns, rng.randint(1, min(2, len(columns))))
        options["as_dict"] = rng.random() < 0.5
    if rng.random() < 0.1:
        options["backend"] = rng.choice(["pillow", "numpy"])
    if rng.random() < 0.1:
        options["fidelity"] = "fast"
    if not objects and has("label") and rng.random() < 0.3:
        mixed = T.Compose([T.Resize((8, 8)), T.ToDtype("float32", scale=True)])
        options |= {"batch_transform": T.MixUp(num_classes=3), "transform": mixed}
    return options


def load(path: Path, rng: random.Random, data: bytes) -> None:
    """An epoch of a loader."""
    from penstock import Loader

    loader = Loader(path, output="numpy", **loader_options(rng, data))
    try:
        for _batch in loader:
            pass
    finally:
        loader.close()


def plan(path: Path, rng: random.Random) -> None:
    """What a reader far away asks for: blocks, records, and parts of records for some rows."""
    import numpy as np

    from penstock.packing.ranges import block_ranges, blocks_of, check_heads, part_ranges
    from penstock.packing.read import PackFile

    file = PackFile(path)
    for sample in range(min(len(file), 6)):
        one, facts = np.array([sample]), file.sample(sample)
        top = rng.randrange(facts.height)
        rows = np.array([top]), np.array([rng.randint(top + 1, facts.height)])
        parts = part_ranges(file, one, *rows, scale=rng.choice([1, 8]))
        blocks = block_ranges(file, blocks_of(file, one)) if file.version > 1 else parts
        check_heads(file, one, [file.stored(facts.offset, facts.size)])
        end = facts.offset + facts.size
        inside = (parts.offset >= facts.offset) & (parts.offset + parts.size <= end)
        begin, size = int(blocks.offset[0]), int(blocks.size.sum())
        if not inside.all() or not begin <= facts.offset <= begin + size <= file.tail.records_end:
            raise RuntimeError(f"sample {sample}: ranges outside of its record or block")


def open_index(path: Path, data: bytes) -> None:
    """The index alone, as it comes from elsewhere."""
    from penstock.packing.pack_index import PackIndex, index_range

    begin, _ = index_range(len(data), data[-64:], str(path))
    index = PackIndex.from_bytes(data[begin:], len(data), str(path))
    for sample in range(min(len(index), 6)):
        index.sample(sample)


def use_all(rng: random.Random, path: Path, data: bytes, scratch: Path) -> list[str]:
    """Do everything; return what must not be, if anything."""
    from penstock import PenstockError

    found = []
    for use in uses(rng, path, data, scratch):
        begun = time.process_time()
        try:
            use()
        except PenstockError as error:
            str(error)
        except Exception:  # noqa: BLE001  whatever it is, it is a finding
            found.append(traceback.format_exc())
        if time.process_time() - begun > MOST_CPU_S:
            found.append(f"took {time.process_time() - begun:.1f} s of computing")
        for name in ("out", "out.tar", "out.tar.partial"):
            with contextlib.suppress(FileNotFoundError):
                there = scratch / name
                shutil.rmtree(there) if there.is_dir() else there.unlink()
    return found


def memory_bytes() -> int:
    """The most that this process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run_child(args: argparse.Namespace) -> int:
    """Work off some mutants; tell each one's number before it, and what was found after it."""
    import pen_mutants

    warnings.simplefilter("ignore")
    scratch = Path(args.scratch)
    seeds = [file.read_bytes() for file in sorted(scratch.glob("seed-*"))]
    path = scratch / "mutant.pen"
    base = memory_bytes()
    if args.core is None:  # a sanitizer's shadow takes terabytes of addresses
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = size + 4 * MOST_BYTES  # of addresses, of which threads take many without using them
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for number in range(args.first, args.first + args.count):
        print(json.dumps({"number": number}), flush=True)
        data = pen_mutants.mutant(seeds, args.seed, number)
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        rng = random.Random(f"use {args.seed}:{number}")
        silent = io.StringIO()
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
            found = use_all(rng, path, data, scratch)
        if memory_bytes() > base + MOST_BYTES:
            found.append(f"took {(memory_bytes() - base) >> 20:,} MB")
            base = memory_bytes()
        if found:
            print(json.dumps({"number": number, "found": found}), flush=True)
    return 0


# ---- the parent: keeps children running, collects findings --------------------------------------


class Run:
    """One run over the mutants of a seed."""

    def __init__(self, args: argparse.Namespace, scratch: Path) -> None:
        self._args = args
        self._scratch = scratch
        self.tried = 0
        self.findings = 0
        self._end_s = time.monotonic() + args.seconds if args.seconds else float("inf")

    def all(self) -> None:
        """Work off everything, in children one after the other."""
        number, end = self._args.first, self._args.first + self._args.count
        while number < end and not self._is_over():
            number = self._child(number, min(_PER_CHILD, end - number))

    def _is_over(self) -> bool:
        return time.monotonic() > self._end_s or self.findings >= _MOST_FINDINGS

    def _child(self, first: int, count: int) -> int:
        """Run a child; return the number of the mutant to go on with."""
        args = self._args
        command = [sys.executable, __file__, "--child", str(self._scratch)]
        command += ["--seed", str(args.seed), "--first", str(first), "--count", str(count)]
        command += ["--core", args.core] if args.core else []
        child = subprocess.Popen(  # noqa: S603  ourselves
            command, stdout=subprocess.PIPE, env=self._environment()
        )
        number = first - 1
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while not self._is_over():
                if not selector.select(_HANGS_S):
                    self._keep(number, f"no end after {_HANGS_S:.0f} s")
                    break
                line = child.stdout.readline()
                if not line:
                    break
                told = json.loads(line)
                if "found" in told:
                    self._keep(told["number"], "\n".join(told["found"]))
                else:
                    number = told["number"]
                    self.tried += 1
        is_over = self._is_over()
        if child.poll() is None and (is_over or number < first + count - 1):
            time.sleep(0.2)  # for a child that is about to die by itself
        if child.poll() is None and number < first + count - 1:
            child.kill()
            child.wait()
        elif child.wait() != 0 and not is_over:
            self._keep(number, f"the process ended with {child.returncode}")
        return number + 1

    def _environment(self) -> dict[str, str]:
        extra = {"PENSTOCK_SIMD": self._args.simd} if self._args.simd else {}
        return {**os.environ, **extra}

    def _keep(self, number: int, what: str) -> None:
        import pen_mutants

        self.findings += 1
        seeds = [file.read_bytes() for file in sorted(self._scratch.glob("seed-*"))]
        FINDINGS.mkdir(parents=True, exist_ok=True)
        kept = FINDINGS / f"packed-{self._args.seed}-{number}.pen"
        kept.write_bytes(pen_mutants.mutant(seeds, self._args.seed, number))
        again = f"--seed {self._args.seed} --first {number} --count 1"
        again += f" --simd {self._args.simd}" if self._args.simd else ""
        print(f"fuzz: packed_file: {what}\nsee {kept}, or repeat it:\n  {__file__} {again}\n")


def main() -> int:
    """Mutate as long, or as often, as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time")
    parser.add_argument("--count", type=int, default=sys.maxsize, help="stop after so many")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--simd", help="instruction set: scalar, avx2 or avx512")
    parser.add_argument("--core", help="another build of the extension, for sanitizers")
    parser.add_argument("--child", dest="scratch", help=argparse.SUPPRESS)
    args = parser.parse_args()
    load_core(args.core)
    if args.scratch:
        return run_child(args)
    import pen_seeds

    if not args.seconds and args.count == sys.maxsize:
        args.seconds = 60
    room = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108  a disk is slow
    with tempfile.TemporaryDirectory(dir=room) as folder:
        scratch = Path(folder)
        (scratch / "seeds").mkdir()
        for number, data in enumerate(pen_seeds.seed_files(scratch / "seeds")):
            (scratch / f"seed-{number}").write_bytes(data)
        run = Run(args, scratch)
        begun = time.monotonic()
        run.all()
        took = time.monotonic() - begun
    print(
        f"fuzz: packed_file for {took:.0f} s: {run.tried:,} mutants, {run.tried / took:.1f} a "
        f"second, {run.findings} findings\nstat::number_of_executed_units: {run.tried}"
    )
    return 1 if run.findings else 0


if __name__ == "__main__":
    sys.exit(main())
