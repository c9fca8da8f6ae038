"""Kernels of the core that stand for torch's, where the installed torch gives the same bits.

torch decides on the last bit: it depends on its version, on the libraries that it was built with,
and on the CPU. So each of these kernels is tried beside torch on a few images when it is first
needed, and left alone for good if a bit differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.compiler import is_compiling

Attempt = Callable[..., Tensor | None]
Oracle = Callable[..., Tensor]

_STRIDED = torch.strided
_TRIED_SIZES = ((3, 19, 37), (3, 8, 21))


def is_plain(image: Tensor) -> bool:
    """Whether an image is memory of the CPU, and nobody looks on.

    torch.compile, torch.jit.trace and torch.func follow what torch does, and gradients need it.
    """
    return (
        not is_compiling()
        and type(image) is Tensor
        and image.is_cpu
        and image.layout is _STRIDED
        and not (image.requires_grad and torch.is_grad_enabled())
        and not image.is_neg()
        and not _is_tracing()
        and not _is_wrapped(image)
        and forward_ad._current_level < 0  # noqa: SLF001  # nothing public says whether one is open
    )


# torch.jit and torch.func have no cheaper way to ask.
_is_tracing: Callable[[], bool] = torch._C._is_tracing  # noqa: SLF001
_is_wrapped: Callable[[Tensor], bool] = torch._C._functorch.is_functorch_wrapped_tensor  # noqa: SLF001


class Tried:
    """A kernel of the core before that of torch which it stands for.

    `attempt` is called with plain images of `dtypes`, and returns None for what is not for the
    core; `oracle` does the rest. `trials` are arguments to try both with, on images of all these
    types: what bytes are rounded from is seen in floats only.
    """

    __slots__ = ("_attempt", "_dtypes", "_is_equal", "_oracle", "_trials")

    def __init__(
        self,
        attempt: Attempt,
        oracle: Oracle,
        trials: Sequence[tuple[Any, ...]],
        dtypes: Sequence[torch.dtype] = (torch.uint8, torch.float32),
    ) -> None:
        self._attempt = attempt
        self._oracle = oracle
        self._trials = trials
        self._dtypes = frozenset(dtypes)
        self._is_equal: bool | None = None

    def __call__(self, image: Tensor, *args: Any) -> Tensor:
        """Change the image, by whichever."""
        if image.dtype in self._dtypes and is_plain(image):
            if self._is_equal is None:
                self._is_equal = all(map(self._agree, self._dtypes))
            if self._is_equal:
                out = self._attempt(image, *args)
                if out is not None:
                    return out
        return self._oracle(image, *args)

    def _agree(self, dtype: torch.dtype) -> bool:
        for image in trial_images(dtype):
            for args in self._trials:
                ours = self._attempt(image, *args)
                if ours is not None and not torch.equal(ours, self._oracle(image, *args)):
                    return False
        return True


def trial_images(dtype: torch.dtype) -> list[Tensor]:
    """Noise with gray parts, planes apart and pixels side by side."""
    generator = torch.Generator().manual_seed(0)
    images = []
    for channels, height, width in _TRIED_SIZES:
        shape = (channels, height, width)
        # Whatever device a user has as default: it is the CPU's arithmetic that is tried.
        levels = torch.randint(0, 256, shape, generator=generator, device="cpu")
        levels[:, :3] = levels[0, :3]
        image = levels.to(dtype)
        if dtype.is_floating_point:
            image = image.mul_(0.0041).sub_(0.02)  # some below 0, and some above 1
        images += [image, image.permute(1, 2, 0).contiguous().permute(2, 0, 1)]
    return images
