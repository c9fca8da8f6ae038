"""penstock's functions in the places of torchvision's, each held against the one it replaces.

Many of torchvision's tests compare a function with itself, on a tensor and on a Pillow image. So
every call is made twice here, on ours and on torchvision's own, and the results must be equal to
the bit, or both must be errors of the same kind.
"""

from __future__ import annotations

import copy
import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import PIL.Image
import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import _transform
from torchvision.transforms.v2 import functional as theirs
from torchvision.transforms.v2.functional import _utils

from penstock.transforms import functional as ours
from penstock.transforms.functional.dispatch import TABLES, get_kernel
from tests.outside.adapter import Adapter

# Kernels on Pillow images have no public names; tests find them in these modules.
_MODULES = ("_augment", "_color", "_geometry", "_meta", "_misc")
_KINDS = tuple(kind for kind in vars(tv_tensors).values() if isinstance(kind, type))
_NO_JPEG = "Couldn't load the image extension"  # builds of torchvision that cannot write JPEGs

_HELD: dict[str, Callable[..., Any]] = {}
_their_get_kernel = _utils._get_kernel


def adapt_functions() -> None:
    """From here on, `torchvision.transforms.v2.functional` has penstock's functions."""
    for name in ours.__all__:
        original = getattr(theirs, name)
        if inspect.isfunction(original):
            compare = _held if name != "register_kernel" else _counted
            _HELD[name] = compare(getattr(ours, name), original)
            setattr(theirs, name, _HELD[name])
    _transform._get_kernel = _get_kernel


@contextmanager
def private_names() -> Iterator[None]:
    """While tests are collected, torchvision's private names lead to our kernels too.

    Not longer: torchvision itself uses them, and would judge ours by ours.
    """
    replaced = [(_utils, "_get_kernel", _utils._get_kernel)]
    for place in _MODULES:
        module = getattr(theirs, place)
        for name, value in vars(module).items():
            function = name.lstrip("_").removesuffix("_image_pil")
            if name.endswith("_image_pil") and function in TABLES:
                replaced.append((module, name, value))
    for module, name, value in replaced:
        kernel = TABLES.get(name.lstrip("_").removesuffix("_image_pil"))
        new = _get_kernel if kernel is None else _held(kernel[PIL.Image.Image], value)
        setattr(module, name, new)
    yield
    for module, name, value in replaced:
        setattr(module, name, value)


def leave_out_scripting(tests: ModuleType) -> None:
    """Have torchvision's checks go on without TorchScript, which ours do not support."""
    for name in ("_check_kernel_scripted_vs_eager", "_check_functional_scripted_smoke"):
        setattr(tests, name, _check_nothing)


def _check_nothing(*args: Any, **kwargs: Any) -> None:
    del args, kwargs


def _get_kernel(functional: Any, kind: type, *, allow_passthrough: bool = False) -> Any:
    if functional in _HELD.values():
        our_own = getattr(ours, functional.__name__)
        return get_kernel(our_own, kind, allow_passthrough=allow_passthrough)
    return _their_get_kernel(functional, kind, allow_passthrough=allow_passthrough)


def _held(function: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """Our function, called beside torchvision's own."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        Adapter.uses += 1
        # torch counts who uses it, and tests look whether it was told so; ours does not tell it.
        torch._C._log_api_usage_once(f"{function.__module__}.{function.__name__}")
        if not is_theirs_to_judge(args[0] if args else None):
            return function(*args, **kwargs)
        before = torch.get_rng_state()
        expected, refused = try_call(original, *copies(args, kwargs))
        torch.set_rng_state(before)
        got = function(*args, **kwargs)
        if is_unable(refused):
            return got
        assert refused is None, f"{function.__name__}: torchvision refuses this: {refused!r}"
        assert_same(function.__name__, got, expected)
        return got

    return call


def _counted(function: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """Our function alone, which takes functions: those that stand for ours, as ours."""
    del original

    @functools.wraps(function)
    def call(functional: Any, *args: Any) -> Any:
        Adapter.uses += 1
        return function(getattr(functional, "__wrapped__", functional), *args)

    return call


def is_theirs_to_judge(inpt: Any) -> bool:
    """Whether torchvision knows the kind of input, as it does not know those of its tests."""
    is_other = isinstance(inpt, tv_tensors.TVTensor) and type(inpt) not in _KINDS
    return not is_other


def is_unable(refused: Exception | None) -> bool:
    """Whether it is this build of torchvision that cannot, and not torchvision."""
    return _NO_JPEG in str(refused)


def copies(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    return *(_copy(arg) for arg in args), {name: _copy(value) for name, value in kwargs.items()}


def _copy(value: Any) -> Any:
    """Some functions work in place. Strides are kept: results may follow them."""
    if isinstance(value, torch.Tensor):
        plain = value.as_subclass(torch.Tensor)
        copied = torch.empty_strided(
            plain.shape, plain.stride(), dtype=plain.dtype, device=plain.device
        ).copy_(plain)
        return tv_tensors.wrap(copied, like=value) if type(value) in _KINDS else copied
    return copy.copy(value) if isinstance(value, (list, dict)) else value


def try_call(function: Callable[..., Any], *args: Any) -> tuple[Any, Exception | None]:
    *positional, named = args
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*positional, **named), None
    except Exception as error:  # whatever torchvision raises is what it says
        return None, error


def assert_same(name: str, got: Any, expected: Any) -> None:
    assert type(got) is type(expected), f"{name}: {type(got)} is not {type(expected)}"
    if isinstance(got, (tuple, list)):
        assert len(got) == len(expected), name
        for one, other in zip(got, expected, strict=True):
            assert_same(name, one, other)
    elif isinstance(got, dict):
        assert got.keys() == expected.keys(), name
        for key in got:
            assert_same(name, got[key], expected[key])
    elif isinstance(got, torch.Tensor):
        _assert_same_tensors(name, got, expected)
    elif isinstance(got, PIL.Image.Image):
        assert (got.mode, got.size) == (expected.mode, expected.size), name
        assert got.tobytes() == expected.tobytes(), f"{name}: other pixels"
    elif isinstance(got, np.ndarray):
        assert np.array_equal(got, expected), name
    else:
        assert got == expected, name


def _assert_same_tensors(name: str, got: torch.Tensor, expected: torch.Tensor) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), name
    for metadata in ("format", "canvas_size", "clamping_mode"):
        assert getattr(got, metadata, None) == getattr(expected, metadata, None), metadata
    plain, other = got.as_subclass(torch.Tensor), expected.as_subclass(torch.Tensor)
    same = torch.allclose(plain, other, rtol=0, atol=0, equal_nan=True)
    assert same, f"{name}: other numbers"
