"""Train a classifier, on one process or on many; stop it after any batch and go on with the next.

    python examples/train_classifier.py
    python examples/train_classifier.py --resume                      # after Ctrl-C
    torchrun --nproc-per-node 2 examples/train_classifier.py
    torchrun ... --data imagenet --model resnet50 --side 224 --epochs 90 --batch-size 256

Without --data it draws ten kinds of shapes, and learns them in a minute on a CPU.
A resumed run sees the very batches that the uninterrupted one would have seen: same losses.
The loop, mixed precision and checkpoints are in parts/training.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from parts.training import Process, Training, add_arguments, join_processes
from torch import nn

import penstock as ps
from penstock import transforms as T


def make_model(name: str, classes: int) -> nn.Module:
    """Return a small network for small images, or one of torchvision's without weights."""
    if name != "small":
        from torchvision import models

        model: nn.Module = models.get_model(name, weights=None, num_classes=classes)
        return model
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 16), (16, 32), (32, 64), (64, 64)):
        convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        layers += [convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def make_loaders(args: argparse.Namespace, process: Process) -> tuple[ps.Loader, ps.Loader]:
    """Return the loaders of the training and the test images."""
    end = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
    augment = T.Compose(
        [
            T.RandomHorizontalFlip(),
            T.RandomRotation(180, interpolation="bilinear"),
            T.ColorJitter(0.3, 0.3, 0.3, 0.1),
            T.RandomResizedCrop(args.side, scale=(0.7, 1.0)),
            end,
        ]
    )
    plain = T.Compose([T.Resize(args.side), T.CenterCrop(args.side), end])
    # The loader asks torch.distributed which share of every epoch is this process's.
    training = ps.Loader(
        _find(args.data, "train"),
        batch_size=args.batch_size,
        transform=augment,
        shuffle=True,
        drop_last=True,
        seed=args.seed,
    )
    return training, process.own_share(_find(args.data, "test"), batch_size=128, transform=plain)


def _find(data: Path, split: str) -> Path:
    packed = data / f"{split}.pen"
    return packed if packed.exists() else data / split


def train(args: argparse.Namespace, process: Process) -> None:
    """Train, and say after every epoch how many test images are named rightly."""
    loader, testing = make_loaders(args, process)
    if loader.classes is None:
        raise SystemExit(f"{args.data}: its images have no classes.")
    torch.manual_seed(args.seed)
    model = make_model(args.model, len(loader.classes))

    def loss_of(model: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        images, labels = (part.to(process.device, non_blocking=True) for part in batch)
        return nn.functional.cross_entropy(model(images), labels)

    def evaluate() -> str:
        right = seen = 0
        for images, labels in testing:
            scores = model(images.to(process.device, non_blocking=True))
            right += int((scores.argmax(1).cpu() == labels).sum())
            seen += len(labels)
        all_right, all_seen = process.total(right, seen)
        return f"accuracy {all_right / all_seen:.1%}"

    Training(model, loader, process, args).run(loss_of, evaluate)


def main() -> None:
    """Read the arguments, draw the data if none was named, and train."""
    parser = argparse.ArgumentParser(description="Train a classifier.")
    parser.add_argument(
        "--data", type=Path, help="a folder with the folders train and test, or train.pen, test.pen"
    )
    parser.add_argument("--side", type=int, default=32, help="of the images, in pixels")
    add_arguments(
        parser, epochs=40, batch_size=32, lr=0.004, images=300, checkpoint=Path("classifier.pt")
    )
    args = parser.parse_args()
    with join_processes() as process:
        if args.data is None:
            args.data = Path(f"shapes-{args.images}")
            if process.is_first:
                ps.make_shape_set(args.data, train=args.images, test=args.images)
            process.total(0)  # the others wait until the data is there
        train(args, process)


if __name__ == "__main__":
    main()
