"""The command line of the benchmarks; `make bench ARGS="--quick"` calls it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.cases.kind import CaseKind
from benchmarks.coco_set import write_coco
from benchmarks.dataset import CHECKOUT, default_folder, image_paths, write_packed
from benchmarks.environment import cpu_name, system_name
from benchmarks.peer_process import Settings
from benchmarks.peers import COCO_PEERS, ENVIRONMENTS, PACKED_PEERS, PEERS
from benchmarks.picture import draw_layers
from benchmarks.runner import Outcome, PeerError, run_rounds, usable_cpus
from benchmarks.table import report

RESULTS = CHECKOUT / "benchmarks" / "results"
QUICK = {"rounds": 2, "seconds": 0.5}
QUICK_SHARE = 4  # of the images in a pass, one in so many


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures penstock and its peers side by side; docs/benchmarks.md says how.",
    )
    parser.add_argument("--case", choices=CASES, help="default: all, one after the other")
    parser.add_argument("--peers", help=f"some of {','.join(PEERS)} (default: the case's own)")
    parser.add_argument("--cores", help="numbers of cores, as 1,2 (default: the case's own)")
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--images", type=int, help="images in a pass (default: the case's own)")
    parser.add_argument("--rounds", type=int, help="timed turns (default: the case's own)")
    parser.add_argument("--seconds", type=float, help="of a turn (default: the case's own)")
    parser.add_argument("--layers", help="layers of RandAugment, as 0,2 (default: the case's own)")
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes, rougher")
    parser.add_argument("--simd", help="instruction set for penstock: scalar, avx2 or avx512")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to FILE")
    parser.add_argument("--write", metavar="NAME", help="write the table to results/NAME.md")
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
    args.peers = args.peers.split(",") if args.peers else None
    for peer in args.peers or ():
        if peer not in PEERS:
            parser.error(f"--peers: no peer is called {peer!r}; there are {', '.join(PEERS)}.")
    args.cores = _numbers(parser, "cores", args.cores)
    args.layers = _numbers(parser, "layers", args.layers)
    available = len(usable_cpus())
    if args.cores and (args.cores[0] < 1 or args.cores[-1] > available):
        parser.error(f"--cores must lie between 1 and the {available} available, got {args.cores}.")
    if args.layers and args.layers[0] < 0:
        parser.error(f"--layers must not be negative, got {args.layers}.")
    return args


def _numbers(parser: argparse.ArgumentParser, name: str, given: str | None) -> list[int] | None:
    """Read numbers with commas between; none given stays none."""
    if given is None:
        return None
    try:
        return sorted({int(count) for count in given.split(",")})
    except ValueError:
        parser.error(f"--{name} must be numbers with commas between, got {given!r}.")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came out of one case."""

    question: str
    setting: str
    outcome: Outcome

    def table(self) -> str:
        """Return what was measured as Markdown text."""
        return report(self.outcome, self.question, self.setting)


def ask(kind: CaseKind, args: argparse.Namespace) -> Answer:
    """Measure all peers of a case."""
    folder = args.data or default_folder(kind.photos)
    images = args.images or (max(1, kind.images // QUICK_SHARE) if args.quick else kind.images)
    peers = args.peers or kind.peers
    rounds = args.rounds or kind.rounds
    seconds = kind.seconds if args.seconds is None else args.seconds
    all_layers = args.layers or (kind.quick_layers if args.quick else kind.layers)
    case = kind.make(image_paths(folder, images))
    cpus = usable_cpus()
    settings = [
        Settings(peer, kind.name, str(folder.resolve()), images, tuple(cpus[:count]), layers)
        for count in args.cores or [count for count in kind.cores if count <= len(cpus)]
        for peer in peers
        for layers in all_layers
    ]
    simd = {"PENSTOCK_SIMD": args.simd} if args.simd else {}
    environments = {peer: simd for peer in peers if peer.startswith("penstock")} | ENVIRONMENTS
    if any(peer in PACKED_PEERS for peer in peers):
        write_packed(case.paths, case.labels)
    if any(peer in COCO_PEERS for peer in peers):
        write_coco(case.paths)
    say = partial(print, file=sys.stderr)
    outcome = run_rounds(settings, rounds, seconds, environments, say)
    if not outcome.measured:
        raise PeerError(f"{kind.name}: no peer could be measured; the reasons are above.")
    setting = (
        f"{rounds} alternating rounds, each of as many passes over {len(case.paths):,} images "
        f"from {folder.name} as fill {seconds:g} s, after one warm-up pass"
    )
    if args.simd:
        setting += f"; PENSTOCK_SIMD={args.simd}"
    return Answer(case.question, setting, outcome)


def write_results(name: str, command: str, answers: Sequence[Answer]) -> None:
    """Write the tables, and a picture if there are layers to draw, beside the other results."""
    parts = [f"# {name}", *(answer.table() for answer in answers)]
    layered = [answer for answer in answers if any(one.layers for one in answer.outcome.measured)]
    for answer in layered:
        draw_layers(RESULTS / f"{name}.svg", answer.outcome.measured)
        parts.append(f"![images per second against layers]({name}.svg)\n")
    parts.append(f"Made by `{command}`.")
    text = parts[0] + "\n\n" + "\n".join(parts[1:]) + "\n"
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and write what was asked for."""
    args = parse(arguments)
    kinds = [CASES[args.case]] if args.case else list(CASES.values())
    answers = []
    try:
        for kind in kinds:
            answers.append(ask(kind, args))
            print(answers[-1].table())
    except (FileNotFoundError, PeerError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    if args.write:
        command = f"python -m benchmarks {' '.join(arguments or sys.argv[1:])}"
        write_results(args.write, command, answers)
    if args.json:
        figures = {
            "cpu": cpu_name(),
            "system": system_name(),
            "cases": [asdict(answer) for answer in answers],
        }
        args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
