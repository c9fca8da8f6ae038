"""penstock's transforms, called in the places of torchvision's and held against them.

Every call that a test makes is made twice from the same state of torch's generator: on ours and on
torchvision's own. Results and the state afterwards must be equal to the bit, or both must refuse.
"""

from __future__ import annotations

from typing import Any

import torch
from torchvision.transforms import v2

from penstock import transforms as T
from tests.outside.adapter import Adapter
from tests.outside.functional import assert_same, copies, is_theirs_to_judge, is_unable, try_call

NOT_TRANSFORMS = {"AutoAugmentPolicy", "InterpolationMode", "functional"}
CALLED = [name for name in T.__all__ if hasattr(v2, name) and name not in NOT_TRANSFORMS]


def adapt_calls() -> None:
    """From here on, a call of a transform of `torchvision.transforms.v2` is one of ours, too."""
    originals = {name: getattr(v2, name) for name in CALLED}
    for name, original in originals.items():
        setattr(v2, name, _held(name, original))


def _held(name: str, original: Any) -> Any:
    def make(self: Any, *args: Any, **kwargs: Any) -> None:
        original.__init__(self, *args, **kwargs)
        ours = getattr(T, name)
        # Not a submodule, and not printed: it belongs to the test's transform, unseen.
        object.__setattr__(self, "_ours", ours(*map(_ours_in, args), **_ours_in(kwargs)))

    def forward(self: Any, *inputs: Any) -> Any:
        Adapter.uses += 1
        before = torch.get_rng_state()
        if not all(map(is_theirs_to_judge, inputs)):
            return self._ours(*inputs)
        *given, _ = copies(inputs, {})
        with _alone(self):
            expected, refused = try_call(original.forward, self, *given, {})
        after = torch.get_rng_state()
        torch.set_rng_state(before)
        got = self._ours(*inputs)
        if is_unable(refused):
            return got
        assert refused is None, f"{name}: torchvision refuses this: {refused!r}"
        assert_same(name, got, expected)
        assert torch.equal(torch.get_rng_state(), after), f"{name}: other draws"
        return got

    # As a class of torchvision's, which is found there when it is pickled.
    place = {"__module__": v2.__name__, "__init__": make, "forward": forward}
    return type(name, (original,), place)


class _alone:  # noqa: N801  # used as a function
    """While torchvision's transform runs, those inside of it are torchvision's alone."""

    def __init__(self, outer: Any) -> None:
        self._inner = [module for module in outer.modules() if module is not outer]

    def __enter__(self) -> None:
        for module in self._inner:
            if hasattr(module, "_ours"):
                base = type(module).__mro__[1]
                object.__setattr__(module, "forward", base.forward.__get__(module))

    def __exit__(self, *_: object) -> None:
        for module in self._inner:
            if hasattr(module, "_ours"):
                del module.__dict__["forward"]


def _ours_in(value: Any) -> Any:
    """The same arguments, with our transforms where there are torchvision's."""
    if isinstance(value, torch.nn.ModuleList):
        return list(map(_ours_in, value))
    if isinstance(value, (list, tuple)) and any(hasattr(one, "_ours") for one in value):
        return type(value)(map(_ours_in, value))
    if isinstance(value, dict):
        return {name: _ours_in(one) for name, one in value.items()}
    return getattr(value, "_ours", value)
