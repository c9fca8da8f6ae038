"""Random numbers from torch's global generator, drawn by the calls that torchvision v2 makes.

The same calls take the same numbers, so `torch.manual_seed` gives the same images as there. Where
torchvision compares or computes with a tensor of one number, that is float32, and so it is here.
torch is imported at the first draw.
"""

from __future__ import annotations

import random
import struct
import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from penstock.errors import TransformError

_KEY_BITS = 63


@cache
def torch_is_installed() -> bool:
    """Whether torch can be imported; it is not imported to find out."""
    try:
        return find_spec("torch") is not None
    except ValueError:  # a stand-in among sys.modules, without a spec
        return False


@cache
def get_torch() -> Any:
    """The module torch; TransformError where it is not installed."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise TransformError(
            f"This transform needs torch when it is called ({error}). Install torch, or let the "
            "loader do it."
        ) from error


def draw_key() -> int:
    """A seed of 63 bits, for what torchvision has no draws for; without torch, from `random`."""
    if not torch_is_installed():
        return random.getrandbits(_KEY_BITS)
    torch = get_torch()
    return int(torch.randint(0, 2**_KEY_BITS - 1, ()))


@lru_cache(maxsize=1024)
def float32_of(number: float) -> float:
    """The number as a float32 has it."""
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded


@cache
def _drawing() -> Callable[[float, float], float]:
    """What draws torch.empty(1).uniform_(low, high), which torch.rand(1) is, too.

    A new tensor takes as long as drawing into it, so each thread keeps one for each of torch's
    default types. Not where a new one would be of another device, or seen by whoever looks on.
    """
    torch = get_torch()
    kept = threading.local()
    default_dtype, empty = torch.get_default_dtype, torch.empty
    is_compiling = torch.compiler.is_compiling
    # A default device is one of the former; nothing public says whether there are any.
    modes, dispatch_modes = torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack  # noqa: SLF001

    def draw(low: float, high: float) -> float:
        if modes() or dispatch_modes() or is_compiling():
            return float(empty(1).uniform_(low, high).item())
        dtype = default_dtype()
        try:
            room = kept.rooms[dtype]
        except (AttributeError, KeyError):
            with torch.inference_mode(False):  # one of that mode could not be used outside of it
                room = empty(1)
            kept.rooms = {**getattr(kept, "rooms", {}), dtype: room}
        return float(room.uniform_(low, high).item())

    return draw


def chance(p: float) -> bool:
    """Whether torch.rand(1) < p."""
    return _drawing()(0.0, 1.0) < float32_of(p)


def chance_up_to(p: float) -> bool:
    """Whether torch.rand(()) <= p."""
    up_to: bool = get_torch().rand(()).item() <= float32_of(p)
    return up_to


def rand(count: int) -> Any:
    """A tensor of `count` numbers in [0, 1), in float32."""
    return get_torch().rand(count)


def uniform(low: float, high: float) -> float:
    """One number in [low, high)."""
    return _drawing()(low, high)


def log_uniform(limits: Sequence[float]) -> float:
    """One number between two limits, even on a logarithmic scale of float32."""
    torch = get_torch()
    low, high = _logarithms(tuple(limits))
    drawn: float = torch.exp(torch.empty(1).uniform_(low, high)).item()
    return drawn


@lru_cache(maxsize=1024)
def _logarithms(limits: tuple[float, ...]) -> tuple[float, float]:
    torch = get_torch()
    low, high = torch.log(torch.tensor(limits)).tolist()
    return low, high


def integer(low: int, high: int) -> int:
    """One integer in [low, high)."""
    drawn: int = get_torch().randint(low, high, ()).item()
    return drawn


def order(count: int) -> Any:
    """A tensor with 0 .. count - 1 in random order."""
    return get_torch().randperm(count)


def weighted(weights: Sequence[float]) -> int:
    """A place of `weights`, each as likely as its weight says."""
    torch = get_torch()
    return int(torch.multinomial(torch.tensor(weights), 1))


def beta(alpha: float) -> float:
    """One number from Beta(alpha, alpha)."""
    return float(dirichlet([alpha, alpha], 1)[0, 0])


def dirichlet(alphas: Sequence[float], count: int, device: Any = None) -> Any:
    """Weights that sum up to 1: a tensor of `count` rows."""
    torch = get_torch()
    concentrations = torch.tensor(alphas, device=device).expand(count, -1)
    return torch._sample_dirichlet(concentrations)  # noqa: SLF001  # what torchvision calls
