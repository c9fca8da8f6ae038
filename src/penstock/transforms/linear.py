"""LinearTransformation: an image as one row of numbers, times a matrix, as whitening needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.inputs import IMAGE, PILLOW, TENSOR, VIDEO, has_any, plain, wrap_like
from penstock.transforms.op import CalledOnly, Params
from penstock.transforms.torch_draws import get_torch


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LinearTransformation(CalledOnly):
    """Subtract `mean_vector` from an image as one row of numbers, and multiply it by a matrix.

    Both are tensors; `transformation_matrix` is square, with a row for each number of the image.
    """

    transformation_matrix: Any
    mean_vector: Any
    takes: ClassVar[int] = TENSOR | IMAGE | VIDEO
    why_not_loaded: ClassVar[str] = "it mixes all pixels of an image"

    def __post_init__(self) -> None:
        matrix, mean = self.transformation_matrix, self.mean_vector
        where = "LinearTransformation"
        if matrix.size(0) != matrix.size(1):
            raise TransformError(
                f"{where}: transformation_matrix should be square. Got "
                f"{tuple(matrix.size())} rectangular matrix."
            )
        if mean.size(0) != matrix.size(0):
            raise TransformError(
                f"{where}: mean_vector should have the same length {mean.size(0)} as any one of "
                f"the dimensions of the transformation_matrix [{tuple(matrix.size())}]."
            )
        if matrix.device != mean.device:
            raise TransformError(
                f"{where}: Input tensors should be on the same device. "
                f"Got {matrix.device} and {mean.device}."
            )
        if matrix.dtype != mean.dtype:
            raise TransformError(
                f"{where}: Input tensors should have the same dtype. "
                f"Got {matrix.dtype} and {mean.dtype}."
            )

    def check_inputs(self, flat_inputs: Sequence[Any]) -> None:
        """Raise for Pillow images."""
        if has_any(flat_inputs, PILLOW):
            raise TransformTypeError(
                "LinearTransformation() does not support PIL images. Put ToImage before it."
            )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Multiply it by the matrix."""
        del params
        matrix, mean = self.transformation_matrix, self.mean_vector
        *_, channels, height, width = inpt.shape
        count = channels * height * width
        if count != matrix.shape[0]:
            raise TransformError(
                f"Input tensor and transformation matrix have incompatible shape. "
                f"[{channels} x {height} x {width}] != {matrix.shape[0]}."
            )
        if inpt.device.type != mean.device.type:
            raise TransformError(
                "Input tensor should be on the same device as transformation matrix and mean "
                f"vector. Got {inpt.device} vs {mean.device}."
            )
        rows = plain(inpt).reshape(-1, count) - mean
        output = get_torch().mm(rows, matrix.to(rows.dtype)).reshape(inpt.shape)
        return wrap_like(output, inpt)
