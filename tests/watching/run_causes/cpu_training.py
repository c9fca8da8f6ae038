"""A small network trained on the cores that load its photos."""

import argparse

import torch
from photos import photo_folder
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

import penstock

transform = v2.Compose(
    [
        v2.RandomResizedCrop(96),
        v2.RandomHorizontalFlip(),
        v2.PILToTensor(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ]
)
dataset = ImageFolder(photo_folder(), transform)
train_loader = DataLoader(
    dataset, batch_size=16, shuffle=True, num_workers=2, persistent_workers=True
)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mended", action="store_true", help="with penstock's own loader")
    args = parser.parse_args()
    batches = penstock.accelerate(train_loader) if args.mended else train_loader
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, 2, 1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, 2, 1),
        nn.ReLU(),
        nn.Conv2d(64, 128, 3, 2, 1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, len(dataset.classes)),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(10):
        for images, labels in batches:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
