"""Batches padded to a size that no image has."""

import argparse
import time

import torch
from torch.utils.data import DataLoader, Dataset

PADDED_PX = 512


class Tensors(Dataset):
    """Images that need little work."""

    def __len__(self):
        return 600

    def __getitem__(self, index):
        noise = torch.rand(3, 320, 320)
        return noise[:, ::5, ::5].contiguous(), index


def pad_and_stack(items):
    """Copy every image into the corner of a large canvas, and normalise all of that."""
    canvas = torch.zeros(len(items), 3, PADDED_PX, PADDED_PX)
    for slot, (image, _) in zip(canvas, items, strict=True):
        slot[:, : image.shape[1], : image.shape[2]] = image
        slot.sub_(0.5).div_(0.25).exp_()
    return canvas[:, :, ::8, ::8].contiguous(), torch.tensor([label for _, label in items])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mended", action="store_true", help="with torch's own collate function")
    args = parser.parse_args()
    loader = DataLoader(
        Tensors(),
        batch_size=8,
        num_workers=2,
        persistent_workers=True,
        collate_fn=None if args.mended else pad_and_stack,
    )
    for _ in range(3):
        for images, _labels in loader:
            time.sleep(2e-5 * len(images))  # the accelerator


if __name__ == "__main__":
    main()
