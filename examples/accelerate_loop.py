"""Train with Accelerate and a DataLoader that works natively; save, and go on in mid-epoch.

Run:  python examples/accelerate_loop.py
Also: torchrun --nproc-per-node 2 examples/accelerate_loop.py
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn

from penstock import make_sample_set
from penstock import transforms as T
from penstock.torch import DataLoader, Dataset, keep_native

SIDE_PX = 32
EPOCHS = 2


def make_dataset(folder: Path) -> Dataset:
    """Return the data set; its seed makes draws the same on any number of processes."""
    end = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
    transform = T.Compose([T.RandomResizedCrop(SIDE_PX), T.RandomHorizontalFlip(), end])
    return Dataset(folder, transform=transform, seed=1)


def train(folder: Path, *, save_after: int = 0, resume: bool = False) -> list[str]:
    """Train, and return the samples' labels of all processes, batch by batch."""
    set_seed(0)
    accelerator = Accelerator(cpu=True)
    loader = DataLoader(make_dataset(folder), batch_size=8, shuffle=True)
    model: Any = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, len(loader.classes or ())),
    )
    optimizer: Any = torch.optim.SGD(model.parameters(), lr=0.01)
    prepared, model, optimizer = accelerator.prepare(loader, model, optimizer)
    prepared = keep_native(prepared, loader)
    accelerator.register_for_checkpointing(prepared)  # so that states contain where it stands
    epochs = range(EPOCHS)
    if resume:
        accelerator.load_state("state")
        epochs = range(save_after // len(prepared), EPOCHS)
    seen: list[str] = []
    steps = save_after if resume else 0
    for epoch in epochs:
        prepared.set_epoch(epoch)
        for images, labels in prepared:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            steps += 1
            seen.append(f"{loss.item():.5f} {accelerator.gather_for_metrics(labels).tolist()}")
            if steps == save_after and not resume:
                accelerator.save_state("state")
                accelerator.wait_for_everyone()
    if accelerator.is_main_process and not resume:
        print(f"{accelerator.num_processes} processes, {steps} steps in {EPOCHS} epochs")
    return seen


def main() -> None:
    """Train in one go, then again from what was saved in the middle of the second epoch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("sample_set"))
    args = parser.parse_args()
    accelerator = Accelerator(cpu=True)
    with accelerator.main_process_first():
        if not args.data.exists():
            make_sample_set(args.data, images=96)
    save_after = 96 // 8 // accelerator.num_processes + 2
    whole = train(args.data, save_after=save_after)
    after = train(args.data, save_after=save_after, resume=True)
    same = after == whole[save_after:]
    print(f"rank {accelerator.process_index}: resumed, {'the same' if same else 'other'} batches")
    accelerator.end_training()


if __name__ == "__main__":
    main()
