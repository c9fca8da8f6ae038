"""Train with penstock.torch.DataLoader in the place of torch's, and go on after a stop.

Everything else is torch's own: the samplers, the generator, the loop.

Run:  python examples/torch_dataloader.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import Subset, WeightedRandomSampler

from penstock import make_sample_set
from penstock import transforms as T
from penstock.torch import DataLoader, Dataset

SIDE_PX = 32


def make_loaders(folder: Path) -> tuple[DataLoader, DataLoader]:
    """Return loaders for training, by classes that come equally often, and for validation."""
    end = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
    augment = T.Compose([T.RandomResizedCrop(SIDE_PX), T.RandomHorizontalFlip(), end])
    plain = T.Compose([T.Resize(SIDE_PX + 4), T.CenterCrop(SIDE_PX), end])
    training, validation = Dataset(folder, transform=augment), Dataset(folder, transform=plain)
    order = torch.randperm(len(training), generator=torch.Generator().manual_seed(0)).tolist()
    ours, theirs = order[: len(order) * 3 // 4], order[len(order) * 3 // 4 :]
    labels = np.asarray(training.labels)[ours]
    weights = 1 / np.bincount(labels)[labels]
    return (
        DataLoader(
            Subset(training, ours),
            batch_size=16,
            sampler=WeightedRandomSampler(weights.tolist(), len(weights)),
        ),
        DataLoader(Subset(validation, theirs), batch_size=16),
    )


def main() -> None:
    """Train, stop in the middle of an epoch, and go on with a new loader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("sample_set"))
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    folder = args.data if args.data.exists() else Path(make_sample_set(args.data, images=96))
    torch.manual_seed(0)
    training, validation = make_loaders(folder)
    classes = len(training.classes or ())
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, classes),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        losses = []
        for number, (images, labels) in enumerate(training):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if epoch == 0 and number == 1:
                state = training.state_dict()  # goes into a checkpoint
        with torch.no_grad():
            right = sum(int((model(x).argmax(1) == y).sum()) for x, y in validation)
        print(f"epoch {epoch}: loss {np.mean(losses):.3f}, {right} right in validation")
    resumed, _ = make_loaders(folder)
    resumed.load_state_dict(state)
    print(f"resumed: {len(list(resumed))} of {len(resumed)} batches were left of epoch 0")


if __name__ == "__main__":
    main()
