"""Batches as torch tensors. The only place that imports torch, and only when asked."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError


def torch_is_installed() -> bool:
    """Whether torch can be imported, without importing it."""
    return importlib.util.find_spec("torch") is not None


def require_torch() -> Any:
    """Import torch, or say how to do without."""
    try:
        import torch
    except ImportError as error:
        raise LoaderError(
            f"output='torch' needs torch, which cannot be imported ({error}). "
            "Install torch, or use output='numpy'."
        ) from error
    return torch


def image_tensor(images: npt.NDArray[Any], *, is_bfloat16: bool) -> Any:
    """Share the batch's memory with a tensor; bfloat16 arrives as its bits in int16."""
    torch = require_torch()
    tensor = torch.from_numpy(images)
    return tensor.view(torch.bfloat16) if is_bfloat16 else tensor


def label_tensor(labels: npt.NDArray[Any]) -> Any:
    """Labels as a tensor of their own."""
    return require_torch().from_numpy(np.ascontiguousarray(labels))


class PageLocks:
    """Page-locked batch memory, so that copies to a CUDA device run beside the training step."""

    def __init__(self) -> None:
        torch = require_torch()
        self._runtime = torch.cuda.cudart() if torch.cuda.is_available() else None
        self._locked: list[int] = []

    @property
    def wanted(self) -> bool:
        """Whether torch sees a CUDA device."""
        return self._runtime is not None

    def lock(self, address: int, size_bytes: int) -> None:
        """Lock memory that stays mapped until `release`; a refusal costs speed, nothing else."""
        if (
            self._runtime is not None
            and int(self._runtime.cudaHostRegister(address, size_bytes, 0)) == 0
        ):
            self._locked.append(address)

    def release(self) -> None:
        """Unlock everything."""
        while self._locked and self._runtime is not None:
            self._runtime.cudaHostUnregister(self._locked.pop())
