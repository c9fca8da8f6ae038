"""The command line of the benchmarks; `penstock bench` and `make bench` call it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from benchmarks.answer import Answer
from benchmarks.cases import CASES
from benchmarks.cases.kind import CaseKind
from benchmarks.coco_set import write_coco
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.documents import write_documents
from benchmarks.environment import cpu_name, system_name
from benchmarks.peer_process import Settings
from benchmarks.peer_venvs import CannotInstallError, python_of
from benchmarks.peers import COCO_PEERS, PEERS
from benchmarks.picture import draw_layers
from benchmarks.pixels import Comparison
from benchmarks.runner import Bench, PeerError, PeerMissingError, run_rounds, usable_cpus
from benchmarks.table import report

RESULTS = CHECKOUT / "benchmarks" / "results"
SCALE = "scale"
SCALE_POWERS, QUICK_SCALE_POWERS = (3, 4, 5, 6, 7), (3, 5, 7)
QUICK = {"rounds": 2, "seconds": 0.5}
QUICK_SHARE = 4  # of the images in a pass, one in so many


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="penstock bench",
        description="Measures penstock and its peers side by side; docs/benchmarks.md says how.",
    )
    names = [*CASES, SCALE]
    parser.add_argument("--case", help=f"some of {','.join(names)} (default: all in turn)")
    parser.add_argument("--peers", help=f"some of {','.join(PEERS)} (default: the case's own)")
    parser.add_argument("--cores", help="numbers of cores, as 1,2 (default: the case's own)")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, help="images in a pass (default: the case's own)")
    parser.add_argument("--rounds", type=int, help="timed turns (default: the case's own)")
    parser.add_argument("--seconds", type=float, help="of a turn (default: the case's own)")
    parser.add_argument("--layers", help="layers of RandAugment, as 0,2 (default: the case's own)")
    parser.add_argument(
        "--quick", action="store_true", help="some minutes, rougher, on one core where there is one"
    )
    parser.add_argument("--simd", help="instruction set for penstock: scalar, avx2 or avx512")
    parser.add_argument(
        "--here",
        action="store_true",
        help="run every peer in this environment instead of its own in .venv-peers/",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to FILE")
    parser.add_argument("--write", metavar="NAME", help="write the table to results/NAME.md")
    parser.add_argument(
        "--docs",
        action="store_true",
        help="write the figures to results/bench.json, and tables and chart to docs/benchmarks.md",
    )
    args = parser.parse_args(arguments)

    if args.write and Path(args.write).name != args.write:
        parser.error(f"--write takes a name, not a path, got {args.write!r}.")
    for name, value in QUICK.items():
        if args.quick and getattr(args, name) is None:
            setattr(args, name, value)
    for name, least in (("images", 1), ("rounds", 1), ("seconds", 0)):
        given = getattr(args, name)
        if given is not None and given < least:
            parser.error(f"--{name} must be at least {least}, got {given}.")
    args.case = _chosen(parser, "case", args.case, names) or names
    args.peers = _chosen(parser, "peers", args.peers, list(PEERS))
    args.cores = _numbers(parser, "cores", args.cores)
    args.layers = _numbers(parser, "layers", args.layers)
    available = len(usable_cpus())
    if args.cores and (args.cores[0] < 1 or args.cores[-1] > available):
        parser.error(f"--cores must lie between 1 and the {available} available, got {args.cores}.")
    if args.layers and args.layers[0] < 0:
        parser.error(f"--layers must not be negative, got {args.layers}.")
    return args


def _chosen(
    parser: argparse.ArgumentParser, option: str, given: str | None, known: Sequence[str]
) -> list[str] | None:
    """Read names with commas between; none given stays none."""
    if given is None:
        return None
    for name in given.split(","):
        if name not in known:
            parser.error(f"--{option}: there is no {name!r}; there are {', '.join(known)}.")
    return given.split(",")


def _numbers(parser: argparse.ArgumentParser, name: str, given: str | None) -> list[int] | None:
    """Read numbers with commas between; none given stays none."""
    if given is None:
        return None
    try:
        return sorted({int(count) for count in given.split(",")})
    except ValueError:
        parser.error(f"--{name} must be numbers with commas between, got {given!r}.")


def ask(kind: CaseKind, args: argparse.Namespace, bench: Bench, compare: Comparison) -> Answer:
    """Measure all peers of a case."""
    folder = args.data or default_folder(kind.photos)
    images = args.images or (max(1, kind.images // QUICK_SHARE) if args.quick else kind.images)
    peers = args.peers or kind.peers
    rounds = args.rounds or kind.rounds
    seconds = kind.seconds if args.seconds is None else args.seconds
    if kind.make_images:
        case = kind.make(kind.make_images(folder, images))
    else:
        case = kind.make(image_paths(folder, images))
    if any(peer in COCO_PEERS for peer in peers):
        write_coco(case.paths)
    outcome = run_rounds(
        bench,
        [
            Settings(peer, replace(case, augment_layers=layers), cpus, work)
            for cpus in _cores(kind, args)
            for peer in peers
            for layers in args.layers or (kind.quick_layers if args.quick else kind.layers)
            for work in kind.works
            if PEERS[peer].can(work)
        ],
        rounds,
        seconds,
        compare if kind.compares_pixels else None,
    )
    if not outcome.measured:
        raise PeerError(f"{kind.name}: no peer could be measured; the reasons are above.")
    different = len(set(case.paths))
    repeated = "" if different == len(case.paths) else f", {different:,} of them different,"
    turns = f"each of as many passes as fill {seconds:g} s" if seconds else "each of one pass"
    return Answer(
        name=kind.name,
        title=kind.title,
        question=case.question,
        setting=(
            f"{rounds} alternating rounds, {turns} over {len(case.paths):,} images{repeated} "
            f"from {folder.name}, after one warm-up pass"
            + (f"; PENSTOCK_SIMD={args.simd}" if args.simd else "")
        ),
        different_photos=different,
        machine=machine(),
        outcome=outcome,
    )


def _cores(kind: CaseKind, args: argparse.Namespace) -> list[tuple[int, ...]]:
    cpus = usable_cpus()
    counts = args.cores or [count for count in kind.cores if count <= len(cpus)] or [len(cpus)]
    return [tuple(cpus[:count]) for count in (counts[:1] if args.quick else counts)]


def machine() -> str:
    """Say what a table was measured on, and how busy that is."""
    about = f"{cpu_name()}; {system_name()}; Python {platform.python_version()}"
    return f"{about}; load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else about


def ask_scale(args: argparse.Namespace) -> Answer:
    """Measure what larger and larger data sets take before the first batch."""
    from benchmarks.scale import local_figures

    powers = QUICK_SCALE_POWERS if args.quick else SCALE_POWERS
    folder = args.data or default_folder()
    rows = local_figures(powers, folder)
    return Answer(
        name=SCALE,
        title="Larger and larger data sets",
        question=(
            "What a packed file costs before the first batch, as rank 7 of 1,000 with batches of "
            "256 and RandomResizedCrop(224): seconds and memory"
        ),
        setting=(
            "one process per line, files dropped from memory before; photos repeat, as "
            "benchmarks/scale.py says"
        ),
        different_photos=rows[0]["photos"],
        machine=machine(),
        scale=rows,
    )


def write_results(name: str, command: str, answers: Sequence[Answer]) -> None:
    """Write the tables, and a picture if there are layers to draw, beside the other results."""
    parts = [f"# {name}", *(report(answer) for answer in answers)]
    layered = [answer for answer in answers if any(one.layers for one in answer.outcome.measured)]
    for answer in layered:
        draw_layers(RESULTS / f"{name}.svg", answer.outcome.measured)
        parts.append(f"![images per second against layers]({name}.svg)\n")
    parts.append(f"Made by `{command}`.")
    text = parts[0] + "\n\n" + "\n".join(parts[1:]) + "\n"
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")


def make_bench(args: argparse.Namespace, folder: Path) -> Bench:
    """Return what runs the peers, as the command line asks."""
    say = partial(print, file=sys.stderr, flush=True)

    def python(peer: str) -> str:
        venv = PEERS[peer].venv
        if args.here or venv is None:
            return sys.executable
        try:
            return python_of(venv, say)
        except CannotInstallError as error:
            raise PeerMissingError(f"{peer}: {error}.") from error

    simd = {"PENSTOCK_SIMD": args.simd} if args.simd else {}
    return Bench(
        folder=folder,
        python_of=python,
        variables={
            name: {**(simd if name.startswith("penstock") else {}), **peer.variables}
            for name, peer in PEERS.items()
        },
        formats={name: peer.format for name, peer in PEERS.items()},
        say=say,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and write what was asked for."""
    args = parse(arguments)
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "--json" in words:  # where else the figures went says nothing about them
        del words[words.index("--json") : words.index("--json") + 2]
    command = " ".join(["penstock bench", *words])
    answers: list[Answer] = []
    status = 0
    build = CHECKOUT / "build"
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=build) as name:
        bench = make_bench(args, Path(name))
        compare = Comparison(bench)
        for case in args.case:
            try:
                if case == SCALE:
                    answer = ask_scale(args)
                else:
                    answer = ask(CASES[case], args, bench, compare)
            except (FileNotFoundError, PeerError) as error:
                print(f"benchmarks: {error}", file=sys.stderr)
                status = 2
                continue
            answers.append(replace(answer, command=command))
            print(report(answers[-1]), flush=True)
            if args.docs:  # now, so that a run that is interrupted has not been for nothing
                write_documents(answers[-1:])
    if args.write and answers:
        write_results(args.write, command, answers)
    if args.json:
        figures = {"command": command, "cases": [asdict(answer) for answer in answers]}
        args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
