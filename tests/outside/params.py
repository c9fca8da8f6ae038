"""What was drawn, in the words of torchvision's make_params."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch

from penstock._core import Effect
from penstock.transforms import warp
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, Move, PadMove

Params = dict[str, Any]

# What ColorJitter changes, by torchvision's numbers.
_FACTORS = (Effect.BRIGHTNESS, Effect.CONTRAST, Effect.SATURATION, Effect.HUE)

# Functions that are handed the drawn numbers before these turn into a matrix.
_DRAWS_PASS_THROUGH = {
    "RandomAffine": (warp, "affine_matrix"),
    "RandomRotation": (warp, "rotate"),
}


@contextmanager
def watch_draws(name: str) -> Iterator[mock.Mock]:
    """Note the call that hands over what the transform of this name draws, if there is one."""
    if name not in _DRAWS_PASS_THROUGH:
        yield mock.Mock()
        return
    module, function = _DRAWS_PASS_THROUGH[name]
    with mock.patch.object(module, function, wraps=getattr(module, function)) as handed_over:
        yield handed_over


def describe(name: str, moves: Sequence[Move], handed_over: mock.Mock) -> Params:
    """The parameters of a batch of one; empty where no test asks for them."""
    if name == "RandomAffine":
        return _affine(*handed_over.call_args.args)
    if name == "RandomRotation":
        return {"angle": handed_over.call_args.args[0].item()}
    return _DESCRIPTIONS[name](moves) if name in _DESCRIPTIONS else {}


def _affine(centre: Any, degrees: Any, translate: Any, scale: Any, shear: Any) -> Params:
    del centre
    return {
        "angle": degrees.item(),
        "translate": tuple(move.item() for move in translate),
        "scale": scale.item(),
        "shear": tuple(angle.item() for angle in shear),
    }


def _size(moves: Sequence[Move]) -> Params:
    (move,) = moves
    return {"size": (move.height.item(), move.width.item())}


def _padding(moves: Sequence[Move]) -> Params:
    (move,) = moves
    return {"padding": _borders(move)}


def _random_crop(moves: Sequence[Move]) -> Params:
    crop = moves[-1]
    pads = [_borders(move) for move in moves if isinstance(move, PadMove)]
    padding = pads[0] if pads else [0] * 4
    return {"needs_crop": True, "needs_pad": any(padding), "padding": padding, **_box(crop)}


def _blur(moves: Sequence[Move]) -> Params:
    (move,) = moves
    return {"sigma": [move.parameters(0)[name] for name in ("sigma_across", "sigma_down")]}


def _jitter(moves: Sequence[Move]) -> Params:
    effects = _effects(moves)
    order = [_FACTORS.index(effect) for effect in effects]
    return {"fn_idx": order, **_factors(effects)}


def _distort(moves: Sequence[Move]) -> Params:
    effects = _effects(moves)
    order = list(effects)
    contrast, saturation = Effect.CONTRAST in order, Effect.SATURATION in order
    before = (
        contrast and saturation and order.index(Effect.CONTRAST) < order.index(Effect.SATURATION)
    )
    channels = effects.get(Effect.PERMUTE_CHANNELS)
    permutation = None if channels is None else torch.tensor(channels["order"], dtype=torch.int64)
    return {
        "contrast_before": before,
        "channel_permutation": permutation,
        **_factors(effects),
    }


def _perspective(moves: Sequence[Move]) -> Params:
    parameters = _effects(moves).get(Effect.PERSPECTIVE)
    return {} if parameters is None else {"coefficients": parameters["matrix"]}


def _erase(moves: Sequence[Move]) -> Params:
    (move,) = moves
    if not isinstance(move, EffectMove) or move.effect[0] != Effect.ERASE:
        return {"i": 0, "j": 0, "h": 0, "w": 0, "v": torch.zeros(1, 1, 1)}
    parameters = move.parameters(0)
    top, left, height, width = (
        int(parameters[name]) for name in ("top", "left", "height", "width")
    )
    value = torch.tensor(parameters["value"], dtype=torch.float32).reshape(3, 1, 1)
    return {"i": top, "j": left, "h": height, "w": width, "v": value}


def _effects(moves: Sequence[Move]) -> dict[Effect, Params]:
    """Effects that do something, in their order, with their parameters; none occurs twice."""
    found = [(Effect(move.effect.item()), move.parameters(0)) for move in moves]
    return {effect: parameters for effect, parameters in found if effect != Effect.NONE}


def _factors(effects: dict[Effect, Params]) -> Params:
    return {
        f"{effect.name.lower()}_factor": effects[effect]["factor"] if effect in effects else None
        for effect in _FACTORS
    }


def _borders(move: Any) -> list[int]:
    return [side.item() for side in (move.left, move.top, move.right, move.bottom)]


def _box(move: Any) -> Params:
    assert isinstance(move, CropMove)
    return {name: getattr(move, name).item() for name in ("top", "left", "height", "width")}


_DESCRIPTIONS: dict[str, Callable[[Sequence[Move]], Params]] = {
    "ColorJitter": _jitter,
    "GaussianBlur": _blur,
    "RandomCrop": _random_crop,
    "RandomErasing": _erase,
    "RandomIoUCrop": lambda moves: _box(moves[0]),
    "RandomPerspective": _perspective,
    "RandomPhotometricDistort": _distort,
    "RandomResizedCrop": lambda moves: _box(moves[0]),
    "RandomShortestSize": _size,
    "RandomZoomOut": _padding,
    "ScaleJitter": _size,
}
