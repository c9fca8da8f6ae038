"""SSD-300 on MobileNetV2, as torchvision's SSD takes a backbone; built without weights."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from penstock.demo.torchvision_import import import_torchvision
from penstock.experiments.libraries.detector.plain_dataset import SIDE_PX

_SPLIT_AT = 14  # of MobileNetV2's layers: here maps have 19 x 19 places, after the rest 10 x 10
_EXTRA = (512, 256, 256, 128)  # channels of further maps: 5 x 5, 3 x 3, 2 x 2, 1 x 1
_LEARNING_RATE = 1e-3


class MobileNetMaps(nn.Module):
    """Six maps of features, from 19 x 19 places to one, as SSD wants them."""

    def __init__(self) -> None:
        super().__init__()
        _, torchvision = import_torchvision()
        layers = torchvision.models.mobilenet_v2(weights=None).features
        self.first, self.second = layers[:_SPLIT_AT], layers[_SPLIT_AT:]
        before = (1280, *_EXTRA)
        self.extra = nn.ModuleList(map(_half_as_large, before, _EXTRA))

    def forward(self, images: torch.Tensor) -> OrderedDict[str, torch.Tensor]:
        """Return the maps by number."""
        maps = [self.first(images)]
        for layer in (self.second, *self.extra):
            maps.append(layer(maps[-1]))
        return OrderedDict((str(number), one) for number, one in enumerate(maps))


def _half_as_large(before: int, after: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(before, after // 2, kernel_size=1),
        nn.ReLU6(inplace=True),
        nn.Conv2d(after // 2, after, kernel_size=3, stride=2, padding=1),
        nn.ReLU6(inplace=True),
    )


def make_ssd(classes: int) -> Any:
    """Return the model for so many classes, the background among them."""
    import_torchvision()
    from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
    from torchvision.models.detection.ssd import SSD

    boxes = DefaultBoxGenerator([[2, 3] for _ in range(6)], min_ratio=0.2, max_ratio=0.95)
    return SSD(MobileNetMaps(), boxes, (SIDE_PX, SIDE_PX), classes)


def training_step(model: Any) -> Callable[[Any], float]:
    """Return a step of SGD on a batch of images and targets; it returns the loss."""
    model.train()
    optimiser = torch.optim.SGD(model.parameters(), lr=_LEARNING_RATE)

    def step(batch: Any) -> float:
        images, targets = batch
        loss = sum(model(list(images), list(targets)).values())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return float(loss.detach())

    return step
