"""Train with Hugging Face's Trainer, whose batches are made natively.

Run:  python examples/hf_trainer.py
Or:   torchrun --nproc-per-node 2 examples/hf_trainer.py
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn

from penstock import make_sample_set
from penstock import transforms as T
from penstock.torch import Dataset

SIDE_PX = 32
NAMES = {"image": "pixel_values", "label": "labels"}  # what a model of transformers' takes


class Classifier(nn.Module):
    """A model with the arguments and the results of those of transformers."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, classes),
        )

    def forward(self, pixel_values: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Return the loss and the logits."""
        logits = self.layers(pixel_values)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def main() -> None:
    """Train for some epochs, and evaluate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("sample_set"))
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    for needed in ("transformers", "accelerate"):
        if importlib.util.find_spec(needed) is None:
            sys.exit(f"{needed} is not installed: pip install transformers accelerate")
    from transformers import TrainingArguments

    from penstock.transformers import Trainer

    with tempfile.TemporaryDirectory() as output:
        arguments = TrainingArguments(
            output_dir=output,
            num_train_epochs=args.epochs,
            per_device_train_batch_size=8,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=not torch.cuda.is_available(),
        )
        with arguments.main_process_first(desc="photos"):
            if not args.data.exists():
                make_sample_set(args.data, images=64)
        normalize = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
        augment = [T.RandomResizedCrop(SIDE_PX), T.RandomHorizontalFlip(), normalize]
        plain = [T.Resize((SIDE_PX, SIDE_PX)), normalize]
        # A seed makes a run that is resumed draw what it would have drawn.
        train = Dataset(args.data, transform=T.Compose(augment), as_dict=NAMES, seed=0)
        held = Dataset(args.data, transform=T.Compose(plain), as_dict=NAMES)
        trainer = Trainer(
            Classifier(len(train.classes or ())),
            arguments,
            train_dataset=train,
            eval_dataset=held,
            compute_metrics=_count_right,
        )
        trainer.train()
        found = trainer.evaluate()
        if trainer.is_world_process_zero():
            print(f"epoch {trainer.state.epoch:g}: {found['eval_right']} of {len(held)} right")


def _count_right(predicted: tuple[Tensor, Tensor]) -> dict[str, int]:
    logits, labels = predicted
    return {"right": int((logits.argmax(1) == labels).sum())}


if __name__ == "__main__":
    main()
