"""One worker on a machine with more cores."""

import argparse
import time

import torch
from photos import photo_folder
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    transform = v2.Compose(
        [v2.RandomResizedCrop(128), v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)]
    )
    loader = DataLoader(
        ImageFolder(photo_folder(), transform),
        batch_size=8,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=True,
    )
    for _ in range(6):
        for images, _labels in loader:
            time.sleep(0.0002 * len(images))  # the accelerator


if __name__ == "__main__":
    main()
