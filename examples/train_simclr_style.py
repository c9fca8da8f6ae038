"""Learn without labels, as SimCLR does: two views of an image should look alike to the model.

Run:  python examples/train_simclr_style.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn
from torchvision.models.resnet import BasicBlock, ResNet

from penstock import Loader, make_sample_set
from penstock import transforms as T

SIDE_PX = 32
FEATURES = 64
TEMPERATURE = 0.5


def make_loader(folder: Path, batch_size: int) -> Loader:
    """Return a loader whose batches are two views of each image."""
    view = T.Compose(
        [
            T.RandomResizedCrop(SIDE_PX, scale=(0.2, 1.0)),
            T.RandomHorizontalFlip(),
            T.RandomApply([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
            T.RandomGrayscale(0.2),
        ]
    )
    return Loader(
        folder,
        batch_size=batch_size,
        shuffle=True,
        drop_last=True,
        transform=T.Compose(
            [T.MultiView([view] * 2), T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)]
        ),
    )


def contrast(first: Tensor, second: Tensor) -> Tensor:
    """Return the loss (NT-Xent): each view should find the other one of its image among all."""
    features = nn.functional.normalize(torch.cat([first, second]), dim=1)
    likeness = features @ features.T / TEMPERATURE
    likeness.fill_diagonal_(float("-inf"))
    images = len(first)
    others = torch.cat([torch.arange(images, 2 * images), torch.arange(images)])
    return nn.functional.cross_entropy(likeness, others)


def main() -> None:
    """Train, and say how well it goes after every epoch."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    folder = make_sample_set("sample_set", images=64, classes=4)
    loader = make_loader(folder, args.batch_size)
    model = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=FEATURES)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    for epoch in range(args.epochs):
        total = 0.0
        for (first, second), _ in loader:
            loss = contrast(model(first), model(second))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.3f}")


if __name__ == "__main__":
    main()
