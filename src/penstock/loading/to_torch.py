"""Batches as torch tensors. The only place that imports torch, and only when asked."""

from __future__ import annotations

import importlib.util
import weakref
from abc import ABC, abstractmethod
from typing import Any, ClassVar

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


def image_tensor(images: npt.NDArray[Any], lender: TorchMemory | None, *, is_bfloat16: bool) -> Any:
    """Share the batch's memory with a tensor; bfloat16 arrives as its bits in int16."""
    torch = require_torch()
    tensor = None if lender is None else lender.tensor_over(images)
    if tensor is None:
        tensor = torch.from_numpy(images)
    return tensor.view(torch.bfloat16) if is_bfloat16 else tensor


def label_tensor(labels: npt.NDArray[Any]) -> Any:
    """Labels as a tensor of their own."""
    return require_torch().from_numpy(np.ascontiguousarray(labels))


class TorchMemory(ABC):
    """Batch memory that torch has allocated, and knows again in the tensors made of it."""

    tries_again: ClassVar[bool] = False  # after there was none once

    def __init__(self) -> None:
        self._lent: dict[int, weakref.ref[npt.NDArray[np.uint8]]] = {}  # by address
        self._refused = False

    @abstractmethod
    def allocate(self, size_bytes: int) -> Any:
        """Return a tensor of bytes, or None if torch cannot."""

    def take(self, size_bytes: int) -> npt.NDArray[np.uint8] | None:
        """Return memory, or None where none is to be had: that costs speed, nothing else."""
        tensor = None if self._refused else self.allocate(size_bytes)
        if tensor is None:
            self._refused = not self.tries_again
            return None
        gone = [address for address, lent in list(self._lent.items()) if lent() is None]
        for address in gone:
            self._lent.pop(address, None)
        lent: npt.NDArray[np.uint8] = tensor.numpy()
        self._lent[tensor.data_ptr()] = weakref.ref(lent)
        return lent

    def tensor_over(self, images: npt.NDArray[Any]) -> Any:
        """Return torch's own tensor over images in its memory; None for others."""
        begin = images.__array_interface__["data"][0]
        for address, reference in list(self._lent.items()):
            lent = reference()
            if lent is None or not address <= begin < address + lent.nbytes:
                continue
            stored = _tensor_behind(lent)[begin - address : begin - address + images.nbytes]
            element = getattr(require_torch(), images.dtype.name)
            return stored.view(element).view(images.shape)
        return None


def _tensor_behind(lent: npt.NDArray[np.uint8]) -> Any:
    """The tensor whose memory `Tensor.numpy` shared: NumPy keeps it as the array's base."""
    return lent.base


class PinnedMemory(TorchMemory):
    """Page-locked batch memory, so that copies to a CUDA device run beside the training step.

    It comes from torch's own allocator, which knows of every copy from its memory that is still
    under way and hands the memory out again only after that; it only knows of copies from its own
    tensors. Memory of our own would be written anew while a `non_blocking` copy of the last batch
    still reads it.
    """

    @staticmethod
    def where_wanted() -> PinnedMemory | None:
        """Return an allocator where torch sees a CUDA device."""
        return PinnedMemory() if require_torch().cuda.is_available() else None

    def allocate(self, size_bytes: int) -> Any:
        """Return locked memory."""
        torch = require_torch()
        try:
            return torch.empty(size_bytes, dtype=torch.uint8, pin_memory=True)
        except RuntimeError:  # a limit on locked memory, or none left
            return None
