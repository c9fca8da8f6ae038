"""Asks the questions of all cases: which peers to run on what, and what to say of the figures."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.answer import Answer
from benchmarks.cases import CASES
from benchmarks.cases.kind import CaseKind
from benchmarks.coco_set import write_coco
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import OtherWork, cpu_name, system_name
from benchmarks.peer_process import Settings
from benchmarks.peers import COCO_PEERS, PEERS
from benchmarks.pixels import Comparison
from benchmarks.runner import Bench, PeerError, expected_s, run_rounds, usable_cpus

QUICK_SHARE = 4  # of the images, one in so many
SCALE, MULTIVIEW = "scale", "multiview"
SCALE_POWERS, QUICK_SCALE_POWERS = (3, 4, 5, 6, 7), (3, 5, 7)
SCALE_S, MULTIVIEW_S = 60.0, 60.0  # about
VIEWED, VIEW_ROUNDS, QUICK_VIEW_ROUNDS = 64, 3, 1


def ask(kind: CaseKind, args: argparse.Namespace, bench: Bench, compare: Comparison) -> Answer:
    """Measure all peers of a case."""
    other_work = OtherWork()
    folder = args.data or default_folder(kind.photos)
    images = args.images or (max(1, kind.images // QUICK_SHARE) if args.quick else kind.images)
    rounds, seconds = args.rounds or kind.rounds, _turn_s(kind, args)
    paths = kind.make_images(folder, images) if kind.make_images else image_paths(folder, images)
    case = replace(kind.make(paths), repeats=kind.repeats)
    wanted = [
        Settings(peer, replace(case, augment_layers=layers), cpus, work)
        for cpus, peer, layers, work in _entries(kind, args)
    ]
    if any(one.peer in COCO_PEERS for one in wanted):
        write_coco(case.paths)
    finish = compare if kind.compares_pixels else None
    outcome = run_rounds(bench, wanted, rounds, seconds, finish)
    if not outcome.measured:
        raise PeerError(f"{kind.name}: no peer could be measured; the reasons are above.")
    different = len(set(case.paths))
    repeated = "" if different == len(case.paths) else f", {different:,} of them different,"
    epochs = f", {case.repeats} times in an epoch" if case.repeats > 1 else ""
    return Answer(
        name=kind.name,
        title=kind.title,
        question=case.question,
        setting=(
            f"{rounds} alternating rounds, in each of which a peer {kind.turn} for {seconds:g} s; "
            f"{len(case.paths):,} images{repeated} from {folder.name}{epochs}"
            + (f"; PENSTOCK_SIMD={args.simd}" if args.simd else "")
        ),
        different_photos=different,
        machine=machine(other_work),
        outcome=outcome,
    )


def _entries(
    kind: CaseKind, args: argparse.Namespace
) -> list[tuple[tuple[int, ...], str, int, str]]:
    """Return who takes part: each peer on each number of cores, with all layers and works."""
    return [
        (cpus, peer, layers, work)
        for cpus in _cores(kind, args)
        for peer in args.peers or kind.peers
        for layers in _layers(kind, args)
        for work in kind.works
        if PEERS[peer].can(work)
    ]


def _cores(kind: CaseKind, args: argparse.Namespace) -> list[tuple[int, ...]]:
    cpus = usable_cpus()
    counts = args.cores or [count for count in kind.cores if count <= len(cpus)] or [len(cpus)]
    return [tuple(cpus[:count]) for count in (counts[:1] if args.quick else counts)]


def _layers(kind: CaseKind, args: argparse.Namespace) -> Sequence[int]:
    if args.layers and len(kind.layers) > 1:  # other cases know of none
        return list(args.layers)
    return kind.quick_layers if args.quick else kind.layers


def _turn_s(kind: CaseKind, args: argparse.Namespace) -> float:
    return float(kind.seconds if args.seconds is None else args.seconds)


def machine(other_work: OtherWork) -> str:
    """Say what a table was measured on, and how busy that was."""
    about = f"{cpu_name()}; {system_name()}; Python {platform.python_version()}"
    return f"{about}; {other_work.described()}"


def ask_scale(args: argparse.Namespace, say: Callable[[str], None]) -> Answer:
    """Measure what larger and larger data sets take before the first batch."""
    from benchmarks.scale import local_figures

    other_work = OtherWork()
    folder = args.data or default_folder()
    rows = local_figures(QUICK_SCALE_POWERS if args.quick else SCALE_POWERS, folder, say)
    return Answer(
        name=SCALE,
        title="Larger and larger data sets",
        question=(
            "What a packed file costs before the first batch of 256, with RandomResizedCrop(224): "
            "seconds and memory"
        ),
        setting=(
            "one process per line, files dropped from memory before; warm: once more, with what "
            "was read still in memory; photos repeat, as benchmarks/scale.py says"
        ),
        different_photos=rows[0]["photos"],
        machine=machine(other_work),
        scale=rows,
    )


def ask_multiview(args: argparse.Namespace) -> Answer:
    """Measure what several views of an image cost, in a process of its own."""
    from benchmarks.multiview import COLUMNS

    other_work = OtherWork()
    folder: Path = args.data or default_folder()
    rounds = args.rounds or (QUICK_VIEW_ROUNDS if args.quick else VIEW_ROUNDS)
    paths = image_paths(folder, args.images or VIEWED)
    options = ["--json", f"--data={folder}", f"--images={len(paths)}", f"--rounds={rounds}"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.multiview", *options],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PeerError(f"{MULTIVIEW}: {done.stderr.strip()[-300:]}")
    return Answer(
        name=MULTIVIEW,
        title="Several views of an image",
        question="Milliseconds of CPU time for 2 crops of 224 and 8 of 96, as DINO takes them",
        setting="\n".join(
            [f"{rounds} alternating rounds over {len(paths)} images from {folder.name}", *COLUMNS]
        ),
        different_photos=len(set(paths)),
        machine=machine(other_work),
        rows=json.loads(done.stdout.splitlines()[-1]),
    )


def expected_of(name: str, args: argparse.Namespace) -> float:
    """Return about how many seconds a case takes."""
    if name in {SCALE, MULTIVIEW}:
        return SCALE_S if name == SCALE else MULTIVIEW_S
    kind = CASES[name]
    processes = len(_entries(kind, args))
    return expected_s(processes, args.rounds or kind.rounds, _turn_s(kind, args))
