"""AutoAugment behind torchvision's calls: one of its tests asks for single ops of a policy."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.transforms.arguments import read_fill, read_warp_interpolation
from penstock.transforms.policies.ops import make_scene
from penstock.transforms.policies.spaces import auto_augment_ops
from tests.outside.adapter import Adapter
from tests.outside.samples import find_size, move_image


class AutoAugment(Adapter):
    """Beside the transform, its ops by torchvision's names."""

    def _apply_image_or_video_transform(
        self,
        image: Any,
        transform_id: str,
        magnitude: float,
        interpolation: Any,
        fill: dict[type, Any],
    ) -> Any:
        Adapter.uses += 1
        op = next(op for op in auto_augment_ops() if op.name == transform_id)
        colour = read_fill(transform_id, fill[type(image)])
        filter = read_warp_interpolation(transform_id, interpolation)
        scene = make_scene(find_size([image]), filter, colour)
        return move_image(image, (op.act(np.array([magnitude]), scene),), None)
