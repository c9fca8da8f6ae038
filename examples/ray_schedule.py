"""Search an augmentation schedule on Ray Tune, and see whether it beats none on images never seen.

A small network learns ten shapes from 500 images. Other images judge the search; and others again,
which nothing has seen before, judge the outcome: with no augmentation, with random constant
policies out of the same space, and with the schedule; each with several seeds.

Run:  python examples/ray_schedule.py
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
import torch
from torch import nn
from torch.nn import functional as F

import penstock as ps
from penstock import transforms as T
from penstock.ray import Trial, search_schedule

SIDE_PX = 32
BATCH_SIZE = 32
RATE = 5e-3
TO_FLOATS = T.Normalize((0.5,) * 3, (0.25,) * 3)


def make_model(seed: int) -> nn.Module:
    """Return a network with some 24,000 weights."""
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs)]
        layers += [nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Training:
    """A network, and all that belongs to its training."""

    def __init__(self, data: Path, epochs: int, seed: int, steps: Sequence[Any]) -> None:
        self.loader = ps.Loader(
            data / "train",
            batch_size=BATCH_SIZE,
            transform=T.Compose([*steps, TO_FLOATS]),
            shuffle=True,
            seed=seed,
            threads=1,
        )
        self.model = make_model(seed)
        self.optimizer = torch.optim.Adam(self.model.parameters(), RATE)
        self.rates = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, RATE, total_steps=epochs * len(self.loader)
        )

    def train_epoch(self, epoch: int) -> None:
        """Train for one epoch."""
        self.model.train()
        self.loader.set_epoch(epoch)
        for images, labels in self.loader:
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(images), labels).backward()
            self.optimizer.step()
            self.rates.step()

    @torch.no_grad()
    def accuracy(self, folder: Path) -> float:
        """Return the share of images whose class is found."""
        self.model.eval()
        right = total = 0
        with ps.Loader(folder, batch_size=250, transform=TO_FLOATS, threads=1) as loader:
            for images, labels in loader:
                right += int((self.model(images).argmax(1) == labels).sum())
                total += len(labels)
        return right / total

    def save(self, folder: Path) -> None:
        """Write all that another training needs to go on."""
        torch.save([part.state_dict() for part in self._parts()], folder / "state.pt")

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        states = torch.load(folder / "state.pt", weights_only=True)
        for part, state in zip(self._parts(), states, strict=True):
            part.load_state_dict(state)

    def _parts(self) -> tuple[Any, ...]:
        return self.model, self.optimizer, self.rates


def train(trial: Trial, data: Path) -> None:
    """Train as the search asks for it."""
    torch.set_num_threads(1)
    training = Training(data, trial.epochs, trial.seed, [trial.augment()])
    if trial.folder is not None:
        training.load(trial.folder)
    with training.loader:
        for epoch in range(trial.start, trial.epochs):
            training.train_epoch(epoch)
            trial.report(training.accuracy(data / "judge"), training.save)


@ray.remote(num_cpus=1)
def final_accuracy(data: Path, epochs: int, seed: int, steps: Sequence[Any]) -> float:
    """Train from the beginning; return the accuracy on images never seen."""
    torch.set_num_threads(1)
    training = Training(data, epochs, seed, steps)
    with training.loader:
        for epoch in range(epochs):
            training.train_epoch(epoch)
    return training.accuracy(data / "test")


def random_policy(path: Path, seed: int) -> T.PopulationBasedAugment:
    """Return a policy that never changes, drawn evenly from the space that is searched."""
    dice = Random(seed)
    known = {op.name for op in T.PopulationBasedAugment().stage_at(0).ops}
    ops = [
        [name, dice.randint(0, 10) / 10, dice.randint(0, 9)] for name in sorted(known) for _ in "12"
    ]
    stages = [{"from_epoch": 0, "ops": ops}]
    path.write_text(json.dumps({"epochs": 1, "counts": [0.2, 0.3, 0.5], "stages": stages}))
    return T.PopulationBasedAugment(path)


def make_data(folder: Path, images: int, judges: int) -> Path:
    """Draw the shapes: to train with, to judge the search, and to judge its outcome."""
    drawn = ps.make_shape_set(folder / "one", train=images, test=judges, side_px=SIDE_PX)
    other = ps.make_shape_set(folder / "two", train=10, test=judges, seed=1, side_px=SIDE_PX)
    (folder / "data").mkdir()
    for name, place in (
        ("train", drawn / "train"),
        ("judge", other / "test"),
        ("test", drawn / "test"),
    ):
        (folder / "data" / name).symlink_to(place)
    return folder / "data"


def main() -> None:
    """Search, then compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=36)
    parser.add_argument("--population", type=int, default=8)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--judges", type=int, default=1000, help="images never trained with")
    parser.add_argument("--seed", type=int, default=0, help="of the search")
    parser.add_argument("--seeds", type=int, default=5, help="final trainings of each kind")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ps-", dir="/tmp") as scratch:
        folder = Path(scratch)
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=200_000_000,
            _temp_dir=f"{scratch}/ray",
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
        data = make_data(folder, args.images, args.judges)
        found = search_schedule(
            lambda trial: train(trial, data),
            folder / "schedule.json",
            epochs=args.epochs,
            storage=folder / "search",
            population=args.population,
            seed=args.seed,
        )
        schedule = T.PopulationBasedAugment(found.path)
        print(
            f"the best training of {args.population} found {found.score:.1%} of the judge's images"
        )
        print(schedule.describe(args.epochs - 1))
        kinds: dict[str, list[list[Any]]] = {"none": [], "random": [], "schedule": []}
        for seed in range(args.seeds):
            kinds["none"].append([])
            kinds["random"].append([random_policy(folder / f"random-{seed}.json", seed)])
            kinds["schedule"].append([schedule])
        compare(data, args.epochs, kinds)
        ray.shutdown()


def compare(data: Path, epochs: int, kinds: dict[str, list[list[Any]]]) -> None:
    """Train with the steps of each kind, and print how many images never seen are found."""
    tasks = {
        kind: [
            final_accuracy.remote(data, epochs, 1000 + seed, steps)
            for seed, steps in enumerate(lists)
        ]
        for kind, lists in kinds.items()
    }
    for kind, waiting in tasks.items():
        found = ray.get(waiting)
        spread = statistics.stdev(found) if len(found) > 1 else 0.0
        each = " ".join(f"{share:.1%}" for share in found)
        print(f"{kind}: {statistics.mean(found):.1%} +- {spread:.1%} ({each})")


if __name__ == "__main__":
    main()
