"""Train a tiny model to tell rectangles from their background, with a mask for each image.

Run: python examples/train_segmentation.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

import penstock as ps
from penstock import transforms as T

CLASSES = 3
IGNORED = 255  # the class number of what is not to be learned


def make_pairs(root: Path, count: int) -> None:
    """Write images/000.jpg ... and masks/000.png ...: rectangles of two colours on gray."""
    rng = np.random.default_rng(0)
    for part in ("images", "masks"):
        (root / part).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        pixels = rng.integers(90, 130, (96, 128, 3), np.uint8)
        classes = np.zeros((96, 128), np.uint8)
        for label in (1, 2):
            top, left = rng.integers(0, 48), rng.integers(0, 64)
            pixels[top : top + 40, left : left + 50, label] = 250
            classes[top : top + 40, left : left + 50] = label
        Image.fromarray(pixels).save(root / "images" / f"{number:03}.jpg", quality=95)
        Image.fromarray(classes).save(root / "masks" / f"{number:03}.png")


def main() -> None:
    """Train, and say how many pixels are right after every epoch."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--images", type=int, default=48)
    args = parser.parse_args()
    make_pairs(Path("rectangles"), args.images)

    packed = Path("rectangles.pen")
    packed.unlink(missing_ok=True)
    ps.pack("rectangles", packed, progress=False)
    transform = T.Compose(
        [
            T.RandomRotation(15),
            T.RandomResizedCrop((64, 64), scale=(0.5, 1.0)),
            T.RandomHorizontalFlip(),
            T.ColorJitter(0.2, 0.2),
            T.ToDtype("float32", scale=True),
            T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )
    loader = ps.Loader(packed, transform=transform, batch_size=8, shuffle=True, mask_fill=IGNORED)
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, CLASSES, 3, padding=1)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(args.epochs):
        right = known = 0
        for images, masks in loader:
            scores = model(images)
            loss = nn.functional.cross_entropy(scores, masks, ignore_index=IGNORED)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            wanted = masks != IGNORED
            right += int((scores.argmax(1) == masks)[wanted].sum())
            known += int(wanted.sum())
        print(f"epoch {epoch}: loss {loss.item():.3f}, {100 * right / known:.0f} % of pixels right")


if __name__ == "__main__":
    main()
