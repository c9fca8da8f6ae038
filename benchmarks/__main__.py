"""The command line of the benchmarks; `penstock bench` and `make bench` call it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.answer import Answer
from benchmarks.asking import MULTIVIEW, SCALE, ask, ask_multiview, ask_scale, expected_of
from benchmarks.cases import CASES
from benchmarks.dataset import CHECKOUT
from benchmarks.documents import write_documents
from benchmarks.peer_venvs import HOMES, RECIPES, CannotInstallError, python_of
from benchmarks.peers import PEERS
from benchmarks.picture import draw_layers
from benchmarks.pixels import Comparison
from benchmarks.progress import Progress
from benchmarks.run import BUILD, CannotResumeError, Run
from benchmarks.runner import Bench, PeerError, PeerMissingError, usable_cpus
from benchmarks.table import report

RESULTS = CHECKOUT / "benchmarks" / "results"
QUICK = {"rounds": 2, "seconds": 0.5}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="penstock bench",
        description="Measures penstock and its peers side by side; docs/benchmarks.md says how.",
    )
    names = [*CASES, MULTIVIEW, SCALE]
    parser.add_argument("--case", help=f"some of {','.join(names)} (default: all in turn)")
    parser.add_argument("--peers", help=f"some of {','.join(PEERS)} (default: the case's own)")
    parser.add_argument("--cores", help="numbers of cores, as 1,2 (default: the case's own)")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, help="images to read (default: the case's own)")
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
        help=f"run every peer in this environment instead of its own in {HOMES}",
    )
    parser.add_argument(
        "--install", action="store_true", help="only make the environments of all peers"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the last run, which was interrupted: leave out the cases that it has",
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


def make_bench(args: argparse.Namespace, folder: Path, progress: Progress) -> Bench:
    """Return what runs the peers, as the command line asks."""

    def python(peer: str) -> str:
        venv = PEERS[peer].venv
        if args.here or venv is None:
            return sys.executable
        try:
            return python_of(venv, progress.say)
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
        say=progress.say,
        held={name: peer.batches_held for name, peer in PEERS.items()},
        advance=progress.advance,
    )


def install() -> int:
    """Make the environments of all peers, and say which cannot be made."""
    status = 0
    for venv in RECIPES:
        try:
            print(f"{venv}: {python_of(venv, print)}", flush=True)
        except CannotInstallError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            status = 2
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and write what was asked for after each case."""
    args = parse(arguments)
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "--json" in words:  # where else the figures went says nothing about them
        del words[words.index("--json") : words.index("--json") + 2]
    if args.install:
        return install()
    try:
        run = Run.resumed(words) if args.resume else Run.begun(words)
    except CannotResumeError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    cases = [case for case in args.case if case not in {answer.name for answer in run.answers}]
    expected = {case: expected_of(case, args) for case in cases}
    progress = Progress(expected, partial(print, file=sys.stderr, flush=True))
    status = 0
    with tempfile.TemporaryDirectory(prefix="bench-", dir=BUILD) as name:
        bench = make_bench(args, Path(name), progress)
        compare = Comparison(bench)
        for case in cases:
            progress.begin(case)
            try:
                answer = answer_to(case, args, bench, compare)
            except (FileNotFoundError, PeerError) as error:
                print(f"benchmarks: {error}", file=sys.stderr)
                status = 2
                continue
            run.add(answer)
            print(report(answer), flush=True)
            write_files(args, run)  # now: an interrupted run was then not for nothing
    if not cases:
        write_files(args, run)
    return status


def answer_to(case: str, args: argparse.Namespace, bench: Bench, compare: Comparison) -> Answer:
    """Measure one case."""
    if case == SCALE:
        return ask_scale(args, bench.say)
    if case == MULTIVIEW:
        return ask_multiview(args)
    return ask(CASES[case], args, bench, compare)


def write_files(args: argparse.Namespace, run: Run) -> None:
    """Write the figures of all cases so far to the files that were asked for."""
    if args.docs:
        write_documents(run.answers)
    if args.write:
        write_results(args.write, run.command, run.answers)
    if args.json:
        run.write(args.json)


if __name__ == "__main__":
    sys.exit(main())
