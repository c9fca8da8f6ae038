"""Functions of boxes and keypoints alone, on plain tensors and tv_tensors.

A tv_tensor knows its format and the size of its image; of a plain tensor both must be said.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.functional.arguments import Canvas
from penstock.transforms.functional.box_format import CLAMPING_MODES, read_format
from penstock.transforms.functional.dispatch import (
    PACKAGE,
    is_pure_tensor,
    is_tv_tensor,
    unwrap,
    wrap,
)


def _kernels(name: str) -> Any:
    """A module on tensors, which imports torch: whoever has a tensor has imported it already."""
    return import_module(f"{PACKAGE}.tensors.{name}")


def convert_bounding_box_format(
    inpt: Any, old_format: Any = None, new_format: Any = None, inplace: bool = False
) -> Any:
    """Boxes in another format; plain tensors need `old_format`."""
    if new_format is None:
        raise TransformTypeError(
            "convert_bounding_box_format() missing 1 required argument: 'new_format'"
        )
    new = read_format(new_format)
    if is_pure_tensor(inpt):
        if old_format is None:
            raise TransformError("For pure tensor inputs, `old_format` has to be passed.")
        old = read_format(old_format)
        return _kernels("box_formats").convert(inpt, old, new, inplace=inplace)
    if not is_tv_tensor(inpt, "BoundingBoxes"):
        raise _not_a("bounding box", inpt)
    if old_format is not None:
        raise TransformError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
    old = read_format(inpt.format)
    converted = _kernels("box_formats").convert(unwrap(inpt), old, new, inplace=inplace)
    return wrap(converted, inpt, format=new)


def clamp_bounding_boxes(
    inpt: Any,
    format: Any = None,
    canvas_size: Canvas | None = None,
    clamping_mode: str | None = "auto",
) -> Any:
    """Boxes cut off at the image's borders; "auto" is the mode that the boxes themselves have."""
    if clamping_mode is not None and clamping_mode not in {*CLAMPING_MODES, "auto"}:
        raise TransformError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")
    if is_pure_tensor(inpt):
        if format is None or canvas_size is None or clamping_mode == "auto":
            raise TransformError(
                "For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be "
                "passed."
            )
        name = read_format(format)
        return _kernels("box_clamping").clamp(inpt, name, canvas_size, clamping_mode)
    if not is_tv_tensor(inpt, "BoundingBoxes"):
        raise _not_a("bounding box", inpt)
    if format is not None or canvas_size is not None:
        raise TransformError(
            "For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed."
        )
    mode = inpt.clamping_mode if clamping_mode == "auto" else clamping_mode
    name = read_format(inpt.format)
    clamped = _kernels("box_clamping").clamp(unwrap(inpt), name, inpt.canvas_size, mode)
    return wrap(clamped, inpt)


def clamp_keypoints(inpt: Any, canvas_size: Canvas | None = None) -> Any:
    """Keypoints moved to the image's borders if they lie outside."""
    if is_pure_tensor(inpt):
        if canvas_size is None:
            raise TransformError("For pure tensor inputs, `canvas_size` has to be passed.")
        return _kernels("keypoints").clamp_keypoints(inpt, canvas_size)
    if not is_tv_tensor(inpt, "KeyPoints"):
        raise _not_a("keypoints", inpt)
    if canvas_size is not None:
        raise TransformError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
    return wrap(_kernels("keypoints").clamp_keypoints(unwrap(inpt), inpt.canvas_size), inpt)


def _not_a(what: str, inpt: Any) -> TransformTypeError:
    return TransformTypeError(
        f"Input can either be a plain tensor or a {what} tv_tensor, but got {type(inpt)} instead."
    )


def sanitize_bounding_boxes(
    bounding_boxes: Any,
    format: Any = None,
    canvas_size: Canvas | None = None,
    min_size: float = 1.0,
    min_area: float = 1.0,
) -> tuple[Any, Any]:
    """Drop boxes that are too small or leave the image; also returns which ones are kept."""
    is_plain = is_pure_tensor(bounding_boxes)
    if is_plain:
        if format is None or canvas_size is None:
            raise TransformError(
                "format and canvas_size cannot be None if bounding_boxes is a pure tensor. "
                f"Got format={format} and canvas_size={canvas_size}. "
                "Set those to appropriate values or pass bounding_boxes as a "
                "tv_tensors.BoundingBoxes object."
            )
        boxes = bounding_boxes
    else:
        if not is_tv_tensor(bounding_boxes, "BoundingBoxes"):
            raise TransformError(
                "bounding_boxes must be a tv_tensors.BoundingBoxes instance or a pure tensor, "
                f"got {type(bounding_boxes)}."
            )
        if format is not None or canvas_size is not None:
            raise TransformError(
                "format and canvas_size must be None when bounding_boxes is a "
                f"tv_tensors.BoundingBoxes instance. Got format={format} and "
                f"canvas_size={canvas_size}. "
                "Leave those to None or pass bounding_boxes as a pure tensor."
            )
        format, canvas_size = bounding_boxes.format, bounding_boxes.canvas_size
        boxes = unwrap(bounding_boxes)
    name = read_format(format)
    valid = _kernels("boxes").are_valid(boxes, name, canvas_size, min_size, min_area)
    return (boxes[valid] if is_plain else wrap(boxes[valid], bounding_boxes)), valid


def sanitize_keypoints(key_points: Any, canvas_size: Canvas | None = None) -> tuple[Any, Any]:
    """Drop keypoints, or whole groups, that leave the image; also returns which ones are kept."""
    is_plain = is_pure_tensor(key_points)
    if is_plain:
        if canvas_size is None:
            raise TransformError(
                "canvas_size cannot be None if key_points is a pure tensor. "
                "Set it to an appropriate value or pass key_points as a tv_tensors.KeyPoints "
                "object."
            )
        points = key_points
    else:
        if not is_tv_tensor(key_points, "KeyPoints"):
            raise TransformError(
                "key_points must be a tv_tensors.KeyPoints instance or a pure tensor, "
                f"got {type(key_points)}."
            )
        if canvas_size is not None:
            raise TransformError(
                "canvas_size must be None when key_points is a tv_tensors.KeyPoints instance. "
                f"Got canvas_size={canvas_size}. "
                "Leave it to None or pass key_points as a pure tensor."
            )
        canvas_size, points = key_points.canvas_size, unwrap(key_points)
    valid = _kernels("keypoints").are_inside(points, canvas_size)
    return (points[valid] if is_plain else wrap(points[valid], key_points)), valid
