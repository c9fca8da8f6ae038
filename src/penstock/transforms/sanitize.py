"""What SanitizeBoundingBoxes and SanitizeKeyPoints share when they are called: which values go."""

from __future__ import annotations

from typing import Any

from penstock.errors import TransformError
from penstock.transforms.inputs import MASK, TENSORS, kind_of, wrap_like


def check_labels(what: str, objects: Any, labels: Any) -> tuple[Any, ...]:
    """Labels as a tuple of tensors, each with a row for every one of the objects."""
    if labels is None:
        return ()
    several = labels if isinstance(labels, (tuple, list)) else (labels,)
    for one in several:
        if not kind_of(one) & TENSORS:
            raise TransformError(
                "The labels in the input to forward() must be a tensor or None, "
                f"got {type(one)} instead."
            )
        if objects.shape[0] != one.shape[0]:
            raise TransformError(
                f"Number of {what} (shape={tuple(objects.shape)}) must match the number of labels. "
                f"Found labels with shape={tuple(one.shape)}."
            )
    return tuple(several)


def keep_valid(value: Any, kinds: int, params: dict[str, Any]) -> Any:
    """The good rows of a value of these kinds, or of labels; anything else as it is."""
    kind = kind_of(value)
    is_label = any(value is label for label in params["labels"])
    if not (is_label or kind & kinds):
        return value
    try:
        kept = value[params["valid"]]
    except IndexError:  # one mask of a whole image, not one for each object
        if kind != MASK:
            raise
        return value
    return kept if is_label else wrap_like(kept, value)
