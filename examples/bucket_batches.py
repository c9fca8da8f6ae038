"""Train on photos of many shapes without squeezing them: batches of one bucket each.

As diffusion models are trained: every image keeps about its own shape, all images of a batch have
one size, and all sizes have about the same area. The model here is tiny; it learns to undo noise.

Run:  python examples/bucket_batches.py
"""

from __future__ import annotations

import argparse
from collections import Counter

import torch
from torch import nn

import penstock as ps
from penstock import transforms as T


def main() -> None:
    """Train, and say which sizes the batches had."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--images", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=4)
    args = parser.parse_args()
    folder = ps.make_sample_set("sample_set", images=args.images, classes=4)
    train, held_back = ps.random_split(folder, [0.75, 0.25], seed=0, stratified=True)

    # Sides in steps of 16 pixels, at most 96 * 96 pixels, at most twice as wide as high.
    buckets = ps.BucketBatches.by_area(96 * 96, step=16, most_ratio=2.0)
    transform = T.Compose(
        [
            T.ResizeToBucket(buckets.buckets, crop="random"),
            T.RandomHorizontalFlip(),
            T.ToDtype("float32", scale=True),
        ]
    )
    loader = ps.Loader(
        folder,
        batch_size=args.batch_size,
        transform=transform,
        sampling=buckets,
        indices=train,
        targets="none",
        shuffle=True,
    )
    print(f"{len(train)} images to train with, {len(held_back)} held back")
    print(loader.describe_sampling())

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 3, 3, padding=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        seen: Counter[str] = Counter()
        losses = []
        for images in loader:
            noise = torch.randn_like(images)
            loss = nn.functional.mse_loss(model(images + noise), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            seen["{2}x{3}".format(*images.shape)] += len(images)
        sizes = ", ".join(f"{count} of {size}" for size, count in sorted(seen.items()))
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}; {sizes}")


if __name__ == "__main__":
    main()
