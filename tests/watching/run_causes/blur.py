"""A wide blur among cheap ops."""

import argparse
import time

import torch
from photos import photo_folder
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

parser = argparse.ArgumentParser()
parser.add_argument("--mended", action="store_true", help="without the blur")
args, _ = parser.parse_known_args()

blur = [] if args.mended else [v2.GaussianBlur(9, sigma=3.0)]
transform = v2.Compose(
    [
        v2.RandomResizedCrop(224),
        v2.RandomHorizontalFlip(),
        *blur,
        v2.PILToTensor(),
        v2.ToDtype(torch.float32, scale=True),
    ]
)
dataset = ImageFolder(photo_folder(), transform)
loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)

if __name__ == "__main__":
    for _ in range(5):
        for images, _labels in loader:
            time.sleep(0.0005 * len(images))  # the accelerator
