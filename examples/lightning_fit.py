"""Train with Lightning and penstock.lightning.DataModule; stop within an epoch, and go on.

Run:  python examples/lightning_fit.py
"""

from __future__ import annotations

import argparse
import logging
import warnings
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import Tensor, nn

from penstock import make_sample_set
from penstock import transforms as T
from penstock.lightning import DataModule

SIDE_PX = 32
BATCH_SIZE = 16
CHECKPOINTS = Path("checkpoints")


class Classifier(L.LightningModule):  # type: ignore[misc]  # its types are not looked at
    """A small convolutional network, which notes its losses."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.losses: list[float] = []
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, classes),
        )

    def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
        """Return the loss of a batch."""
        images, labels = batch
        loss = nn.functional.cross_entropy(self.layers(images), labels)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch: tuple[Tensor, Tensor], _: int) -> None:
        """Log how many images are recognised."""
        images, labels = batch
        self.log("accuracy", (self.layers(images).argmax(1) == labels).float().mean())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def make_data(folder: Path) -> DataModule:
    """Return the data of the training: the same folder twice, for the sake of the example."""
    end = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
    return DataModule(
        train=folder,
        val=folder,
        batch_size=BATCH_SIZE,
        transform=T.Compose([T.RandomResizedCrop(SIDE_PX), T.RandomHorizontalFlip(), end]),
        val_transform=T.Compose([T.Resize(SIDE_PX + 4), T.CenterCrop(SIDE_PX), end]),
        seed=1,
    )


def train(folder: Path, resume: Path | None = None) -> list[float]:
    """Train for 9 steps in all, save a checkpoint every 4 steps, and return the losses."""
    L.seed_everything(0, verbose=False)
    data = make_data(folder)
    model = Classifier(len(data.classes or ()))
    saving = ModelCheckpoint(CHECKPOINTS, "{step}", every_n_train_steps=4, save_top_k=-1)
    quiet: dict[str, Any] = {"enable_progress_bar": False, "enable_model_summary": False}
    trainer = L.Trainer(
        max_steps=9, accelerator="cpu", devices=1, callbacks=[saving], logger=False, **quiet
    )
    trainer.fit(model, datamodule=data, ckpt_path=resume)
    return model.losses


def main() -> None:
    """Train, and go on from the middle of the first epoch; the losses are the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("sample_set"))
    args = parser.parse_args()
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", ".*does not have many workers.*")  # threads do the work
    folder = args.data if args.data.exists() else Path(make_sample_set(args.data, images=96))
    whole = train(folder)
    after = train(folder, CHECKPOINTS / "step=4.ckpt")  # 96 images are 6 batches
    print("losses:", *(f"{loss:.4f}" for loss in whole))
    print("resumed after 4 steps:", "the same losses" if after == whole[4:] else "other losses")


if __name__ == "__main__":
    main()
