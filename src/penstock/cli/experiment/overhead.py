"""`penstock experiment overhead`: the first study."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from penstock.cli.experiment.study import Study
from penstock.cli.shared import count, seconds, wholes

if TYPE_CHECKING:
    from penstock.experiments.experiment import Experiment
    from penstock.experiments.findings import Findings
    from penstock.experiments.journal import Journal


def add_options(options: argparse.ArgumentParser) -> None:
    """Add what can be chosen; what is not given depends on --quick."""
    options.add_argument(
        "--data",
        metavar="DATA",
        help="photos in any layout that pack reads (default: photos that penstock makes itself)",
    )
    options.add_argument(
        "--photos", type=count, metavar="N", help="how many of them, at most (default: 256)"
    )
    options.add_argument(
        "--models",
        type=_names,
        metavar="NAMES",
        help="models of torchvision or timm (default: resnet50,mobilenet_v2)",
    )
    options.add_argument(
        "--device",
        type=_names,
        metavar="NAMES",
        help="cuda, mps, cpu, or emulated accelerators: emulated:a100, emulated:a100/resnet50, "
        "emulated:IMAGES_PER_SECOND; the first is the main one (default: the GPU that torch finds; "
        "without one, emulated:a100,emulated:titan-rtx,cpu)",
    )
    options.add_argument(
        "--gpus",
        type=count,
        default=1,
        metavar="K",
        help="so many accelerators, fed by the same cores (default: 1)",
    )
    options.add_argument(
        "--loaders",
        type=_names,
        metavar="NAMES",
        help="of torchvision,folder,packed,dali (default: all)",
    )
    options.add_argument(
        "--cores",
        type=wholes,
        metavar="LIST",
        help="numbers of cores; more than there are is predicted (default: 1,2,4,6,8)",
    )
    options.add_argument(
        "--layers",
        type=wholes,
        metavar="LIST",
        help="layers of RandAugment; 0 is the basic pipeline (default: 0,1,2,3,5)",
    )
    options.add_argument(
        "--methods",
        type=_names,
        metavar="NAMES",
        help="other augmentations, of autoaugment,trivialaugment,pba,mixup,cutmix, or none "
        "(default: all)",
    )
    options.add_argument(
        "--rounds", type=count, metavar="N", help="how often to repeat everything (default: 3)"
    )
    options.add_argument(
        "--seconds", type=seconds, metavar="S", help="length of one run (default: 0.6)"
    )


def make(args: argparse.Namespace) -> Experiment:
    """Return the experiment with what was chosen."""
    from penstock.experiments.overhead.experiment import Choice, make_experiment

    return make_experiment(
        Choice(
            data=args.data,
            photos=args.photos,
            models=args.models,
            devices=args.device,
            gpus=args.gpus,
            loaders=args.loaders,
            cores=args.cores,
            layers=args.layers,
            methods=args.methods,
            rounds=args.rounds,
            seconds=args.seconds,
            quick=args.quick,
        )
    )


def draw(journal: Journal) -> Findings:
    """Return what was found."""
    from penstock.experiments.overhead.draw import draw as draw_findings

    return draw_findings(journal)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


OVERHEAD = Study(
    "overhead",
    "the first study: what the input pipeline costs a training",
    "Measures synthetic, pipeline-only and end-to-end rates for models, augmentations, numbers of "
    "cores and loaders, and shows where training starves. Takes about 20 minutes on two cores; "
    "with --quick, three.",
    add_options,
    make,
    draw,
)
