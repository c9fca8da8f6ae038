"""Train with a Trainer that owns the loop, as Lightning has it; Lightning itself is not needed.

Run:  python examples/train_lightning_style.py
Then: penstock run examples/train_lightning_style.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

from penstock import make_sample_set

CLASSES = 4


class Classifier(nn.Module):
    """What to do with a batch, and which optimizer to do it with."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, CLASSES),
        )

    def training_step(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Return the loss of a batch."""
        images, labels = batch
        return nn.functional.cross_entropy(self.layers(images), labels)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Photos:
    """Where the batches come from."""

    def __init__(self, folder: Path, batch_size: int) -> None:
        self.folder = folder
        self.batch_size = batch_size

    def train_dataloader(self) -> DataLoader[Any]:
        """Return the loader; it works in the training process, which is torch's default."""
        transform = transforms.Compose(
            [
                transforms.RandomResizedCrop(64),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
            ]
        )
        return DataLoader(
            datasets.ImageFolder(self.folder, transform), self.batch_size, shuffle=True
        )


class Trainer:
    """Owns the loop."""

    def __init__(self, max_epochs: int) -> None:
        self.max_epochs = max_epochs

    def fit(self, model: Classifier, data: Photos) -> None:
        """Train for all epochs; the loader is asked for anew for each."""
        optimizer = model.configure_optimizers()
        for epoch in range(self.max_epochs):
            batches = iter(data.train_dataloader())
            steps = 0
            while (batch := next(batches, None)) is not None:
                loss = model.training_step(batch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
            print(f"epoch {epoch}: {steps} steps, loss {loss.item():.3f}")


if __name__ == "__main__":
    photos = Photos(make_sample_set("sample_set", images=64, classes=CLASSES), batch_size=8)
    Trainer(max_epochs=2).fit(Classifier(), photos)
