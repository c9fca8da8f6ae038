"""A tensor to everybody, whose values nobody has computed yet.

torch hands every function of such a tensor to us first. What only asks for shape or type is
answered; all else gets the values, computed then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch.utils import _pytree

from penstock._core import BatchBuffer
from penstock.deferring.carry_out import InBatch, Job, carry_out
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here, note_early
from penstock.deferring.spec import Spec
from penstock.loading.to_torch import TorchMemory

_ATTRIBUTES = (
    *("shape", "dtype", "device", "ndim", "layout", "requires_grad"),
    *("is_cuda", "is_mps", "is_nested", "is_quantized", "is_sparse"),
)
_METHODS = (
    *("size", "dim", "numel", "nelement", "__len__", "element_size", "get_device"),
    "is_floating_point",
)
_ABOUT = frozenset(
    [
        *(getattr(torch.Tensor, name).__get__ for name in _ATTRIBUTES),
        *(getattr(torch.Tensor, name) for name in _METHODS),
        torch.is_floating_point,
        torch.numel,
    ]
)


_ONE_BY_ONE = frozenset([torch.Tensor.unbind, torch.unbind])  # loops over a tensor, too


@dataclass(frozen=True, slots=True)
class Patch:
    """Values that take the places of others in the end, as RandomErasing puts them there."""

    top: int
    left: int
    values: torch.Tensor  # (..., height, width)

    def put_into(self, image: torch.Tensor) -> None:
        """Write them."""
        height, width = self.values.shape[-2:]
        image[..., self.top : self.top + height, self.left : self.left + width] = self.values


class Deferred:
    """What deferred tensors of all classes have in common: one image, or several in a stack."""

    chains: tuple[Chain, ...]
    spec: Spec
    axis: int | None = None  # along which images are stacked
    patches: tuple[Patch, ...] = ()
    plain_class: ClassVar[type[torch.Tensor]] = torch.Tensor
    _had: torch.Tensor | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has had its values yet."""
        return self._had is None

    @property
    def chain(self) -> Chain | None:
        """How it is made, if it is one image that nobody has put values into."""
        is_one = self.axis is None and not self.patches
        return self.chains[0] if self.is_open and is_one else None

    @property
    def key(self) -> tuple[object, ...]:
        """What tensors that lie in one batch have in common."""
        return (tuple(self.shape), self.axis, self.spec, type(self))  # type: ignore[attr-defined]

    def values(self) -> torch.Tensor:
        """The tensor itself, of the class that it stands for, computed now at the latest."""
        if self._had is None:
            note_early()
            try:
                self.settle(_compute(self))
            except Exception as error:
                counts = counts_here()
                if counts is not None:
                    counts.error = error  # not for the user's code to swallow unseen
                raise
        return self._had  # type: ignore[return-value]  # settled by now

    def settle(self, values: torch.Tensor) -> torch.Tensor:
        """Be these values from now on."""
        for patch in self.patches:
            patch.put_into(values.as_subclass(torch.Tensor))
        is_plain = type(values) is self.plain_class or self.plain_class is torch.Tensor
        self._had = values if is_plain else values.as_subclass(self.plain_class)
        return self._had

    def change(self, spec: Spec) -> None:
        """Have other values of the same type, for functions that work in place."""
        self.spec = spec

    def with_spec(self, spec: Spec) -> Any:
        """The same images with other values; None if somebody has had these or put some in."""
        if not self.is_open or self.patches:
            return None
        return _made(type(self), self.chains, spec, self.shape, self.axis)  # type: ignore[attr-defined]

    def images(self) -> list[Any] | None:
        """The images of a stack; None if it is none, or was computed."""
        if not self.is_open or self.patches or self.axis != 0:
            return None
        return [make(DeferredTensor, chain, self.spec) for chain in self.chains]

    def put(self, patch: Patch) -> None:
        """Have these values in a place, in the end."""
        self.patches = (*self.patches, patch)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if func in _ABOUT:
            with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 (as torch documents it)
                return func(*args, **(kwargs or {}))
        if func is torch.Tensor.as_subclass and args[1] is torch.Tensor:
            given = args[0]
            if isinstance(given, Deferred) and given.chain is not None:
                return make(DeferredTensor, given.chain, given.spec)
        if func is torch.stack:
            together = _stacked(*args, **(kwargs or {}))
            if together is not None:
                return together
        if func in _ONE_BY_ONE and args[1:] in ((), (0,)) and not kwargs:
            images = args[0].images()
            if images is not None:
                return tuple(images)
        args, kwargs = _pytree.tree_map(_settled, (args, kwargs or {}))
        return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Serve whoever comes past Python, such as extensions in C++."""
        del types
        args, kwargs = _pytree.tree_map(_settled, (args, kwargs or {}))
        return func(*args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.values().__reduce_ex__(protocol)  # type: ignore[no-untyped-call]


class DeferredTensor(Deferred, torch.Tensor):  # type: ignore[misc]  # torch says less of types
    """A plain tensor."""


def make(kind: Any, chain: Chain, spec: Spec) -> Any:
    """A deferred tensor (channels, height, width) of a class."""
    return _made(kind, (chain,), spec, (spec.channels, chain.height, chain.width), None)


def _made(kind: Any, chains: tuple[Chain, ...], spec: Spec, shape: Any, axis: int | None) -> Any:
    made = torch.Tensor._make_wrapper_subclass(kind, shape, dtype=spec.dtype)  # noqa: SLF001 (as torch documents it)
    made.chains, made.spec, made.axis = chains, spec, axis
    return made


def settled(kind: Any, values: torch.Tensor) -> Any:
    """A tensor of bytes that is computed, of a class by which others come to us with it."""
    made = _made(kind, (), Spec(channels=values.shape[-3]), values.shape, None)
    made.settle(values)
    return made


def _stacked(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    """The stack of deferred images of one shape, which is then deferred as well; None of others."""
    if out is not None or dim not in (0, 1) or not isinstance(tensors, (list, tuple)):
        return None
    if any(not isinstance(one, Deferred) or one.chain is None for one in tensors):
        return None
    first = tensors[0]
    if any(one.key != first.key for one in tensors):
        return None
    chains = tuple(one.chains[0] for one in tensors)
    shape = list(first.shape)
    shape.insert(dim, len(chains))
    return _made(DeferredTensor, chains, first.spec, shape, dim)


def _settled(value: Any) -> Any:
    return value.values() if isinstance(value, Deferred) else value


def _compute(one: Any) -> torch.Tensor:
    batch = Batch([one], None)
    carry_out(list(batch.jobs()), threads=1)
    return batch.tensor()[0]


class Batch:
    """Memory for tensors that are alike, and how it is filled."""

    def __init__(self, members: Sequence[Any], lender: TorchMemory | None) -> None:
        first = members[0]
        self._members = members
        self._spec: Spec = first.spec
        self._axis: int | None = first.axis
        together = () if self._axis is None else (len(first.chains),)
        three = (len(members), *together, 3, *first.shape[-2:])
        size_bytes = math.prod(three) * self._spec.dtype.itemsize
        is_final = self._axis != 1 and not self._is_gray
        lent = lender.take(size_bytes) if lender is not None and is_final else None
        self._stored = np.empty(size_bytes, np.uint8) if lent is None else lent
        found = None if lent is None or lender is None else lender.tensor_over(lent)
        whole = torch.from_numpy(self._stored) if found is None else found
        self._whole: torch.Tensor = whole.view(self._spec.dtype).view(three)

    @property
    def _is_gray(self) -> bool:
        return self._spec.channels == 1

    def jobs(self) -> Iterator[Job]:
        """What is to be computed."""
        buffer = BatchBuffer.borrow(self._stored)
        chains = [chain for one in self._members for chain in one.chains]
        each = len(self._stored) // len(chains)
        for number, chain in enumerate(chains):
            yield Job(chain, InBatch(buffer, number * each, self._spec.format))

    def tensor(self) -> torch.Tensor:
        """The batch, once it is computed."""
        whole = self._whole[..., :1, :, :] if self._is_gray else self._whole
        return whole.transpose(1, 2).contiguous() if self._axis == 1 else whole.contiguous()
