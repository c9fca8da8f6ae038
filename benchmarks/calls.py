"""Microseconds a call, ours beside torchvision's: `python -m benchmarks.calls`.

Every function of torchvision.transforms.v2.functional that works on images, and the transforms that
draw, called on a Pillow image, a tensor of bytes and a tensor of floats; and on an image of one
pixel, which shows what a call costs beside its work. Both take turns on one core, and what they
give is compared bit for bit.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import PIL.Image

import penstock
from benchmarks.dataset import CHECKOUT
from benchmarks.environment import cpu_name, system_name
from benchmarks.summary import Spread, ratio_in_each_round
from benchmarks.table import aligned
from penstock import transforms as T

RESULT = CHECKOUT / "benchmarks" / "results" / "calls.md"
HEADINGS = ("called", "on", "ours us", "torchvision us", "x tv", "bits")
SIZE_PX = (375, 500)  # of a photo of ImageNet
TRIAL_S = 0.02  # how long the calls of one round take, about

Call = Callable[[Any, Any], Any]  # of a module's functions and an image

CORNERS = [[0, 0], [499, 0], [499, 374], [0, 374]]
MOVED = [[20, 10], [480, 25], [490, 360], [5, 350]]

FUNCTIONS: dict[str, Call] = {
    "resize": lambda f, x: f.resize(x, [224, 224]),
    "resize up": lambda f, x: f.resize(x, [600, 800]),
    "resized_crop": lambda f, x: f.resized_crop(x, 40, 60, 200, 300, [224, 224]),
    "crop": lambda f, x: f.crop(x, 40, 60, 224, 224),
    "center_crop": lambda f, x: f.center_crop(x, [224, 224]),
    "pad": lambda f, x: f.pad(x, [4, 4]),
    "horizontal_flip": lambda f, x: f.horizontal_flip(x),
    "vertical_flip": lambda f, x: f.vertical_flip(x),
    "rotate": lambda f, x: f.rotate(x, 17.0),
    "rotate bilinear": lambda f, x: f.rotate(x, 17.0, interpolation="bilinear"),
    "affine": lambda f, x: f.affine(x, 10.0, [5, 7], 1.1, [3.0, 2.0]),
    "perspective": lambda f, x: f.perspective(x, CORNERS, MOVED),
    "adjust_brightness": lambda f, x: f.adjust_brightness(x, 1.3),
    "adjust_contrast": lambda f, x: f.adjust_contrast(x, 1.3),
    "adjust_saturation": lambda f, x: f.adjust_saturation(x, 1.3),
    "adjust_hue": lambda f, x: f.adjust_hue(x, 0.1),
    "adjust_sharpness": lambda f, x: f.adjust_sharpness(x, 1.3),
    "adjust_gamma": lambda f, x: f.adjust_gamma(x, 1.2),
    "autocontrast": lambda f, x: f.autocontrast(x),
    "equalize": lambda f, x: f.equalize(x),
    "invert": lambda f, x: f.invert(x),
    "posterize": lambda f, x: f.posterize(x, 4),
    "solarize": lambda f, x: f.solarize(x, 0.5 if _is_float(x) else 128),
    "rgb_to_grayscale": lambda f, x: f.rgb_to_grayscale(x, 3),
    "gaussian_blur": lambda f, x: f.gaussian_blur(x, [5, 5], [1.1, 1.1]),
    "permute_channels": lambda f, x: f.permute_channels(x, [2, 0, 1]),
    "to_image": lambda f, x: f.to_image(x),
}
# Those that only make sense for one kind of image.
ON_BYTES: dict[str, Call] = {"to_dtype": lambda f, x: f.to_dtype(x, _torch().float32, scale=True)}
ON_FLOATS: dict[str, Call] = {
    "normalize": lambda f, x: f.normalize(x, list(T.IMAGENET_MEAN), list(T.IMAGENET_STD))
}
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "RandomResizedCrop": lambda v: v.RandomResizedCrop(224),
    "RandomHorizontalFlip": lambda v: v.RandomHorizontalFlip(),
    "ColorJitter": lambda v: v.ColorJitter(0.4, 0.4, 0.2, 0.1),
    "RandAugment": lambda v: v.RandAugment(),
    "AutoAugment": lambda v: v.AutoAugment(),
    "TrivialAugmentWide": lambda v: v.TrivialAugmentWide(),
    "RandomRotation": lambda v: v.RandomRotation(30),
    "RandomGrayscale": lambda v: v.RandomGrayscale(0.5),
    "Compose of SimCLR": lambda v: v.Compose(
        [
            v.RandomResizedCrop(224),
            v.RandomHorizontalFlip(),
            v.RandomApply([v.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
            v.RandomGrayscale(0.2),
            v.GaussianBlur(23),
        ]
    ),
    "Compose of training": lambda v: v.Compose(
        [
            v.RandomResizedCrop(224),
            v.RandomHorizontalFlip(),
            v.ToImage(),
            v.ToDtype(_torch().float32, scale=True),
            v.Normalize(list(T.IMAGENET_MEAN), list(T.IMAGENET_STD)),
        ]
    ),
}


@dataclass(frozen=True, slots=True)
class Contest:
    """One call on one kind of image, by both."""

    name: str
    on: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]

    def agree(self) -> str:
        """Say whether both give the same bits from the same seed."""
        results = []
        for call in (self.ours, self.theirs):
            _torch().manual_seed(1)
            results.append(_bits(call()))
        return "equal" if results[0] == results[1] else "differ"

    def measure(self, rounds: int) -> tuple[str, ...]:
        """Return the row of the table."""
        agrees = self.agree()
        took: list[list[float]] = [[], []]
        repeats = [_repeats(self.ours), _repeats(self.theirs)]
        for _ in range(rounds + 1):  # the first one warms up
            for contestant, call in enumerate((self.ours, self.theirs)):
                _torch().manual_seed(1)
                started = time.perf_counter()
                for _ in range(repeats[contestant]):
                    call()
                each = (time.perf_counter() - started) / repeats[contestant]
                took[contestant].append(1e6 * each)
        ours, theirs = took[0][1:], took[1][1:]
        return (
            self.name,
            self.on,
            _spread(Spread.of(ours), 1),
            _spread(Spread.of(theirs), 1),
            _spread(ratio_in_each_round(theirs, ours), 2),
            agrees,
        )


def contests(only: Sequence[str] = ()) -> list[Contest]:
    """Return all calls, or those of these names."""
    from torchvision.transforms import v2

    from penstock.transforms import functional as ours

    images = _images(SIZE_PX)
    found: list[Contest] = []

    def add(name: str, on: str, mine: Callable[[], Any], theirs: Callable[[], Any]) -> None:
        if not only or name in only:
            found.append(Contest(name, on, mine, theirs))

    for on, image in images.items():
        extra = ON_BYTES if on == "uint8" else ON_FLOATS if on == "float32" else {}
        for name, call in {**FUNCTIONS, **extra}.items():
            if on == "float32" and name == "to_image":
                continue
            add(name, on, partial(call, ours, image), partial(call, v2.functional, image))
        for name, make in TRANSFORMS.items():
            if on == "float32" and name == "Compose of training":
                continue
            add(name, on, partial(make(T), image), partial(make(v2), image))
    for on, image in _images((1, 1)).items():
        add(
            "one pixel: invert",
            on,
            partial(ours.invert, image),
            partial(v2.functional.invert, image),
        )
        flips = T.RandomHorizontalFlip(1.0), v2.RandomHorizontalFlip(1.0)
        add("one pixel: flip drawn", on, partial(flips[0], image), partial(flips[1], image))
    return found


def _images(size: tuple[int, int]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (1 + size[0] // 8, 1 + size[1] // 8, 3), dtype=np.uint8)
    photo = PIL.Image.fromarray(coarse).resize((size[1], size[0]), PIL.Image.Resampling.BICUBIC)
    planes = _torch().from_numpy(np.ascontiguousarray(np.moveaxis(np.array(photo), 2, 0)))
    return {"Pillow": photo, "uint8": planes, "float32": planes.float() / 255}


def _is_float(image: Any) -> bool:
    return getattr(getattr(image, "dtype", None), "is_floating_point", False)


def _torch() -> Any:
    import torch

    return torch


def _bits(result: Any) -> bytes:
    if isinstance(result, PIL.Image.Image):
        return result.tobytes()
    return bytes(result.contiguous().numpy().tobytes())


def _repeats(call: Callable[[], Any]) -> int:
    call()
    started = time.perf_counter()
    for _ in range(3):
        call()
    return max(3, round(TRIAL_S / max((time.perf_counter() - started) / 3, 1e-6)))


def _spread(one: Spread, digits: int) -> str:
    return f"{one.median:.{digits}f} ({one.least:.{digits}f}-{one.largest:.{digits}f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calls", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds after the one that warms up")
    parser.add_argument("--only", action="append", default=[], help="a call of this name; repeat")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    args = parser.parse_args(arguments)
    try:
        import torchvision
    except ImportError as missing:
        print(f"benchmarks: torchvision is needed to compare with ({missing}).", file=sys.stderr)
        return 2
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    _torch().set_num_threads(1)
    rows = [HEADINGS, *(contest.measure(args.rounds) for contest in contests(args.only))]
    versions = (
        f"penstock {penstock.__version__}, torchvision {torchvision.__version__}, "
        f"torch {_torch().__version__}, Pillow {PIL.__version__}"
    )
    setting = (
        f"- {cpu_name()}, one core; {system_name()}; Python {platform.python_version()}",
        f"- {versions}",
        f"- {args.rounds} alternating rounds; images of {SIZE_PX[0]}x{SIZE_PX[1]} pixels",
        "- us: microseconds a call, median (least-largest); x tv: torchvision's over ours",
        "- bits: whether both give the same from the same seed",
    )
    text = "\n".join([*setting, "", *aligned(rows), ""])
    print(text)
    if args.write:
        made_by = "Made by `python -m benchmarks.calls --write`."
        RESULT.write_text(f"# Microseconds a call\n\n{text}\n{made_by}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
