"""Train on two ranks with plain torchrun: each loads its own half of every epoch.

Run:  torchrun --nproc-per-node 2 examples/torchrun.py
Or, for one rank:  python examples/torchrun.py
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler

from penstock import make_sample_set
from penstock import transforms as T
from penstock.torch import DataLoader, Dataset

SIDE_PX = 32


def main() -> None:
    """Train for some epochs; every rank says what it has seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("sample_set"))
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    if "RANK" in os.environ:  # torchrun says which rank this is
        dist.init_process_group("gloo")
    else:
        alone = f"file://{tempfile.mkdtemp()}/ranks"
        dist.init_process_group("gloo", init_method=alone, rank=0, world_size=1)
    if dist.get_rank() == 0 and not args.data.exists():
        make_sample_set(args.data, images=64)
    dist.barrier()

    augment = T.Compose(
        [
            T.RandomResizedCrop(SIDE_PX),
            T.RandomHorizontalFlip(),
            T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
    dataset = Dataset(args.data, transform=augment, seed=0)
    loader = DataLoader(dataset, batch_size=8, sampler=DistributedSampler(dataset))
    model = DistributedDataParallel(
        nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(8, len(dataset.classes or ())),
        )
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        loader.set_epoch(epoch)  # tells the sampler, too
        seen = 0
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(labels)
        print(f"epoch {epoch}: rank {dist.get_rank()} of {dist.get_world_size()} saw {seen}")
    dist.barrier()  # whoever leaves first would cut off the others
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
