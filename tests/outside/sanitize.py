"""SanitizeBoundingBoxes behind torchvision's call: which entries of a sample go with the boxes."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten
from torchvision import tv_tensors
from torchvision.transforms.v2._utils import _parse_labels_getter, get_bounding_boxes

from tests.outside.adapter import Adapter
from tests.outside.samples import find_size, read_boxes, write_boxes


class SanitizeBoundingBoxes(Adapter):
    """penstock drops rows of one table; here the rows are gathered from a sample, and put back."""

    def forward(self, *inputs: Any) -> Any:
        Adapter.uses += 1
        sample = inputs if len(inputs) > 1 else inputs[0]
        columns = _label_columns(self.op.labels_getter, sample)
        items, spec = tree_flatten(sample)
        boxes = get_bounding_boxes(items)
        for column in columns:
            if not isinstance(column, torch.Tensor):
                raise ValueError(  # noqa: TRY004  torchvision's class of error
                    f"labels must be a tensor, got {type(column)}"
                )
        sizes = find_size([boxes])
        kept = self.op.apply(read_boxes(boxes, clamps=False, columns=columns), sizes)
        rows = torch.from_numpy(kept.extras["row"])

        def keep(item: Any) -> Any:
            if item is boxes:
                return write_boxes(kept, boxes, sizes[0])
            is_column = any(item is column for column in columns)
            if is_column or _is_mask_of_each(item, len(boxes)):
                left = item[rows]
                is_typed = isinstance(item, tv_tensors.TVTensor)
                return tv_tensors.wrap(left, like=item) if is_typed else left
            return item

        return tree_unflatten([keep(item) for item in items], spec)


def _label_columns(getter: Any, sample: Any) -> list[Any]:
    found = _parse_labels_getter(getter)(sample)
    if found is None:
        return []
    return list(found) if isinstance(found, (tuple, list)) else [found]


def _is_mask_of_each(item: Any, count: int) -> bool:
    return isinstance(item, tv_tensors.Mask) and item.ndim == 3 and len(item) == count
