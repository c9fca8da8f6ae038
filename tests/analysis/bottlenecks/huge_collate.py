"""Batches padded to a size that no image has."""

import sys

import planted
from planted import torch

from penstock.results.records import Verdict

PADDED_PX = 768


def pad_and_stack(items):
    """Copy every image into the middle of a large canvas."""
    canvas = torch.zeros(len(items), 3, PADDED_PX, PADDED_PX)
    for slot, (image, _) in zip(canvas, items, strict=True):
        slot[:, : image.shape[1], : image.shape[2]] = image
    return canvas, torch.tensor([label for _, label in items])


if __name__ == "__main__":
    loader = planted.data_loader(planted.Tensors(512, 64), collate_fn=pad_and_stack)
    sys.exit(planted.main(Verdict.COLLATE, loader, "emulated:50000"))
