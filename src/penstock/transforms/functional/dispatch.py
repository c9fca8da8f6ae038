"""Which kernel works on which kind of input.

Each function has one `Kernels`: a dictionary from the exact type of an input to what is called,
with the function's arguments in their order.
It begins empty. The first input of a type asks `__missing__`, which walks up the type's bases to
one that is known; from then on the look-up is a plain one.

torch and torchvision are never imported here. A tensor can only come from a process that has
imported torch already, and a tv_tensor from one with torchvision, so both are found in
`sys.modules`. The kernels for tensors are imported when the first tensor comes.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

from penstock.errors import NoKernelError, TransformError
from penstock.transforms.functional.arrays import by_pillow
from penstock.transforms.functional.native.memory import NativeKernel
from penstock.transforms.functional.tensors import MODULES

Kernel = Callable[..., Any]

PACKAGE = "penstock.transforms.functional"

# torchvision's classes, and how the kernels for them end.
_SUFFIXES = {
    "Image": "image",
    "Video": "video",
    "Mask": "mask",
    "BoundingBoxes": "bounding_boxes",
    "KeyPoints": "keypoints",
}
_METADATA = ("format", "canvas_size", "clamping_mode")
_HOMES = {name: module for module, names in MODULES.items() for name in names}

TABLES: dict[str, Kernels] = {}

_passing: ContextVar[type | None] = ContextVar("passing", default=None)


@contextmanager
def passing_through(kind: type | None) -> Iterator[None]:
    """Have functions return inputs of a user's class untouched where they have no kernel for it.

    So it is within transforms, function by function, as in torchvision.
    """
    before = _passing.set(kind)
    try:
        yield
    finally:
        _passing.reset(before)


class Kernels(dict[type, Kernel]):
    """The kernels of one function, by the exact type of the input.

    Those on tensors are found by their names: `resize_image` works on tensors, and on Image after
    unwrapping it, `resize_mask` on Mask. A `tensor` that is given takes the places of the kernels
    on tensors, Image and Video. `pillow` works on Pillow images and, unless there is an `array`
    for them, on arrays.
    """

    def __init__(
        self,
        name: str,
        pillow: Kernel | NativeKernel | None = None,
        array: Kernel | None = None,
        tensor: Kernel | None = None,
        **others: Kernel,
    ) -> None:
        super().__init__()
        self.name = name
        if isinstance(pillow, NativeKernel):
            self._pillow: Kernel | None = pillow.on_pillow
            self._array: Kernel | None = array or pillow.on_arrays
        else:
            self._pillow = pillow
            self._array = array or (by_pillow(pillow) if pillow else None)
        self._tensor = tensor
        self._others = others  # kernels that take tv_tensors as they are, by the end of their name
        self._registered: dict[type, Kernel] = {}
        TABLES[name] = self

    def __missing__(self, kind: type) -> Kernel:
        kernel = self.find(kind)
        if kernel is None and kind is _passing.get():
            return _pass_through
        if kernel is None:
            raise NoKernelError(
                f"Functional F.{self.name} supports inputs of type {self._known_types()}, "
                f"but got {kind} instead."
            )
        self[kind] = kernel
        return kernel

    def find(self, kind: type) -> Kernel | None:
        """The kernel for a type, or for the nearest of its bases that has one."""
        wrapped = tv_tensors()
        for base in kind.__mro__:
            if base in self._registered:
                return self._registered[base]
            kernel = self._built_in(base, kind)
            if kernel is not None:
                return kernel
            if wrapped is not None and base is wrapped.TVTensor:
                return None  # what somebody calls a tensor of another kind is not just any tensor
        return None

    def register(self, kind: type, kernel: Kernel) -> None:
        """Have a user's kernel work on a type and what derives from it."""
        self._registered[kind] = _called_by_names(kernel, self.name)
        self.clear()

    def require_free(self, kind: type) -> None:
        """Refuse a second kernel for a type."""
        if kind in self._registered:
            raise TransformError(
                f"Functional {self.name} already has a kernel registered for type {kind}."
            )

    def _built_in(self, base: type, kind: type) -> Kernel | None:
        if base is Image.Image:
            return self._pillow
        if base is np.ndarray:
            return self._array
        torch = sys.modules.get("torch")
        if torch is not None and base is torch.Tensor:
            return self._tensor or self._named("image") or self._named("video")
        wrapped = tv_tensors()
        for name, suffix in _SUFFIXES.items():
            if wrapped is not None and base is getattr(wrapped, name, None):
                return self._for_tv_tensor(suffix, kind)
        return None

    def _for_tv_tensor(self, suffix: str, kind: type) -> Kernel | None:
        if suffix in self._others:
            return self._others[suffix]
        kernel = self._named(suffix)
        if kernel is None:
            return None
        if suffix in {"image", "video"}:
            return _unwrapping(self._tensor or kernel, kind)
        return _telling(kernel, self.name)

    def _named(self, suffix: str) -> Kernel | None:
        return kernel_named(f"{self.name}_{suffix}")

    def _known_types(self) -> list[str]:
        has_tensor = any(f"{self.name}_{suffix}" in _HOMES for suffix in ("image", "video"))
        found = {
            "PIL.Image.Image": self._pillow,
            "numpy.ndarray": self._array,
            "torch.Tensor": self._tensor or has_tensor,
        }
        names = [name for name, is_known in found.items() if is_known]
        for name, suffix in _SUFFIXES.items():
            if f"{self.name}_{suffix}" in _HOMES or suffix in self._others:
                names.append(f"torchvision.tv_tensors.{name}")
        return names + [str(kind) for kind in self._registered]


def kernel_named(name: str) -> Kernel | None:
    """The kernel on tensors of that name; importing it imports torch."""
    if name not in _HOMES:
        return None
    kernel: Kernel = getattr(import_module(f"{PACKAGE}.tensors.{_HOMES[name]}"), name)
    return kernel


def tv_tensors() -> ModuleType | None:
    """torchvision's classes of tensors, where somebody has imported them."""
    return sys.modules.get("torchvision.tv_tensors")


def is_pure_tensor(inpt: Any) -> bool:
    """Whether this is a tensor and not one of torchvision's tv_tensors."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(inpt, torch.Tensor):
        return False
    wrapped = tv_tensors()
    return wrapped is None or not isinstance(inpt, wrapped.TVTensor)


def is_tv_tensor(inpt: Any, name: str) -> bool:
    """Whether this is the tv_tensor of that name, as in `is_tv_tensor(boxes, "BoundingBoxes")`."""
    wrapped = tv_tensors()
    return wrapped is not None and isinstance(inpt, getattr(wrapped, name, ()))


def unwrap(inpt: Any) -> Any:
    """A tv_tensor as a plain tensor, which shares its memory."""
    return inpt.as_subclass(sys.modules["torch"].Tensor)


def wrap(tensor: Any, like: Any, **changes: Any) -> Any:
    """A tensor as the tv_tensor `like` is, with its metadata except for `changes`."""
    own = getattr(type(like), "wrap", None)
    if own is None:  # before torchvision 0.28, only the module could do it
        return sys.modules["torchvision.tv_tensors"].wrap(tensor, like=like, **changes)
    return own(tensor, like, **changes)


def _unwrapping(kernel: Kernel, kind: type) -> Kernel:
    """A kernel on plain tensors, for a tv_tensor without metadata."""
    plain: Any = sys.modules["torch"].Tensor
    is_simple = getattr(kind, "wrap", None) is None or _wraps_simply(kind)

    def call(inpt: Any, *args: Any, **arguments: Any) -> Any:
        out = kernel(inpt.as_subclass(plain), *args, **arguments)
        if type(out) is tuple:
            return tuple(wrap(part, inpt) for part in out)
        return out.as_subclass(kind) if is_simple else wrap(out, inpt)

    return call


def _wraps_simply(kind: Any) -> bool:
    base: Any = sys.modules["torchvision.tv_tensors"].TVTensor
    return getattr(kind.wrap, "__func__", None) is getattr(base.wrap, "__func__", kind)


def _telling(kernel: Kernel, function: str) -> Kernel:
    """A kernel on plain tensors that is told the metadata it asks for.

    It may take less than the function does (a box has no fill), and may return the size of the
    image along with the tensor.
    """
    parameters = list(inspect.signature(kernel).parameters)[1:]
    told = [name for name in parameters if name in _METADATA]
    taken = [name for name in parameters if name not in told]
    names = _parameters_of(function)

    def call(inpt: Any, *args: Any, **arguments: Any) -> Any:
        arguments.update(zip(names, args, strict=False))
        chosen = {name: arguments[name] for name in taken if name in arguments}
        for name in told:
            chosen[name] = getattr(inpt, name)
        out = kernel(unwrap(inpt), **chosen)
        if type(out) is tuple:
            return wrap(out[0], inpt, canvas_size=out[1])
        return wrap(out, inpt)

    return call


def _parameters_of(function: str) -> list[str]:
    """The names of what a function takes besides its input."""
    return list(inspect.signature(getattr(sys.modules[PACKAGE], function)).parameters)[1:]


def _called_by_names(kernel: Kernel, function: str) -> Kernel:
    """A user's kernel, which may have its arguments in another order than the function."""
    names = _parameters_of(function)

    @wraps(kernel)
    def call(inpt: Any, *args: Any, **arguments: Any) -> Any:
        with passing_through(None):  # what the user calls in there is to be told what is missing
            return kernel(inpt, **dict(zip(names, args, strict=False)), **arguments)

    return call


def register_kernel(functional: Any, tv_tensor_cls: Any) -> Callable[[Kernel], Kernel]:
    """Decorate a kernel, to have it called for a tv_tensor class of your own.

    `functional` is one of the functions here, or its name. The kernel gets the input as it is, and
    the function's arguments by name.
    """
    table = _table_of(functional)
    wrapped = tv_tensors()
    base = None if wrapped is None else wrapped.TVTensor
    if base is None or not (isinstance(tv_tensor_cls, type) and issubclass(tv_tensor_cls, base)):
        raise TransformError(
            "Kernels can only be registered for subclasses of torchvision.tv_tensors.TVTensor, "
            f"but got {tv_tensor_cls}."
        )
    if tv_tensor_cls in vars(wrapped).values():
        raise TransformError(
            "Kernels cannot be registered for the builtin tv_tensor classes, "
            f"but got {tv_tensor_cls}"
        )
    table.require_free(tv_tensor_cls)
    return partial(_register, table, tv_tensor_cls)


def _register(table: Kernels, kind: type, kernel: Kernel) -> Kernel:
    table.register(kind, kernel)
    return kernel


def _table_of(functional: Any) -> Kernels:
    if isinstance(functional, str):
        found = getattr(sys.modules[PACKAGE], functional, None)
        if found is None:
            raise TransformError(
                f"Could not find functional with name '{functional}' in {PACKAGE}."
            )
        functional = found
    name = getattr(functional, "__name__", None)
    if name not in TABLES or not getattr(functional, "__module__", "").startswith(PACKAGE):
        raise TransformError(
            f"Kernels can only be registered on functionals from the {PACKAGE} namespace, "
            f"but got {functional}."
        )
    return TABLES[name]


def get_kernel(functional: Any, kind: type, *, allow_passthrough: bool = False) -> Kernel:
    """What a function calls for inputs of a type; or, if allowed, what returns them untouched."""
    table = _table_of(functional)
    if allow_passthrough and kind not in table and table.find(kind) is None:
        return _pass_through
    return table[kind]


def _pass_through(inpt: Any, *args: Any, **arguments: Any) -> Any:
    del args, arguments
    return inpt
