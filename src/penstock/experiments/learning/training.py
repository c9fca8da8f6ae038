"""Train a small model on one thread; every bit of it is determined by the batches and the seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from penstock.experiments.learning.batches import Epochs

WIDTHS = (16, 32, 64, 64)  # channels of the convolutions
HIGHEST_RATE, MOMENTUM, DECAY = 0.05, 0.9, 5e-4


@dataclass(frozen=True, slots=True)
class Learned:
    """What a training led to."""

    losses: list[float]  # of every batch
    accuracy: float  # share of test images that are named rightly
    weights: str  # a digest of all parameters: equal digests, equal models


def train(
    epochs: int, batches: Epochs, steps_per_epoch: int, tests: Sequence[tuple[Any, Any]], seed: int
) -> Learned:
    """Train for some epochs, and test once at the end."""
    import torch

    with _one_repeatable_thread():
        torch.manual_seed(seed)
        model = _model(classes=1 + max(int(labels.max()) for _, labels in tests))
        optimizer = torch.optim.SGD(
            model.parameters(),
            lr=HIGHEST_RATE,
            momentum=MOMENTUM,
            nesterov=True,
            weight_decay=DECAY,
        )
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, HIGHEST_RATE, total_steps=epochs * steps_per_epoch
        )
        losses: list[float] = []
        for epoch in range(epochs):
            for images, labels in batches(epoch):
                loss = torch.nn.functional.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
        return Learned(losses, _accuracy(model, tests), _digest(model))


def _model(classes: int) -> Any:
    """Four convolutions, each halving the image, and a linear layer."""
    from torch import nn

    layers: list[Any] = []
    for inputs, outputs in zip((3, *WIDTHS), WIDTHS, strict=False):
        layers += [
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
    end = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(WIDTHS[-1], classes)
    return nn.Sequential(*layers, *end)


def _accuracy(model: Any, tests: Sequence[tuple[Any, Any]]) -> float:
    import torch

    model.eval()
    with torch.no_grad():
        right = sum(int((model(images).argmax(1) == labels).sum()) for images, labels in tests)
    return right / sum(len(labels) for _, labels in tests)


def _digest(model: Any) -> str:
    digest = hashlib.sha256()
    for name, values in model.state_dict().items():
        digest.update(name.encode())
        digest.update(values.numpy().tobytes())
    return digest.hexdigest()


@contextmanager
def _one_repeatable_thread() -> Iterator[None]:
    """Sums in a fixed order: one thread of torch's, and algorithms that repeat their result."""
    import torch

    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic)
