"""Train a small ResNet with nothing but torch and torchvision: the plain loop of most tutorials.

Run:  python examples/train_resnet_plain.py
Then: penstock run examples/train_resnet_plain.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models.resnet import BasicBlock, ResNet
from torchvision.transforms import v2

from penstock import make_sample_set

CLASSES = 4
SIDE_PX = 32


Loader = DataLoader[tuple[Tensor, Tensor]]


def make_loaders(folder: Path, batch_size: int, workers: int) -> tuple[Loader, Loader]:
    """Return loaders for training and validation."""
    end = [
        v2.PILToTensor(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ]
    training = v2.Compose([v2.RandomResizedCrop(SIDE_PX), v2.RandomHorizontalFlip(), *end])
    validation = v2.Compose([v2.Resize(SIDE_PX + 4), v2.CenterCrop(SIDE_PX), *end])
    return (
        DataLoader(ImageFolder(folder, training), batch_size, shuffle=True, num_workers=workers),
        DataLoader(ImageFolder(folder, validation), batch_size, num_workers=workers),
    )


def main() -> None:
    """Train, and say how well it goes after every epoch."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    folder = make_sample_set("sample_set", images=64, classes=CLASSES)
    training, validation = make_loaders(folder, args.batch_size, args.workers)
    model = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    for epoch in range(args.epochs):
        model.train()
        for images, labels in training:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        model.eval()
        right = 0
        with torch.no_grad():
            for images, labels in validation:
                right += int((model(images).argmax(1) == labels).sum())
        print(f"epoch {epoch}: loss {loss.item():.3f}, {right} of 64 right")


if __name__ == "__main__":
    main()
