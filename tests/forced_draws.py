"""Makes torchvision's transforms use the parameters that a loader of ours drew for a sample."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from penstock._core import Effect
from penstock.geometry import Sizes
from penstock.reference.filters import elastic_displacements
from penstock.rng import Draws
from penstock.transforms.moves import Move, out_sizes
from penstock.transforms.policies.ops import draw_signs

_JITTER = (Effect.BRIGHTNESS, Effect.CONTRAST, Effect.SATURATION, Effect.HUE)


@dataclass(frozen=True)
class Drawn:
    """What one op drew for one sample."""

    op: Any
    draws: Draws  # a fresh one, for what cannot be read off the moves
    moves: tuple[Move, ...]


def drawn_by(plan, size, *, seed, epoch, sample) -> dict[str, Drawn]:
    """What each op of a plan drew for a sample of a size, by the op's name."""
    sizes = Sizes(np.array([size[0]]), np.array([size[1]]))
    samples = np.array([sample])
    drawn = {}
    for node in [node for part in plan.segments for node in (*part.ops, *part.finishing)]:
        moves = node.op.sample(Draws(seed, epoch, samples, node.stream), sizes)
        fresh = Draws(seed, epoch, samples, node.stream)
        drawn[type(node.op).__name__] = Drawn(node.op, fresh, moves)
        sizes = out_sizes(moves, sizes)
    return drawn


@contextlib.contextmanager
def forced(transforms, drawn) -> Iterator[None]:
    """Within this, the transforms among `transforms` that draw use what was drawn here."""
    with contextlib.ExitStack() as stack:
        for transform in transforms:
            force = _FORCES.get(type(transform).__name__)
            if force is not None:
                force(transform, drawn[type(transform).__name__], stack)
        yield


def _ints(move, *names):
    return tuple(int(getattr(move, name)[0]) for name in names)


def _is_v2(transform):
    return ".v2." in type(transform).__module__


def _set(stack, transform, **attributes):
    for name, value in attributes.items():
        stack.enter_context(mock.patch.object(transform, name, value))


def _force_params(stack, transform, v1_values, v2_values):
    if _is_v2(transform):
        _set(stack, transform, make_params=lambda *_: v2_values)
    else:
        _set(stack, transform, get_params=lambda *_, **__: v1_values)


def _resized_crop(transform, drawn, stack):
    names = ("top", "left", "height", "width")
    box = _ints(drawn.moves[0], *names)
    _force_params(stack, transform, box, dict(zip(names, box, strict=True)))


def _crop(transform, drawn, stack):
    names = ("top", "left", "height", "width")
    box = _ints(drawn.moves[-1], *names)
    if _is_v2(transform):  # which says what border it needs, too
        ask = transform.make_params
        placed = dict(zip(names, box, strict=True))
        _set(stack, transform, make_params=lambda inputs: ask(inputs) | placed)
    else:
        _force_params(stack, transform, box, None)


def _shortest_size(transform, drawn, stack):
    _force_params(stack, transform, None, {"size": _ints(drawn.moves[0], "height", "width")})


def _rotation(transform, drawn, stack):
    (angle,) = drawn.draws.uniform(*drawn.op._range).tolist()
    _force_params(stack, transform, angle, {"angle": angle})


def _elastic(transform, drawn, stack):
    import torch

    (move,) = drawn.moves
    height, width = _ints(move, "height", "width")
    key = tuple(move.parameters(0)["key"])
    sigma = drawn.op._sigmas
    across, down = elastic_displacements((height, width), drawn.op._alphas, sigma, key)
    field = np.stack([across * 2 / width, down * 2 / height], axis=2)[None].astype(np.float32)
    _force_params(stack, transform, None, {"displacement": torch.from_numpy(field)})


def _choice(transform, drawn, stack):
    """One of the list for sure; what is chosen must draw nothing itself."""
    chosen = int(np.searchsorted(drawn.op.limits[:-1], drawn.draws.uniform(), side="right")[0])
    _set(stack, transform, p=[float(place == chosen) for place in range(len(transform.p))])


def _flip(name) -> Callable[..., None]:
    def force(transform, drawn, stack):
        _set(stack, transform, p=float(getattr(drawn.moves[0], name)[0]))

    return force


def _jitter(transform, drawn, stack):
    factors = [None] * 4
    order = []
    for move in drawn.moves:
        which = _JITTER.index(Effect(int(move.effect[0])))
        factors[which] = float(move.parameters(0)["factor"])
        order.append(which)
    names = ("brightness_factor", "contrast_factor", "saturation_factor", "hue_factor")
    by_name = {"fn_idx": order, **dict(zip(names, factors, strict=True))}
    _force_params(stack, transform, (order, *factors), by_name)


def _erasing(transform, drawn, stack):
    import torch

    (move,) = drawn.moves
    top, left, height, width = (
        int(move.values(Effect.ERASE, name)[0]) for name in ("top", "left", "height", "width")
    )
    given = transform.value[0] if _is_v2(transform) else transform.value
    value = torch.tensor([float(given)])[:, None, None]
    box = (top, left, height, width, value)
    _set(stack, transform, p=float(move.effect[0] != Effect.NONE))
    _force_params(stack, transform, box, dict(zip("ijhwv", box, strict=True)))


def _rand_augment(transform, drawn, stack):
    turns = [
        (int(drawn.draws.integers(14)[0]), 0, float(draw_signs(drawn.draws)[0]))
        for _ in range(drawn.op.num_ops)
    ]
    _force_policy(transform, turns, stack)


def _trivial_augment(transform, drawn, stack):
    op = int(drawn.draws.integers(14)[0])
    level = int(drawn.draws.integers(drawn.op.num_magnitude_bins)[0])
    _force_policy(transform, [(op, level, float(draw_signs(drawn.draws)[0]))], stack)


def _force_policy(transform, turns, stack):
    """The policy asks for an op out of fourteen, a level, and one of two for the sign.

    The newer transforms ask for a number between 0 and 1 for the sign.
    """
    import torch

    left = iter(turns)
    now = [(0, 0, 1.0)]

    def randint(high, size, **_):
        if high == 14:
            now[0] = next(left)
        op, level, sign = now[0]
        return torch.tensor({14: op, 2: int(sign < 0)}.get(high, level)).reshape(size)

    def rand(size):
        return torch.full(size, float(now[0][2] > 0))

    forward = transform.forward

    def forced_forward(image):
        with mock.patch.multiple(torch, randint=randint, rand=rand):
            return forward(image)

    _set(stack, transform, forward=forced_forward)


_FORCES = {
    "RandomResizedCrop": _resized_crop,
    "RandomCrop": _crop,
    "RandomHorizontalFlip": _flip("horizontal"),
    "RandomVerticalFlip": _flip("vertical"),
    "ColorJitter": _jitter,
    "ElasticTransform": _elastic,
    "RandomChoice": _choice,
    "RandomErasing": _erasing,
    "RandomRotation": _rotation,
    "RandomShortestSize": _shortest_size,
    "RandAugment": _rand_augment,
    "TrivialAugmentWide": _trivial_augment,
}
