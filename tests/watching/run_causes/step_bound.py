"""A step that takes longer than the loader, on an accelerator that needs none of the cores."""

import argparse
import time

import torch
from photos import photo_folder
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

parser = argparse.ArgumentParser()
parser.add_argument("--mended", action="store_true", help="with a batch that is ready")
args, _ = parser.parse_known_args()

transform = v2.Compose(
    [v2.RandomResizedCrop(96), v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)]
)
dataset = ImageFolder(photo_folder(), transform)


class OneBatch(torch.utils.data.IterableDataset):
    """The same batch again and again."""

    def __iter__(self):
        batch = torch.zeros(8, 3, 96, 96), torch.zeros(8)
        return iter([batch] * 16)


if args.mended:
    loader = DataLoader(OneBatch(), batch_size=None)
else:
    loader = DataLoader(dataset, 8, shuffle=True, num_workers=2, persistent_workers=True)

if __name__ == "__main__":
    for _ in range(4):
        for images, _labels in loader:
            time.sleep(0.006 * len(images))  # the accelerator
