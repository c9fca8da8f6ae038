"""Moves of single images as data for JSON, and in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock._core import Effect, effect_table
from penstock.geometry import Size
from penstock.transforms.arguments import mode_name
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import CropMove, FlipMove, Move, PadMove, ResizeMove

Told = dict[str, Any]

_OPTIONAL = {
    effect: frozenset(name for name, _, optional in parameters if optional)
    for effect, _, parameters in effect_table()
}
# Whole numbers among the parameters, which all travel as doubles.
_WHOLE = frozenset({"bits", "order", "kernel_width", "kernel_height", "key"})


def move_as_data(move: Move, row: int, size: Size) -> Told | None:
    """What a move does to one image, which has `size` before it; None if it has no effect."""
    match move:
        case PadMove():
            sides = (move.left, move.top, move.right, move.bottom)
            left, top, right, bottom = (int(side[row]) for side in sides)
            if not (left or top or right or bottom):
                return None  # there only because other images of the batch get a border
            told: Told = {"move": "pad", "left": left, "top": top, "right": right, "bottom": bottom}
            return told | {"mode": move.mode.name.lower(), "fill": list(move.fill)}
        case CropMove():
            top, left = int(move.top[row]), int(move.left[row])
            return {"move": "crop", **_box(top, left, int(move.height[row]), int(move.width[row]))}
        case ResizeMove():
            told = {"move": "resize", "from": [size.height, size.width]}
            told |= {"height": int(move.height[row]), "width": int(move.width[row])}
            return told | {"filter": mode_name(int(move.filter))}
        case FlipMove():
            horizontal, vertical = bool(move.horizontal[row]), bool(move.vertical[row])
            return {"move": "flip", "horizontal": horizontal, "vertical": vertical}
        case EffectMove():
            return _effect_as_data(move, row) if move.acts[row] else None


def _effect_as_data(move: EffectMove, row: int) -> Told:
    effect = Effect(int(move.effect[row]))
    told = move.parameters(row)
    for name in _OPTIONAL[effect]:
        if told[name] in (0.0, [0.0] * len(told[name]) if isinstance(told[name], list) else 0.0):
            del told[name]
    for name in _WHOLE & told.keys():
        value = told[name]
        told[name] = [int(one) for one in value] if isinstance(value, list) else int(value)
    if "filter" in told:
        told["filter"] = mode_name(int(told["filter"]))
    if "fill" in told:
        packed = int(told["fill"])
        told["fill"] = [packed & 255, packed >> 8 & 255, packed >> 16 & 255]
    if effect == Effect.ERASE:
        box = _box(*(int(told.pop(side)) for side in ("top", "left", "height", "width")))
        told = {**box, **told, "by_noise": bool(told["by_noise"])}
    return {"move": effect.name.lower(), **told}


def _box(top: int, left: int, height: int, width: int) -> dict[str, int]:
    return {"left": left, "top": top, "right": left + width, "bottom": top + height}


def say_move(told: Told, *, brief: bool) -> str:
    """A move in words; if `brief`, nothing that is plain from what was drawn for it."""
    name = told["move"]
    if brief and name in ("affine", "perspective"):
        return ""
    if name in _SAY:
        return _SAY[name](told)
    numbers = ", ".join(
        f"{key} {say_number(value)}"
        for key, value in told.items()
        if key not in ("move", "filter", "fill", "key")
    )
    plain = str(name.replace("_", " "))
    return f"{plain}: {numbers}" if numbers else plain


def say_number(value: Any) -> str:
    """Numbers in few digits; lists of them in brackets."""
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # + 0.0: zero has no sign
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(say_number, value))})"
    return str(value)


def _say_crop(told: Told) -> str:
    height, width = told["bottom"] - told["top"], told["right"] - told["left"]
    return f"crop {height}x{width} at left {told['left']}, top {told['top']}"


def _say_resize(told: Told) -> str:
    if told["from"] == [told["height"], told["width"]]:
        return f"{told['height']}x{told['width']} already"
    return f"resize to {told['height']}x{told['width']}"


def _say_pad(told: Told) -> str:
    sides = [told[side] for side in ("left", "top", "right", "bottom")]
    return "border: left {}, top {}, right {}, bottom {}".format(*sides)


def _say_flip(told: Told) -> str:
    ways = [
        way
        for way, done in (
            ("left to right", told["horizontal"]),
            ("top to bottom", told["vertical"]),
        )
        if done
    ]
    return f"flipped {' and '.join(ways)}" if ways else "not flipped"


def _say_erase(told: Told) -> str:
    by = "noise" if told["by_noise"] else say_number(told["value"])
    return f"erased {_say_crop(told).removeprefix('crop ')}, by {by}"


def _say_blur(told: Told) -> str:
    kernel = f"{told['kernel_height']}x{told['kernel_width']}"
    return f"sigma {say_number(told['sigma_across'])}, kernel {kernel}"


def _say_factor(told: Told) -> str:
    return f"{told['move']} {say_number(told['factor'])}"


_SAY: dict[str, Callable[[Told], str]] = {
    "crop": _say_crop,
    "resize": _say_resize,
    "pad": _say_pad,
    "flip": _say_flip,
    "erase": _say_erase,
    "gaussian_blur": _say_blur,
    "posterize": lambda told: f"posterize to {told['bits']} bits",
    "solarize": lambda told: f"solarize from {say_number(told['threshold'])}",
    "permute_channels": lambda told: f"channels {say_number(told['order'])}",
    **dict.fromkeys(("brightness", "contrast", "saturation", "hue", "sharpness"), _say_factor),
}
