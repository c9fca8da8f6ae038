"""`python -m benchmarks.pipelines`: the pipelines of examples/pipelines against torchvision.

penstock reads a packed file with one thread; torchvision's transforms run in a plain loop over the
files, which is cheaper than a DataLoader. Both make batches, and take turns on one core of one
process. `--write` adds what was measured to results/pipelines.json, and writes
results/pipelines.md from it.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import PIL

import penstock
from benchmarks.dataset import CHECKOUT
from benchmarks.pipelines.data import (
    Data,
    open_boxes,
    open_large_photos,
    open_masks,
    open_photos,
)
from benchmarks.summary import ratio_in_each_round
from benchmarks.table import aligned
from benchmarks.turns import (
    Figures,
    Pass,
    environment_of,
    in_milliseconds,
    pass_of_loader,
    stay_on_one_core,
    take_turns,
    times_faster,
)

RESULTS = CHECKOUT / "benchmarks" / "results"
REPEATED = 4  # so many times an epoch of penstock has the samples of a pass of torchvision
WANTED = 5.0
PLANS: dict[str, dict[str, Any]] = {
    "as written": {"plan": False},
    "exact": {},
    "fast": {"fidelity": "fast"},
}
HEADINGS = (
    "pipeline",
    "torchvision ms",
    "as written ms",
    "exact ms",
    "fast ms",
    "exact, x torchvision",
    "exact, x as written",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a pipeline runs on, and how many samples a pass and a batch have."""

    open: Callable[[int], Data]
    samples: int
    batch_size: int


PHOTOS = Kind(open_photos, 64, 32)
LARGE = Kind(open_large_photos, 6, 3)
BOXES = Kind(open_boxes, 48, 16)
MASKS = Kind(open_masks, 48, 16)
PIPELINES = {
    "torchvision_classification_train": PHOTOS,
    "torchvision_classification_eval": PHOTOS,
    "torchvision_ssd": BOXES,
    "torchvision_ssdlite": BOXES,
    "torchvision_segmentation_train": MASKS,
    "timm_train": PHOTOS,
    "timm_eval": PHOTOS,
    "simclr": PHOTOS,
    "dino": PHOTOS,
    "medical": MASKS,
    "large_photos": LARGE,
    "satellite_tiles": LARGE,
}


def pass_of_torchvision(transform: Any, data: Data, batch_size: int) -> int:
    """Prepare all samples, and make batches of their images."""
    import torch

    for first in range(0, data.count, batch_size):
        indices = range(first, min(first + batch_size, data.count))
        images = [read_by_torchvision(data, transform, index) for index in indices]
        for views in zip(*images, strict=True) if isinstance(images[0], list) else [images]:
            torch.stack(list(views))
    return data.count


def read_by_torchvision(data: Data, transform: Any, index: int) -> Any:
    """Read the image of a sample, again where timm asks for a posterize that Pillow refuses."""
    while True:
        try:
            return data.read(transform, index)[0]
        except ValueError as error:
            if "bits must be between" not in str(error):
                raise


def all_views(transforms: Sequence[Any], image: Any) -> list[Any]:
    """Make each view of an image."""
    return [transform(image) for transform in transforms]


@contextmanager
def contestants_for(name: str) -> Iterator[dict[str, Pass]]:
    """Open all contestants of a pipeline."""
    kind = PIPELINES[name]
    data = kind.open(kind.samples)
    pipeline = importlib.import_module(f"examples.pipelines.{name}")
    theirs = pipeline.torchvision_transform()
    if isinstance(theirs, list):
        theirs = partial(all_views, theirs)
    passes: dict[str, Pass] = {
        "torchvision": partial(pass_of_torchvision, theirs, data, kind.batch_size)
    }
    with ExitStack() as stack:
        for plan, options in PLANS.items():
            loader = penstock.Loader(
                data.packed,
                transform=pipeline.transform,
                batch_size=kind.batch_size,
                indices=list(range(data.count)) * REPEATED,
                shuffle=True,
                threads=1,
                output="torch",
                **data.options,
                **options,
            )
            loader = loader.replica()  # begins no epoch before it is asked for it
            stack.callback(loader.close)
            passes[plan] = partial(pass_of_loader, loader)
        yield passes


def measure(name: str, rounds: int, least_s: float) -> dict[str, Any]:
    """Return the figures of one pipeline, as they are kept."""
    with contestants_for(name) as contestants:
        return {"name": name, **take_turns(contestants, rounds, least_s)}


def report(figures: Figures) -> str:
    """Return everything that results/pipelines.md says."""
    notes = [
        (
            "torchvision: a plain loop over the files, without a DataLoader; timm's transforms "
            "where the pipeline is timm's"
        ),
        (
            "timm's policy now and then asks Pillow to posterize to 0 bits, which Pillow refuses "
            "since version 13: such a sample is drawn anew, and its first try counts as well"
        ),
        (
            "penstock: whole epochs of a `Loader` with one thread on a packed file; *as written* "
            'is `plan=False`, *fast* is `fidelity="fast"`'
        ),
    ]
    parts = [
        "# pipelines",
        (
            "Milliseconds per image for the pipelines of [examples/pipelines]"
            "(../../examples/pipelines/README.md), from the file to the batch."
        ),
        "\n".join([*figures.heading(), *(f"- {note}" for note in notes)]),
        "\n".join(aligned([HEADINGS, *(row(one) for one in figures.entries)])),
        below(figures.entries),
        "Made by `python -m benchmarks.pipelines --write`.",
    ]
    return "\n\n".join(parts) + "\n"


def row(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of one pipeline."""
    took = entry["ms"]
    return (
        entry["name"],
        *(in_milliseconds(took[name]) for name in ("torchvision", *PLANS)),
        times_faster(took["torchvision"], took["exact"]),
        times_faster(took["as written"], took["exact"]),
    )


def below(entries: Sequence[dict[str, Any]]) -> str:
    """Name the pipelines that are not as many times faster than torchvision as they should be."""
    found = [
        one["name"]
        for one in entries
        if ratio_in_each_round(one["ms"]["torchvision"], one["ms"]["exact"]).median < WANTED
    ]
    listed = ", ".join(found) if found else "none"
    return f"Below {WANTED:g} times torchvision: {listed}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and write it if asked."""
    import torch
    import torchvision

    parser = argparse.ArgumentParser(prog="python -m benchmarks.pipelines", description=__doc__)
    parser.add_argument("--only", help="names of pipelines, with commas between (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=0.25, help="of a turn, at least (default: %(default)s)"
    )
    parser.add_argument("--write", action="store_true", help="write results/pipelines.{json,md}")
    args = parser.parse_args(arguments)
    names = args.only.split(",") if args.only else list(PIPELINES)
    for name in names:
        if name not in PIPELINES:
            parser.error(f"--only: no pipeline is called {name!r}; there are {list(PIPELINES)}.")
    if args.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {args.rounds}.")
    stay_on_one_core()
    entries = []
    for name in names:
        entries.append(measure(name, args.rounds, args.seconds))
        print("  ".join(row(entries[-1])), file=sys.stderr, flush=True)
    figures = Figures(environment_of(PIL, torch, torchvision, penstock), entries)
    if args.write:
        figures = figures.written_to(RESULTS / "pipelines.json", PIPELINES)
        (RESULTS / "pipelines.md").write_text(report(figures), encoding="utf-8")
    print(report(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
