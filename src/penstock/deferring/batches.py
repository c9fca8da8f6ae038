"""Memory for deferred tensors that are alike, and how it is filled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from penstock._core import BatchBuffer
from penstock.deferring.carry_out import InBatch, Job
from penstock.deferring.chain import Pixels
from penstock.deferring.spec import Spec
from penstock.loading.to_torch import TorchMemory


class Batch:
    """Tensors of one shape, side by side."""

    def __init__(self, members: Sequence[Any], lender: TorchMemory | None) -> None:
        first = members[0]
        self._members = members
        self._spec: Spec = first.spec
        self._axis: int | None = first.axis
        shape: tuple[int, ...] = (len(members), *first.shape)
        if self._axis is not None:
            shape = (len(members), len(first.chains), self._spec.channels, *first.shape[-2:])
        count = math.prod(shape)
        self._lender = lender
        self._stored, whole = self._memory(count * self._spec.dtype.itemsize)
        self._whole: torch.Tensor = whole.view(self._spec.dtype).view(shape)
        self._levels = None if self._spec.is_native else np.empty(count, np.uint8)

    def _memory(self, size_bytes: int) -> tuple[Pixels, torch.Tensor]:
        """Bytes, as an array and as a tensor."""
        lent = None if self._lender is None else self._lender.take(size_bytes)
        stored = np.empty(size_bytes, np.uint8) if lent is None else lent
        found = None if lent is None or self._lender is None else self._lender.tensor_over(lent)
        return stored, torch.from_numpy(stored) if found is None else found

    def jobs(self) -> Iterator[Job]:
        """What is to be computed."""
        stored = self._stored if self._levels is None else self._levels
        buffer = BatchBuffer.borrow(stored)
        chains = [(chain, one.spec) for one in self._members for chain in one.chains]
        each = len(stored) // len(chains)
        for number, (chain, spec) in enumerate(chains):
            written = spec.format if self._levels is None else spec.levels().format
            yield Job(chain, InBatch(buffer, number * each, written))

    def tensor(self) -> torch.Tensor:
        """The batch, once it is computed."""
        self._look_up()
        if self._axis != 1:
            return self._whole
        turned = self._whole.transpose(1, 2)
        _, room = self._memory(len(self._stored))
        return room.view(self._spec.dtype).view(turned.shape).copy_(turned)

    def _look_up(self) -> None:
        """Write the values of levels, where the core does not."""
        if self._levels is None:
            return
        specs = [one.spec for one in self._members for _ in one.chains]
        values = self._stored.view(self._spec.numpy_dtype).reshape(len(specs), -1)
        levels = self._levels.reshape(values.shape)
        for spec, target, source in zip(specs, values, levels, strict=True):
            spec.values.look_up(source, interleaved=spec.layout == "hwc", target=target)
        self._levels = None
