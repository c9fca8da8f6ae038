"""A tensor to everybody, whose values nobody has computed yet.

torch hands every function of such a tensor to us first. What only asks for shape or type is
answered; all else gets the values, computed then.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from torch.utils import _pytree

from penstock._core import BatchBuffer
from penstock.deferring.carry_out import InBatch, Job, carry_out
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here, note_early
from penstock.deferring.spec import Spec

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


class Deferred:
    """What deferred tensors of all classes have in common."""

    chain: Chain
    spec: Spec
    plain_class: ClassVar[type[torch.Tensor]] = torch.Tensor
    _had: torch.Tensor | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has had its values yet."""
        return self._had is None

    def values(self) -> torch.Tensor:
        """The tensor itself, of the class that it stands for, computed now at the latest."""
        if self._had is None:
            note_early()
            try:
                self.settle(_compute(self.chain, self.spec))
            except Exception as error:
                counts = counts_here()
                if counts is not None:
                    counts.error = error  # not for the user's code to swallow unseen
                raise
        return self._had  # type: ignore[return-value]  # settled by now

    def settle(self, values: torch.Tensor) -> torch.Tensor:
        """Be these values from now on."""
        is_plain = type(values) is self.plain_class or self.plain_class is torch.Tensor
        self._had = values if is_plain else values.as_subclass(self.plain_class)
        return self._had

    def change(self, spec: Spec) -> None:
        """Have other values of the same type, for functions that work in place."""
        self.spec = spec

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if func in _ABOUT:
            with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 (as torch documents it)
                return func(*args, **(kwargs or {}))
        if func is torch.Tensor.as_subclass and args[1] is torch.Tensor:
            given = args[0]
            if isinstance(given, Deferred) and given.is_open:
                return DeferredTensor.of(given.chain, given.spec)
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
    """A plain tensor (3, height, width)."""

    @staticmethod
    def of(chain: Chain, spec: Spec) -> DeferredTensor:
        """The tensor of what a chain leads to."""
        return make(DeferredTensor, chain, spec)  # type: ignore[no-any-return]


def make(kind: Any, chain: Chain, spec: Spec) -> Any:
    """A deferred tensor of a class."""
    made = torch.Tensor._make_wrapper_subclass(  # noqa: SLF001 (as torch documents it)
        kind, (3, chain.height, chain.width), dtype=spec.dtype
    )
    made.chain, made.spec = chain, spec
    return made


def _settled(value: Any) -> Any:
    return value.values() if isinstance(value, Deferred) else value


def _compute(chain: Chain, spec: Spec) -> torch.Tensor:
    dtype = np.float32 if spec.is_float else np.uint8
    stored = np.empty((3, chain.height, chain.width), dtype)
    buffer = BatchBuffer.borrow(stored.reshape(-1).view(np.uint8))
    carry_out([Job(chain, InBatch(buffer, 0, spec.format))], threads=1)
    return torch.from_numpy(stored)
