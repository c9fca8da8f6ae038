"""Batches as JAX arrays. The only place that imports JAX, and only when asked.

`jax.device_put` shares the memory of a NumPy array on the CPU if it is aligned to 64 bytes, as the
memory of batches is, and keeps the array until the last computation that reads it has ended. Only
then does the memory go back to be filled with another batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError


def require_jax() -> Any:
    """Import JAX, or say how to do without."""
    try:
        import jax
    except ImportError as error:
        raise LoaderError(
            f"output='jax' needs JAX, which cannot be imported ({error}). "
            "Install jax, or use output='numpy'."
        ) from error
    return jax


def jax_images(images: npt.NDArray[Any], *, is_bfloat16: bool) -> Any:
    """Share the batch's memory with a JAX array; bfloat16 arrives as its bits in int16."""
    return require_jax().device_put(images.view(_bfloat16()) if is_bfloat16 else images)


def jax_values(values: npt.NDArray[Any]) -> Any:
    """Labels and other numbers, which have 32 bits unless JAX is told to use 64."""
    jax = require_jax()
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
        narrow = np.iinfo(np.int32 if values.dtype.kind == "i" else np.uint32)
        wrong = values[(values < narrow.min) | (values > narrow.max)]
        if len(wrong):
            raise LoaderError(
                f"Loader: a value is {wrong.flat[0]}, which does not fit into the {narrow.dtype} "
                "that JAX makes of it. Allow 64 bits: jax.config.update('jax_enable_x64', True); "
                "or use output='numpy'."
            )
    return jax.device_put(values)


def _bfloat16() -> npt.DTypeLike:
    import ml_dtypes  # JAX needs it, so that it is there

    kind: npt.DTypeLike = ml_dtypes.bfloat16
    return kind
