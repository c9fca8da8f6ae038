"""Memory of batches that a worker of torch's DataLoader shares with the process that trains.

torch takes new shared memory for each batch. The kernel has to clear it and to map it page by page,
in the worker and once more in the training process: half as long as it takes to decode the files.
Here a worker uses memory again as soon as the training process has let go of the batch in it. The
first byte of a segment says who has it, the second whether the training process has mapped it; a
batch begins at the next page.

A segment's descriptor is sent once. Sending it takes a connection of its own, which both ends
answer for, and longer than all the rest of handing a batch over.
"""

from __future__ import annotations

import mmap
import os
import secrets
import threading
import weakref
from dataclasses import dataclass
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.multiprocessing.reductions import reduce_tensor

from penstock.errors import PenstockError
from penstock.loading.to_torch import TorchMemory

_HEAD_BYTES = mmap.PAGESIZE
_HERE, _AWAY, _RETIRED = 0, 1, 2  # with the worker; with the training process; not used again
_IS_MAPPED = 1  # the second byte, in the training process
_MOST_FREE = 3  # that a worker keeps for later batches, beside those that it has used lately
_LATELY = 64  # batches or parts of them
_MOST = 128  # each takes two of the files that a process may have open


class _Segment:
    """Shared memory of this process, for one batch at a time."""

    def __init__(self, size_bytes: int) -> None:
        self.process = os.getpid()
        self.name = secrets.token_hex(16)
        self.descriptor = os.memfd_create("penstock")
        self._close = weakref.finalize(self, os.close, self.descriptor)
        os.posix_fallocate(self.descriptor, 0, _HEAD_BYTES + size_bytes)
        self.memory = mmap.mmap(self.descriptor, 0)
        self.room = size_bytes
        self.last_use = 0  # counted by whoever takes it
        self._lent: weakref.ref[npt.NDArray[np.uint8]] | None = None

    @property
    def is_away(self) -> bool:
        """Whether another process has it."""
        return self.memory[0] == _AWAY

    @property
    def is_free(self) -> bool:
        """Whether nobody has it."""
        is_used_here = self._lent is not None and self._lent() is not None
        return not is_used_here and not self.is_away

    def lend(self, size_bytes: int) -> npt.NDArray[np.uint8]:
        """Return memory that is used for as long as somebody refers to it."""
        lent = np.frombuffer(self.memory, np.uint8, size_bytes, _HEAD_BYTES)
        self._lent = weakref.ref(lent)
        return lent

    def send(self) -> Any:
        """Leave it to another process, which gives it back; return what it needs to map it."""
        self.memory[0] = _AWAY
        return None if self.memory[1] == _IS_MAPPED else DupFd(self.descriptor)

    def retire(self) -> None:
        """Tell the other process that it will not come again."""
        self.memory[0] = _RETIRED


_of_this_process: weakref.WeakValueDictionary[int, _Segment] = weakref.WeakValueDictionary()


class SegmentMemory(TorchMemory):
    """Batch memory in segments, each used again when nobody has the batch any more."""

    tries_again = True  # the training process may have let go of batches that it kept

    def __init__(self) -> None:
        super().__init__()
        self._segments: list[_Segment] = []
        self._uses = 0
        self._lock = threading.Lock()

    def allocate(self, size_bytes: int) -> Any:
        """Return a tensor of bytes; None where there is no such memory, or none left."""
        if not hasattr(os, "memfd_create"):
            return None
        try:
            with self._lock:
                taken = self._take(size_bytes)
                lent = None if taken is None else taken.lend(size_bytes)
        except OSError:  # torch's own attempt will say so
            return None
        return None if lent is None else torch.from_numpy(lent)

    def _take(self, size_bytes: int) -> _Segment | None:
        free = [segment for segment in self._segments if segment.is_free]
        large = [segment for segment in free if segment.room >= size_bytes]
        taken = min(large, key=lambda segment: segment.room, default=None)
        self._uses += 1
        idle = [
            segment
            for segment in free
            if segment is not taken and self._uses - segment.last_use > _LATELY
        ]
        for segment in idle[: max(0, len(idle) - _MOST_FREE)]:
            segment.retire()
            self._segments.remove(segment)
        if taken is None:
            if len(self._segments) >= _MOST:
                return None
            taken = _Segment(size_bytes)
            _of_this_process[taken.lend(0).ctypes.data] = taken
            self._segments.append(taken)
        taken.last_use = self._uses
        return taken


class SegmentTensor(torch.Tensor):
    """A batch in a segment, on its way out of a worker; what is made of it is a plain tensor."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # noqa: SLF001 (as torch's documentation says)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Be a plain tensor to whoever does not send it to another process."""
        return _plain(self).__reduce_ex__(protocol)

    def __deepcopy__(self, memo: dict[int, Any]) -> torch.Tensor:
        return _plain(self).__deepcopy__(memo)  # type: ignore[no-any-return]


def ready_to_send(tensor: torch.Tensor) -> torch.Tensor:
    """Return the batch as one that is sent in its segment, if it lies in one of this process."""
    return tensor.as_subclass(SegmentTensor) if _segment_of(tensor) is not None else tensor


def _segment_of(tensor: torch.Tensor) -> _Segment | None:
    segment = _of_this_process.get(tensor.untyped_storage().data_ptr())
    if segment is None or segment.process != os.getpid() or segment.is_away:
        return None
    return segment


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.as_subclass(torch.Tensor)


@dataclass(frozen=True, slots=True)
class _Sent:
    """Where a process finds a batch of another one."""

    process: int
    segment: str
    descriptor: Any  # which is duplicated on arrival; None where the segment is mapped already
    offset: int
    dtype: torch.dtype
    shape: torch.Size

    @property
    def end_bytes(self) -> int:
        """How much of the segment the batch needs."""
        return (self.offset + self.shape.numel()) * self.dtype.itemsize


def reduce_segment(tensor: torch.Tensor) -> Any:
    """Reduce a batch to where its segment is found; how multiprocessing pickles it."""
    segment = _segment_of(tensor)
    if segment is None or not tensor.is_contiguous():
        return reduce_tensor(_plain(tensor))
    offset = int(tensor.storage_offset())
    sent = _Sent(segment.process, segment.name, segment.send(), offset, tensor.dtype, tensor.shape)
    return _receive, (sent,)


ForkingPickler.register(SegmentTensor, reduce_segment)


class _Arrived:
    """A segment of another process, mapped here until that process retires it or ends."""

    def __init__(self, process: int, memory: mmap.mmap) -> None:
        self._sender = process
        self.receiver = os.getpid()
        self._memory = memory
        self._memory[1] = _IS_MAPPED

    def inherited(self) -> _Arrived:
        """The same in a forked child, which has the memory as well."""
        return _Arrived(self._sender, self._memory)

    def tensor(self, sent: _Sent) -> torch.Tensor:
        """Return the batch in it; the sender gets the memory back when nobody refers to it."""
        stored = np.frombuffer(self._memory, np.uint8, sent.end_bytes, _HEAD_BYTES)
        weakref.finalize(stored, self._give_back).atexit = False
        return torch.from_numpy(stored).view(sent.dtype)[sent.offset :].view(sent.shape)

    def _give_back(self) -> None:
        if os.getpid() == self.receiver:  # a forked child has but a copy of the batch
            self._memory[0] = _HERE
            _forget_what_has_ended()

    @property
    def has_ended(self) -> bool:
        """Whether no other batch will come in it."""
        return self._memory[0] == _RETIRED or not _lives(self._sender)


_arrived: dict[str, _Arrived] = {}


def _receive(sent: _Sent) -> torch.Tensor:
    descriptor = None if sent.descriptor is None else sent.descriptor.detach()
    try:
        segment = _arrived.get(sent.segment)
        if segment is None:
            _forget_what_has_ended()
            segment = _arrived[sent.segment] = _Arrived(sent.process, _mapped(sent, descriptor))
        elif segment.receiver != os.getpid():
            segment = _arrived[sent.segment] = segment.inherited()
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return segment.tensor(sent)


def _mapped(sent: _Sent, descriptor: int | None) -> mmap.mmap:
    if descriptor is None:
        raise PenstockError(
            f"A batch of worker {sent.process} was meant for another process than this one, "
            f"{os.getpid()}, which has no part in its memory. Let one process take all batches of "
            "a DataLoader."
        )
    return mmap.mmap(descriptor, 0)


def _forget_what_has_ended() -> None:
    """Unmap such segments, each as soon as nobody refers to the batch in it."""
    for name, segment in list(_arrived.items()):
        if segment.has_ended:
            _arrived.pop(name, None)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
