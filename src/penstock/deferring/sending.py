"""Tensors on their way out of a worker: in memory that is used again, whoever has made them.

Batches of ours lie in such memory already. What a collate function makes of samples is copied by
torch as well, but into new memory for each tensor, and the kernel takes longer to provide that than
the copy takes. Small tensors, such as labels, travel with the message itself: torch would make a
file of each and send its descriptor, over a connection of its own.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import reduce_tensor
from torch.utils.data._utils.collate import default_collate_fn_map

from penstock.torch.segments import SegmentMemory, ready_to_send, reduce_segment

_WORTH_BYTES = 1 << 16  # of less, the message itself has room
_MALLOC_SETTINGS = ("MALLOC_", "GLIBC_TUNABLES")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # as malloc.h has them
_KEPT_BYTES = 1 << 29
_ONE_TENSOR = 2  # who use a storage: the tensor, and whoever asks


def send_in(memory: SegmentMemory) -> None:
    """Have all tensors that this process sends lie in this memory; for workers of a DataLoader."""
    _keep_memory()
    outgoing = _Outgoing(memory)
    default_collate_fn_map[torch.Tensor] = outgoing.collate
    ForkingPickler.register(torch.Tensor, outgoing.reduce)


def _keep_memory() -> None:
    """Have the C library keep memory for the next batch.

    It would give tensors of more than 32 MB back to the kernel at once, and get them page by page.
    """
    is_set_by_user = any(name.startswith(_MALLOC_SETTINGS) for name in os.environ)
    if is_set_by_user or sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # which not every library has
    for parameter in (_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD):
        if mallopt is not None:
            mallopt(parameter, _KEPT_BYTES)


class _Outgoing:
    """How tensors are collated and sent; torch's own ways, where ours might show."""

    def __init__(self, memory: SegmentMemory) -> None:
        self._memory = memory
        self._collate = default_collate_fn_map[torch.Tensor]

    def collate(self, batch: Sequence[Any], *, collate_fn_map: Any = None) -> Any:
        """Stack tensors, as default_collate does."""
        if not _are_alike(batch):
            return self._collate(batch, collate_fn_map=collate_fn_map)
        if batch[0].nbytes * len(batch) < _WORTH_BYTES:
            return torch.stack(batch, 0)  # type: ignore[arg-type]  # a list
        room = self._room_for(batch[0], len(batch))
        if room is None:
            return self._collate(batch, collate_fn_map=collate_fn_map)
        return ready_to_send(torch.stack(batch, 0, out=room))  # type: ignore[arg-type]  # a list

    def reduce(self, tensor: torch.Tensor) -> Any:
        """Pickle a tensor for another process."""
        if not _has_its_own_memory(tensor):
            return reduce_tensor(tensor)  # type: ignore[no-untyped-call]
        if tensor.nbytes < _WORTH_BYTES:
            stored = tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
            return _received, (stored, tensor.dtype, tuple(tensor.shape))
        room = self._room_for(tensor, None)
        if room is None:
            return reduce_tensor(tensor)  # type: ignore[no-untyped-call]
        return reduce_segment(room.copy_(tensor))

    def _room_for(self, tensor: torch.Tensor, count: int | None) -> torch.Tensor | None:
        """Memory for as many tensors like this; None where there is none left."""
        shape = tensor.shape if count is None else (count, *tensor.shape)
        found = self._memory.allocate(tensor.nbytes * (1 if count is None else count))
        return None if found is None else found.view(tensor.dtype).view(shape)


def _received(stored: bytes, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """A small tensor, in memory of its own."""
    made = torch.empty(shape, dtype=dtype)
    if stored:
        made.reshape(-1).view(torch.uint8).numpy()[:] = np.frombuffer(stored, np.uint8)
    return made


def _are_alike(batch: Sequence[Any]) -> bool:
    first = batch[0]
    return _is_plain(first) and all(
        _is_plain(one) and one.shape == first.shape and one.dtype == first.dtype for one in batch
    )


def _is_plain(tensor: Any) -> bool:
    """Whether a tensor is nothing but values in this process's memory."""
    return (
        type(tensor) is torch.Tensor
        and tensor.layout == torch.strided
        and tensor.is_cpu
        and not (tensor.requires_grad or tensor.is_quantized or tensor.is_nested)
    )


def _has_its_own_memory(tensor: torch.Tensor) -> bool:
    """Whether a tensor is all of its memory, which no other tensor has a part in."""
    if not (_is_plain(tensor) and tensor.is_contiguous()) or tensor.is_conj() or tensor.is_neg():
        return False
    storage = tensor.untyped_storage()
    is_whole = tensor.storage_offset() == 0 and storage.nbytes() == tensor.nbytes
    is_alone = torch._C._storage_Use_Count(storage._cdata) == _ONE_TENSOR  # noqa: SLF001 (there is no public way)
    return is_whole and is_alone and not storage.is_shared()
