"""Train as timm's train.py does: its arguments, its mixing, its validation, with native batches.

timm's own script needs one changed import: `from penstock.timm import create_dataset,
create_loader`. This is the part of it that is about data.

Run:  python examples/timm_loop.py
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

import torch
from torch import nn

from penstock import make_sample_set

SIDE_PX = 32


def main() -> None:
    """Train for some epochs, the last of them without mixing, and validate after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("sample_set"))
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    if importlib.util.find_spec("timm") is None:
        sys.exit("timm is not installed: pip install timm")
    from timm.data import FastCollateMixup

    from penstock.timm import create_dataset, create_loader

    if not args.data.exists():
        make_sample_set(args.data, images=64)
    dataset = create_dataset("", root=str(args.data), split="train", is_training=True)
    classes = len(dataset.reader.class_to_idx)
    torch.manual_seed(42)  # the order, and all that is drawn
    train = create_loader(
        dataset,
        input_size=(3, SIDE_PX, SIDE_PX),
        batch_size=8,
        is_training=True,
        auto_augment="rand-m9-mstd0.5-inc1",
        interpolation="random",
        re_prob=0.25,
        re_mode="pixel",
        collate_fn=FastCollateMixup(mixup_alpha=0.2, cutmix_alpha=1.0, num_classes=classes),
        device=torch.device("cpu"),
    )
    evaluate = create_loader(
        create_dataset("", root=str(args.data), split="validation"),
        input_size=(3, SIDE_PX, SIDE_PX),
        batch_size=8,
        device=torch.device("cpu"),
    )
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, classes),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(args.epochs):
        if epoch == args.epochs - 1 and train.mixup_enabled:
            train.mixup_enabled = False
        for images, targets in train:
            loss = nn.functional.cross_entropy(model(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right = total = 0
        with torch.no_grad():
            for images, labels in evaluate:
                right += int((model(images).argmax(1) == labels).sum())
                total += len(labels)
        print(f"epoch {epoch}: {len(train)} batches, {right} of {total} right")


if __name__ == "__main__":
    main()
