"""MixUp and CutMix behind torchvision's calls: a batch of float images and class numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock._core import Element
from penstock.geometry import Size
from penstock.loading.mix import mix_native, soften
from penstock.rng import Draws
from tests.outside.adapter import Adapter


class Mixing(Adapter):
    """Draws for the batch, then mixes in the core as the loader does with a finished batch."""

    def forward(self, *inputs: Any) -> Any:
        Adapter.uses += 1
        images, labels = inputs if len(inputs) > 1 else inputs[0]
        count = len(images)
        draws = Draws(int(torch.randint(1 << 62, ())), 0, np.arange(count), 0)
        mixing = self.op.sample(draws, Size(*images.shape[-2:]))
        mixed = images.numpy().copy()
        mix_native(mixed, np.arange(count), mixing, Element.FLOAT32, "chw")
        return torch.from_numpy(mixed), torch.from_numpy(soften(labels.numpy(), mixing, self.op))
