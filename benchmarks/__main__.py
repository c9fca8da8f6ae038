"""The command line of the benchmarks; `make bench ARGS="--quick"` calls it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.dataset import CHECKOUT, default_folder, image_paths, write_packed
from benchmarks.environment import cpu_name, system_name
from benchmarks.peer_process import Settings
from benchmarks.peers import ENVIRONMENTS, PACKED_PEERS, PEERS
from benchmarks.runner import PeerError, run_rounds, usable_cpus
from benchmarks.table import report

RESULTS = CHECKOUT / "benchmarks" / "results"
FULL = {"images": 1_024, "rounds": 7, "seconds": 3.0}
QUICK = {"images": 256, "rounds": 2, "seconds": 0.5}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures penstock and its peers side by side; docs/benchmarks.md says how.",
    )
    parser.add_argument("--case", choices=CASES, default="classify_224")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"some of {','.join(PEERS)}")
    parser.add_argument("--cores", default="1,2", help="numbers of cores (default: %(default)s)")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, help=f"images in a pass (default: {FULL['images']})")
    parser.add_argument("--rounds", type=int, help=f"timed turns (default: {FULL['rounds']})")
    parser.add_argument("--seconds", type=float, help=f"of a turn (default: {FULL['seconds']:g})")
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes, rougher")
    parser.add_argument("--simd", help="instruction set for penstock: scalar, avx2 or avx512")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to FILE")
    parser.add_argument("--write", metavar="NAME", help="write the table to results/NAME.md")
    args = parser.parse_args(arguments)

    if args.write and Path(args.write).name != args.write:
        parser.error(f"--write takes a name, not a path, got {args.write!r}.")
    defaults = QUICK if args.quick else FULL
    for name, value in defaults.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
        least = 0 if name == "seconds" else 1
        if getattr(args, name) < least:
            parser.error(f"--{name} must be at least {least}, got {getattr(args, name)}.")
    args.peers = args.peers.split(",")
    for peer in args.peers:
        if peer not in PEERS:
            parser.error(f"--peers: no peer is called {peer!r}; there are {', '.join(PEERS)}.")
    try:
        args.cores = sorted({int(count) for count in args.cores.split(",")})
    except ValueError:
        parser.error(f"--cores must be numbers with commas between, got {args.cores!r}.")
    available = len(usable_cpus())
    if args.cores[0] < 1 or args.cores[-1] > available:
        parser.error(f"--cores must lie between 1 and the {available} available, got {args.cores}.")
    return args


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and write what was asked for."""
    args = parse(arguments)
    cpus = usable_cpus()
    try:
        folder = args.data or default_folder()
        case = CASES[args.case](image_paths(folder, args.images))
        settings = [
            Settings(peer, args.case, str(folder.resolve()), args.images, tuple(cpus[:count]))
            for count in args.cores
            for peer in args.peers
        ]
        simd = {"PENSTOCK_SIMD": args.simd} if args.simd else {}
        if any(peer in PACKED_PEERS for peer in args.peers):
            write_packed(case.paths, case.labels)
        measured = run_rounds(
            settings,
            args.rounds,
            args.seconds,
            {"penstock_folder": simd, "penstock_packed": simd, **ENVIRONMENTS},
            lambda text: print(text, file=sys.stderr),
        )
    except (FileNotFoundError, PeerError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2

    setting = (
        f"{args.rounds} alternating rounds, each of as many passes over {args.images:,} images "
        f"from {folder.name} as fill {args.seconds:g} s, after one warm-up pass"
    )
    if args.simd:
        setting += f"; PENSTOCK_SIMD={args.simd}"
    text = report(measured, case.question, setting)
    print(text)
    if args.write:
        command = f"python -m benchmarks {' '.join(arguments or sys.argv[1:])}"
        target = RESULTS / f"{args.write}.md"
        target.write_text(f"# {args.write}\n\n{text}\nMade by `{command}`.\n", encoding="utf-8")
    if args.json:
        figures = {
            "cpu": cpu_name(),
            "system": system_name(),
            "question": case.question,
            "setting": setting,
            "measured": [asdict(one) for one in measured],
        }
        args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
