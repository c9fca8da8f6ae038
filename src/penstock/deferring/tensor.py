"""A tensor to everybody, whose values nobody has computed yet.

torch hands every function of such a tensor to us first. What only asks for shape or type is
answered; all else gets the values, computed then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch.utils import _pytree

from penstock.deferring.batches import Batch
from penstock.deferring.carry_out import carry_out
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here, note_early
from penstock.deferring.family import Family, Member, View, as_it_is
from penstock.deferring.spec import Spec
from penstock.deferring.tensor_functions import REMEMBERED
from penstock.deferring.values import Values

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
OURS = frozenset(
    {"chains", "spec", "axis", "patches", "memory", "is_dense", "_had", "_family", "_view"}
)

_ONE_BY_ONE = frozenset([torch.Tensor.unbind, torch.unbind])  # loops over a tensor, too
_STACKED_ALONG = (0, 1)


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


class Deferred(Member):
    """What deferred tensors of all classes have in common: one image, or several in a stack."""

    chains: tuple[Chain, ...]
    spec: Spec
    axis: int | None = None  # along which images are stacked
    patches: tuple[Patch, ...] = ()
    memory: str = ""  # the order of its axes there, if it is not that of `spec`
    is_dense: bool | None = True  # nothing lies between its values; None where nobody knows
    plain_class: ClassVar[type[torch.Tensor]] = torch.Tensor
    _had: torch.Tensor | None = None
    _family: Family | None = None
    _view: View = staticmethod(as_it_is)

    @property
    def is_open(self) -> bool:
        """Whether nobody has had its values yet."""
        return self._had is None

    @property
    def chain(self) -> Chain | None:
        """How it is made, if it is one image, as torchvision has them, that nobody has changed."""
        return self.chains[0] if self.spec.is_plain and self.is_image else None

    @property
    def is_image(self) -> bool:
        """Whether it is one image, that nobody has had or put values into."""
        return self.is_open and self.axis is None and not self.patches

    @property
    def key(self) -> tuple[object, ...]:
        """What tensors that lie in one batch have in common."""
        spec = self.spec
        return (tuple(self.shape), self.axis, spec.dtype, spec.layout, type(self))  # type: ignore[attr-defined]

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
        if self._family is None or (self._family.is_alone and self.is_dense is not False):
            self.settle(self.computed())
        else:
            self._family.settle()

    def settle(self, values: torch.Tensor) -> torch.Tensor:
        """Be these values from now on."""
        self.put_patches(values)
        is_plain = type(values) is self.plain_class or self.plain_class is torch.Tensor
        self._had = values if is_plain else values.as_subclass(self.plain_class)
        return self._had

    def ordinary(self) -> torch.Tensor:
        """The tensor itself, with what its user has added to it."""
        return with_added(self.values(), self, OURS)

    def put_patches(self, values: torch.Tensor) -> None:
        """Write what was put in into its values."""
        for patch in self.patches:
            patch.put_into(values.as_subclass(torch.Tensor))

    def change(self, spec: Spec) -> None:
        """Have other values of the same type, for functions that work in place."""
        self.leave_family()
        self.spec = spec

    def put(self, patch: Patch) -> None:
        """Have these values in a place, in the end."""
        self.leave_family()
        self.patches = (*self.patches, patch)

    def computed(self) -> torch.Tensor:
        """The values of it, which stays as it is."""
        return computed(self)

    def again(self) -> Any:
        """The same in other memory."""
        made = _made(type(self), self.chains, self.spec, self.shape, self.axis)  # type: ignore[attr-defined]
        made.patches, made.memory = self.patches, self.memory
        return made

    def recipe(self) -> Callable[[], Any]:
        """How to make the same in other memory, later."""
        made = self.again()
        return lambda: made

    def again_ordered(self) -> Any:
        """The same in other memory, in the order of its axes."""
        made = self.again()
        made.memory = ""
        return made

    @property
    def is_ordered(self) -> bool | None:
        """Whether its memory is that of a new tensor; None where nobody knows."""
        if self.memory and self.memory != self.spec.layout:
            return False
        return self.is_dense

    def with_values(self, values: Values) -> Any:
        """The same image with other values, in memory of the same order."""
        made = make(DeferredTensor, self.chains[0], self.spec.with_values(values))
        made.memory = self.memory
        return made

    def moved(self, layout: str, order: tuple[int, ...]) -> Any:
        """The view with its axes in another order."""
        return self._seen_as(
            self.spec._replace(layout=layout), lambda values: values.permute(order)
        )

    def with_one_channel(self) -> Any:
        """The view of a gray image with an axis for its channel."""
        return self._seen_as(self.spec._replace(layout="chw"), lambda values: values.unsqueeze(0))

    def _seen_as(self, spec: Spec, view: View) -> Any:
        made = make(DeferredTensor, self.chains[0], spec)
        made.join(self, view)
        made.memory, made.is_dense = self.memory or self.spec.layout, self.is_dense
        if made.memory == "hw":
            made.memory = "chw"
        return made

    def as_stack(self) -> Any:
        """The view of one image as a stack of it alone; None if axes are not torchvision's."""
        if self.spec.layout != "chw" or self.memory not in ("", "chw"):
            return None
        made = _made(DeferredTensor, self.chains, self.spec, (1, *self.shape), 0)  # type: ignore[attr-defined]
        made.join(self, lambda values: values.unsqueeze(0))
        made.is_dense = self.is_dense
        return made

    def part(self, chain: Chain, view: View) -> Any:
        """The view of a part of it."""
        return view_of(self, DeferredTensor, chain, view)

    def mirrored(self, *, horizontal: bool, vertical: bool) -> Any:
        """A mirrored copy, in memory of the same order."""
        chain = self.chains[0].flip(horizontal=horizontal, vertical=vertical)
        made = make(DeferredTensor, chain, self.spec)
        made.memory = self.memory
        return made

    def with_spec(self, spec: Spec) -> Any:
        """The same images with other values; None if somebody has had these or put some in."""
        if not self.is_open or self.patches:
            return None
        return _made(type(self), self.chains, spec, self.shape, self.axis)  # type: ignore[attr-defined]

    def images(self) -> tuple[Any, ...] | None:
        """The images of a stack, which share its memory; None if it is none, or was computed."""
        if not self.is_open or self.patches or self.axis != 0:
            return None
        return tuple(
            view_of(self, DeferredTensor, chain, operator.itemgetter(number))
            for number, chain in enumerate(self.chains)
        )

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        given = args[0] if args else None
        if isinstance(given, Deferred) and given.is_open:
            if func in ABOUT:
                with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 (as torch documents it)
                    return func(*args, **(kwargs or {}))
            if func is torch.Tensor.as_subclass and args[1] is torch.Tensor and given.chain:
                return view_of(given, DeferredTensor, given.chain, as_plain)
            if func in _ONE_BY_ONE and args[1:] in ((), (0,)) and not kwargs:
                images = given.images()
                if images is not None:
                    return images
            remembered = REMEMBERED.get(func) if given.is_image else None
            if remembered is not None and type(given) is DeferredTensor:
                done = remembered(given, *args[1:], **(kwargs or {}))
                if done is not None:
                    return done
        if func is torch.stack:
            together = _stacked(*args, **(kwargs or {}))
            if together is not None:
                return together
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
    """A deferred tensor of a class, with the axes that `spec` says."""
    sides = {"c": spec.channels, "h": chain.height, "w": chain.width}
    return _made(kind, (chain,), spec, [sides[axis] for axis in spec.layout], None)


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
    if out is not None or dim not in _STACKED_ALONG or not isinstance(tensors, (list, tuple)):
        return None
    if any(not isinstance(one, Deferred) or one.chain is None for one in tensors):
        return None
    first = tensors[0]
    if any(one.key != first.key or one.spec != first.spec for one in tensors):
        return None
    chains = tuple(one.chains[0] for one in tensors)
    shape = list(first.shape)
    shape.insert(dim, len(chains))
    return _made(DeferredTensor, chains, first.spec, shape, dim)


def view_of(given: Deferred, kind: Any, chain: Chain, view: View) -> Any:
    """A deferred tensor that shares the memory of an open one; `view` makes it of the values."""
    made = make(kind, chain, given.spec)
    made.join(given, view)
    made.memory, made.is_dense = given.memory, given.is_dense if view is as_plain else None
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


def computed(one: Any) -> torch.Tensor:
    """The values of a deferred tensor, which stays as it is."""
    layout = one.spec.layout
    if one.memory and one.memory != layout:
        ordered = make(DeferredTensor, one.chains[0], one.spec._replace(layout=one.memory))
        return computed(ordered).permute([one.memory.index(axis) for axis in layout])
    batch = Batch([one], None)
    carry_out(list(batch.jobs()), threads=1)
    return batch.tensor()[0]
