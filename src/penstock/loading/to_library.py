"""What is delivered, as arrays of the library that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import Element
from penstock.data.columns import Values
from penstock.loading.batch import Batch
from penstock.loading.options import Library, OutputOptions
from penstock.loading.to_jax import jax_images, jax_values, require_jax
from penstock.loading.to_torch import image_tensor, label_tensor, require_torch


def require_library(library: Library) -> None:
    """Import it now, so that neither an error nor the import waits for a batch."""
    if library == "torch":
        require_torch()
    if library == "jax":
        require_jax()


def finish_images(images: Any, batch: Batch) -> Any:
    """Return the images of a batch, or a list of them; they share the batch's memory."""
    output = batch.output
    if output.library == "numpy":
        return images
    if isinstance(images, list):
        return [finish_images(image, batch) for image in images]
    is_bfloat16 = output.element == Element.BFLOAT16
    if output.library == "jax":
        return jax_images(images, is_bfloat16=is_bfloat16)
    return image_tensor(images, batch.lender, is_bfloat16=is_bfloat16)


def to_library(values: npt.NDArray[Any], output: OutputOptions) -> Any:
    """Return labels or other numbers."""
    return values if output.library == "numpy" else finisher(output.library)(values)


def column_to_library(values: Values, output: OutputOptions) -> Any:
    """Return a column: texts and bytes stay as they are."""
    if not isinstance(values, list):
        return to_library(values, output)
    return [
        to_library(value, output) if isinstance(value, np.ndarray) else value for value in values
    ]


def finisher(library: Library) -> Callable[[npt.NDArray[Any]], Any]:
    """Return what makes arrays of that library."""
    if library == "numpy":
        return np.ascontiguousarray
    return label_tensor if library == "torch" else jax_values
