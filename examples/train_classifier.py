"""Train a small classifier on a sample data set, stop in mid-epoch, and go on where it stopped.

The resumed run sees the very batches that the uninterrupted one saw, so its losses are the same.

Run: python examples/train_classifier.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

import penstock as ps
from penstock import make_sample_set
from penstock import transforms as T

CLASSES = 4
EPOCHS = 2
STOP_AFTER_BATCHES = 6


@dataclass
class Training:
    """All that a checkpoint has to bring back."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    loader: ps.Loader
    epoch: int = 0

    def checkpoint(self) -> dict[str, Any]:
        """Return the state; the loader's part is a few integers, whatever the data set's size."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "loader": self.loader.state_dict(),
            "epoch": self.epoch,
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Take up a state; the loader goes on with the batch after the last one it gave out."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.loader.load_state_dict(state["loader"])
        self.epoch = state["epoch"]


def make_training(folder: Path) -> Training:
    """Set up a model and a loader from scratch."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, CLASSES),
    )
    loader = ps.Loader(
        folder,
        batch_size=16,
        transform=T.Compose(
            [
                T.RandomResizedCrop(64),
                T.RandomHorizontalFlip(),
                T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            ]
        ),
        shuffle=True,
        seed=0,
    )
    return Training(model, torch.optim.Adam(model.parameters(), lr=1e-3), loader)


def train(training: Training, stop_after: int | None = None) -> list[float]:
    """Train to the last epoch, or for some batches only; return the loss of each batch."""
    losses: list[float] = []
    while True:
        for images, labels in training.loader:
            loss = nn.functional.cross_entropy(training.model(images), labels)
            training.optimizer.zero_grad()
            loss.backward()
            training.optimizer.step()
            losses.append(loss.item())
            if len(losses) == stop_after:
                return losses
        training.epoch += 1
        if training.epoch == EPOCHS:
            return losses
        training.loader.set_epoch(training.epoch)


def main() -> None:
    """Compare an uninterrupted run with one that was stopped and resumed."""
    folder = make_sample_set("sample_set", images=64, classes=CLASSES)

    uninterrupted = train(make_training(folder))

    stopped = make_training(folder)
    before = train(stopped, stop_after=STOP_AFTER_BATCHES)
    torch.save(stopped.checkpoint(), "checkpoint.pt")

    resumed = make_training(folder)
    resumed.resume(torch.load("checkpoint.pt"))
    after = train(resumed)

    print(f"uninterrupted: {len(uninterrupted)} batches, last loss {uninterrupted[-1]:.6f}")
    print(f"resumed:       {len(before)} + {len(after)} batches, last loss {after[-1]:.6f}")
    if uninterrupted != before + after:
        raise SystemExit("The resumed run differs from the uninterrupted one.")
    print("Both runs had the same loss in every batch.")


if __name__ == "__main__":
    main()
