"""Search an augmentation schedule on Ray Tune, and see whether it beats none on held-out images.

A small network learns ten shapes from few pictures. Half of the pictures that it does not train
with judge the search; the other half, which nothing has seen, judge the outcome.

Run:  python examples/ray_schedule.py
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import ray
import torch
from torch import nn
from torch.nn import functional as F

import penstock as ps
from penstock import transforms as T
from penstock.ray import Trial, search_schedule

SIDE_PX = 32
BATCH_SIZE = 50


def make_model() -> nn.Module:
    """Return a network with some twenty thousand weights."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 16), (16, 32), (32, 48)):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs)]
        layers += [nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 10))


def images(folder: Path, *steps: Any, epoch: int = 0, training: bool = False) -> ps.Loader:
    """Return a loader over a folder of class folders."""
    transform = T.Compose([*steps, T.Normalize((0.5,) * 3, (0.25,) * 3)])
    loader = ps.Loader(
        folder, batch_size=BATCH_SIZE, transform=transform, shuffle=training, threads=1
    )
    loader.set_epoch(epoch)
    return loader


def train_epoch(model: nn.Module, optimizer: Any, loader: ps.Loader) -> None:
    """Train for one epoch."""
    model.train()
    for pictures, labels in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(pictures), labels).backward()
        optimizer.step()


@torch.no_grad()
def accuracy(model: nn.Module, folder: Path) -> float:
    """Return the share of images whose class is found."""
    model.eval()
    right = total = 0
    with closing(images(folder)) as loader:
        for pictures, labels in loader:
            right += int((model(pictures).argmax(1) == labels).sum())
            total += len(labels)
    return right / total


def train(trial: Trial, data: Path) -> None:
    """Train as the search asks for it."""
    torch.set_num_threads(1)
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    if trial.folder is not None:
        state = torch.load(trial.folder / "state.pt", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])

    def save(folder: Path) -> None:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, folder / "state.pt")

    for epoch in range(trial.start, trial.epochs):
        with closing(images(data / "train", trial.augment(), epoch=epoch, training=True)) as loader:
            train_epoch(model, optimizer, loader)
        trial.report(accuracy(model, data / "judge"), save)


def final_accuracy(data: Path, epochs: int, *steps: Any) -> float:
    """Train from the beginning with these steps; return the accuracy on images never seen."""
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for epoch in range(epochs):
        with closing(images(data / "train", *steps, epoch=epoch, training=True)) as loader:
            train_epoch(model, optimizer, loader)
    return accuracy(model, data / "test")


def make_data(folder: Path, images: int) -> Path:
    """Draw the shapes: for training, for the search, and for the last judgement."""
    drawn = ps.make_shape_set(folder / "shapes", train=images, test=600, side_px=SIDE_PX)
    other = ps.make_shape_set(folder / "others", train=600, test=10, seed=1, side_px=SIDE_PX)
    data = folder / "data"
    data.mkdir()
    (data / "train").symlink_to(drawn / "train")
    (data / "test").symlink_to(drawn / "test")
    (data / "judge").symlink_to(other / "train")
    return data


def main() -> None:
    """Search, then train twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--population", type=int, default=8)
    parser.add_argument("--images", type=int, default=300)
    args = parser.parse_args()
    torch.set_num_threads(1)
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    with tempfile.TemporaryDirectory() as scratch:
        data = make_data(Path(scratch).absolute(), args.images)
        found = search_schedule(
            lambda trial: train(trial, data),
            data.parent / "schedule.json",
            epochs=args.epochs,
            storage=data.parent / "search",
            population=args.population,
            every=3,
        )
        print(f"the best of {args.population} trainings found {found.score:.1%} of the judge's images")
        print(T.PopulationBasedAugment(found.path).describe(args.epochs - 1))
        none = final_accuracy(data, args.epochs)
        augmented = final_accuracy(data, args.epochs, T.PopulationBasedAugment(found.path))
    ray.shutdown()
    print(f"on images never seen: {none:.1%} without augmentation, {augmented:.1%} with the schedule")


if __name__ == "__main__":
    main()
