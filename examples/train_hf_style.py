"""Train on dictionaries of named tensors, as Hugging Face's Trainer has it; it is not needed here.

Run:  python examples/train_hf_style.py
Then: penstock run examples/train_hf_style.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

from penstock import make_sample_set

CLASSES = 4


class LabelledPhotos(Dataset[dict[str, Any]]):
    """Rows of a table with an image and a label."""

    def __init__(self, folder: Path, transform: Callable[[Image.Image], Tensor]) -> None:
        self.files = sorted(folder.glob("*/*.jpg"))
        self.names = sorted({file.parent.name for file in self.files})
        self.transform = transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> dict[str, Any]:
        file = self.files[index]
        image = Image.open(file).convert("RGB")
        return {"image": self.transform(image), "label": self.names.index(file.parent.name)}


def collate(rows: list[dict[str, Any]]) -> dict[str, Tensor]:
    """Make a batch of what the model's forward takes."""
    return {
        "pixel_values": torch.stack([row["image"] for row in rows]),
        "labels": torch.tensor([row["label"] for row in rows]),
    }


class Model(nn.Module):
    """Returns its loss, if it is given labels."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(3 * 48 * 48, CLASSES))

    def forward(self, pixel_values: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Classify the images."""
        logits = self.layers(pixel_values)
        return {"logits": logits, "loss": nn.functional.cross_entropy(logits, labels)}


@dataclass
class TrainingArguments:
    """Settings, named as in Hugging Face's."""

    num_train_epochs: int = 2
    per_device_train_batch_size: int = 8
    dataloader_num_workers: int = 2
    learning_rate: float = 1e-3


class Trainer:
    """Makes the loader and runs the loop."""

    def __init__(self, model: Model, args: TrainingArguments, train_dataset: Dataset[Any]) -> None:
        self.model = model
        self.args = args
        self.train_dataset = train_dataset

    def train(self) -> None:
        """Train for all epochs."""
        loader = DataLoader(
            self.train_dataset,
            batch_size=self.args.per_device_train_batch_size,
            shuffle=True,
            num_workers=self.args.dataloader_num_workers,
            persistent_workers=self.args.dataloader_num_workers > 0,
            collate_fn=collate,
        )
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.args.learning_rate)
        for epoch in range(self.args.num_train_epochs):
            for batch in loader:
                loss = self.model(**batch)["loss"]
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print({"epoch": epoch, "loss": round(loss.item(), 3)})


def main() -> None:
    """Train on the sample set."""
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(48),
            v2.RandomHorizontalFlip(),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
        ]
    )
    photos = LabelledPhotos(make_sample_set("sample_set", images=64, classes=CLASSES), transform)
    Trainer(Model(), TrainingArguments(), photos).train()


if __name__ == "__main__":
    main()
