"""What a call costs beside its work: the calls of `benchmarks.calls`, on images of one pixel.

Where one pixel would be a special case, there are four. Functions on arrays have no counterpart in
torchvision, so there are only ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks import call_cases
from benchmarks.call_cases import Call, black, make_images, torch_module
from penstock import transforms as T
from penstock.transforms import functional as F

HEADINGS = ("called", "Pillow", "its tv", "uint8", "its tv", "float32", "its tv", "NumPy")
TRIAL_S = 0.002  # how long the calls of one round take, about

# With other arguments than on large images: these would reach beyond one pixel.
FUNCTIONS: dict[str, Call] = {
    "crop": lambda f, x: f.crop(x, 0, 0, 1, 1),
    "center_crop": lambda f, x: f.center_crop(x, [1, 1]),
    "gaussian_blur": lambda f, x: f.gaussian_blur(x, [1, 1], [1.1, 1.1]),
    "erase": lambda f, x: f.erase(x, 0, 0, 1, 1, black()),
    "five_crop": lambda f, x: f.five_crop(x, [1, 1]),
    "ten_crop": lambda f, x: f.ten_crop(x, [1, 1]),
}
# Four pixels: of one, some return at once, and torch takes another way.
ON_FOUR: dict[str, Call] = {
    "resize": lambda f, x: f.resize(x, [3, 3]),
    "resized_crop": lambda f, x: f.resized_crop(x, 0, 0, 2, 2, [3, 3]),
    "pad reflect": lambda f, x: f.pad(x, [1, 1], padding_mode="reflect"),
}
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "RandomHorizontalFlip, not done": lambda v: v.RandomHorizontalFlip(0.0),
    "RandomHorizontalFlip, done": lambda v: v.RandomHorizontalFlip(1.0),
    "RandomVerticalFlip, done": lambda v: v.RandomVerticalFlip(1.0),
    "RandomInvert, done": lambda v: v.RandomInvert(1.0),
    "RandomPosterize, done": lambda v: v.RandomPosterize(4, 1.0),
    "RandomGrayscale, done": lambda v: v.RandomGrayscale(1.0),
    "CenterCrop": lambda v: v.CenterCrop(1),
    "Pad": lambda v: v.Pad(1),
    "RandomRotation": lambda v: v.RandomRotation(30),
    "ColorJitter of brightness": lambda v: v.ColorJitter(0.4),
    "ColorJitter": lambda v: v.ColorJitter(0.4, 0.4, 0.2, 0.1),
    "Compose of a flip": lambda v: v.Compose([v.RandomHorizontalFlip(1.0)]),
    "ToImage": lambda v: v.ToImage(),
}
LEFT_OUT = frozenset({"resize up", "rotate bilinear"})  # the same calls as others, on one pixel


def small_rows(rounds: int, only: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """The table's rows: microseconds a call, in the round that was disturbed least."""
    from torchvision.transforms import v2

    one, four = _images((1, 1)), _images((2, 2))
    rows = []
    known = {**call_cases.FUNCTIONS, **call_cases.ON_BYTES, **call_cases.ON_FLOATS}
    for name, call in {**known, **FUNCTIONS, **ON_FOUR}.items():
        if name not in LEFT_OUT and (not only or name in only):
            images = four if name in ON_FOUR else one
            pair = (partial(call, F), partial(call, v2.functional))
            rows.append((name, *_cells(name, images, pair, rounds)))
    for name, make in TRANSFORMS.items():
        if not only or name in only:
            rows.append((name, *_cells(name, one, (make(T), make(v2)), rounds)))
    return rows


def draw_us(rounds: int) -> float:
    """Microseconds of one draw of torch's, which a transform cannot do without."""
    torch = torch_module()
    return min(_timed(lambda: torch.rand(1).item()) for _ in range(rounds + 1))


def _images(size: tuple[int, int]) -> dict[str, Any]:
    images = make_images(size)
    return {**images, "NumPy": np.array(images["Pillow"])}


def _cells(
    name: str, images: dict[str, Any], pair: tuple[Any, Any], rounds: int
) -> tuple[str, ...]:
    cells: list[str] = []
    for on, image in images.items():
        calls = [partial(one, image) for one in (pair[:1] if on == "NumPy" else pair)]
        is_missing = (name, on) in call_cases.MISSING or not all(map(_can, calls))
        took = ["-"] * len(calls) if is_missing else map("{:.1f}".format, _measure(calls, rounds))
        cells.extend(took)
    return tuple(cells)


def _can(call: Callable[[], Any]) -> bool:
    try:
        call()
    except (TypeError, ValueError):
        return False  # the function is not for such an image
    return True


def _measure(calls: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    took: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):  # the first one warms up
        for times, call in zip(took, calls, strict=True):
            torch_module().manual_seed(1)
            times.append(_timed(call))
    return [min(times[1:]) for times in took]


def _timed(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    repeats = max(3, round(TRIAL_S / max(time.perf_counter() - started, 1e-6)))
    started = time.perf_counter()
    for _ in range(repeats):
        call()
    return 1e6 * (time.perf_counter() - started) / repeats
