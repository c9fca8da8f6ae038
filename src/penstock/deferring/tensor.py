"""A tensor to everybody, whose values nobody has computed yet.

torch hands every function of such a tensor to us first. What only asks for shape or type is
answered; all else gets the values, computed then.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeAlias

import numpy as np
import torch
from torch.utils import _pytree

from penstock._core import BatchBuffer
from penstock.deferring.carry_out import InBatch, Job, carry_out
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here, note_early
from penstock.deferring.spec import Spec

View: TypeAlias = Callable[[torch.Tensor], torch.Tensor]

_ATTRIBUTES = (
    *("shape", "dtype", "device", "ndim", "layout", "requires_grad"),
    *("is_cuda", "is_mps", "is_nested", "is_quantized", "is_sparse"),
)
_METHODS = (
    *("size", "dim", "numel", "nelement", "__len__", "element_size", "get_device"),
    "is_floating_point",
)
ABOUT = frozenset(  # what is known of a tensor without its values
    [
        *(getattr(torch.Tensor, name).__get__ for name in _ATTRIBUTES),
        *(getattr(torch.Tensor, name) for name in _METHODS),
        torch.is_floating_point,
        torch.numel,
    ]
)
OURS = frozenset({"chain", "spec", "_had", "_family", "_view"})


class Family:
    """Tensors that would share memory: one, and views of it. They are computed together."""

    def __init__(self, first: Deferred) -> None:
        self._chain, self._spec = first.chain, first.spec
        self._members: list[weakref.ref[Deferred]] = []
        self.add(first)

    def add(self, member: Deferred) -> None:
        """Let a tensor be one of them."""
        self._members.append(weakref.ref(member))
        member._family = self  # noqa: SLF001 (of this file)

    def _alive(self) -> Iterator[Deferred]:
        return (one for ref in self._members if (one := ref()) is not None)

    @property
    def is_alone(self) -> bool:
        """Whether nobody has another one of them any more."""
        return sum(1 for _ in self._alive()) == 1

    def settle(self) -> None:
        """Compute the first one, and be views of it."""
        values = _compute(self._chain, self._spec)
        for member in self._alive():
            member.settle(member._view(values))  # noqa: SLF001 (of this file)


class Deferred:
    """What deferred tensors of all classes have in common."""

    chain: Chain
    spec: Spec
    plain_class: ClassVar[type[torch.Tensor]] = torch.Tensor
    _had: torch.Tensor | None = None
    _family: Family | None = None
    _view: View = staticmethod(lambda values: values)

    @property
    def is_open(self) -> bool:
        """Whether nobody has had its values yet."""
        return self._had is None

    @property
    def is_alone(self) -> bool:
        """Whether it shares its memory with no other tensor."""
        return self._family is None or self._family.is_alone

    def values(self) -> torch.Tensor:
        """The tensor itself, of the class that it stands for, computed now at the latest."""
        if self._had is None:
            note_early()
            try:
                self._settle_all()
            except Exception as error:
                counts = counts_here()
                if counts is not None:
                    counts.error = error  # not for the user's code to swallow unseen
                raise
        return self._had  # type: ignore[return-value]  # settled by now

    def _settle_all(self) -> None:
        if self._family is None or self._family.is_alone:
            self.settle(_compute(self.chain, self.spec))
        else:
            self._family.settle()

    def settle(self, values: torch.Tensor) -> torch.Tensor:
        """Be these values from now on."""
        is_plain = type(values) is self.plain_class or self.plain_class is torch.Tensor
        self._had = values if is_plain else values.as_subclass(self.plain_class)
        return self._had

    def ordinary(self) -> torch.Tensor:
        """The tensor itself, with what its user has added to it."""
        return with_added(self.values(), self, OURS)

    def change(self, spec: Spec) -> None:
        """Have other values of the same type, for functions that work in place."""
        self.spec = spec

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        given = args[0] if args else None
        if isinstance(given, Deferred) and given.is_open:
            if func in ABOUT:
                with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 (as torch documents it)
                    return func(*args, **(kwargs or {}))
            if func is torch.Tensor.as_subclass and args[1] is torch.Tensor:
                return view_of(given, DeferredTensor, given.chain, as_plain)
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


def view_of(given: Deferred, kind: Any, chain: Chain, view: View) -> Any:
    """A deferred tensor that shares the memory of an open one; `view` makes it of the values."""
    made = make(kind, chain, given.spec)
    before = given._view  # noqa: SLF001 (of this file)
    made._view = lambda values: view(before(values))  # noqa: SLF001 (the same)
    family = given._family or Family(given)  # noqa: SLF001 (the same)
    family.add(made)
    return made


def as_plain(values: torch.Tensor) -> torch.Tensor:
    """Return an ordinary tensor in the same memory."""
    return values.as_subclass(torch.Tensor)


def with_added(made: torch.Tensor, given: Any, ours: frozenset[str]) -> torch.Tensor:
    """Add to a tensor the attributes that users have given to the one it stands for."""
    for name, value in vars(given).items():
        if name not in ours:
            setattr(made, name, value)
    return made


def _settled(value: Any) -> Any:
    return value.values() if isinstance(value, Deferred) else value


def _compute(chain: Chain, spec: Spec) -> torch.Tensor:
    dtype = np.float32 if spec.is_float else np.uint8
    stored = np.empty((3, chain.height, chain.width), dtype)
    buffer = BatchBuffer.borrow(stored.reshape(-1).view(np.uint8))
    carry_out([Job(chain, InBatch(buffer, 0, spec.format))], threads=1)
    return torch.from_numpy(stored)
