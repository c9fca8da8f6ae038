"""The study's operations with Pillow's own methods; also as a program for another Python.

Imports nothing but Pillow: pillow-simd takes Pillow's place, so it has an interpreter of its own,
which runs this file. That program reads a line of JSON for each job, and answers with another.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import PIL
import PIL.Image
from PIL import ImageEnhance

DEGREES = 30.0
BRIGHTER, LESS_CONTRAST = 1.3, 0.7

_BILINEAR = PIL.Image.Resampling.BILINEAR


def load(path: str) -> PIL.Image.Image:
    """Return the decoded photo, as torchvision's ImageFolder loads it."""
    with PIL.Image.open(path) as image:
        converted: PIL.Image.Image = image.convert("RGB")
        return converted


def middle(width: int, height: int) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of the middle half, as torchvision's CenterCrop."""
    across, down = width // 2, height // 2
    left, top = round((width - across) / 2), round((height - down) / 2)
    return left, top, left + across, top + down


def _jitter(image: PIL.Image.Image) -> PIL.Image.Image:
    brighter = ImageEnhance.Brightness(image).enhance(BRIGHTER)
    return ImageEnhance.Contrast(brighter).enhance(LESS_CONTRAST)


def _resize(side_px: int) -> Callable[[Any], Any]:
    return lambda image: image.resize((side_px, side_px), _BILINEAR)


STEPS: dict[str, Callable[[Any], Any]] = {
    "flip": lambda image: image.transpose(PIL.Image.Transpose.FLIP_LEFT_RIGHT),
    "rotate": lambda image: image.rotate(DEGREES, _BILINEAR),
    "rotate (nearest)": lambda image: image.rotate(DEGREES, PIL.Image.Resampling.NEAREST),
    "jitter": _jitter,
    "crop": lambda image: image.crop(middle(image.width, image.height)),
    "resize to 300": _resize(300),
    "resize to 1000": _resize(1000),
}


def timed(
    load: Callable[[str], Any],
    steps: Mapping[str, Callable[[Any], Any]],
    names: Sequence[str],
    path: str,
) -> tuple[list[float], Any]:
    """Return the time after loading and after each step, in seconds; and the image."""
    began = time.perf_counter()
    image = load(path)
    after = [time.perf_counter() - began]
    for name in names:
        image = steps[name](image)
        after.append(time.perf_counter() - began)
    return after, image


def _answer(job: dict[str, Any]) -> Any:
    """Return the times of each path; with "result", write the pixels of the only one there."""
    times = []
    for path in job["paths"]:
        after, image = timed(load, STEPS, job["steps"], path)
        times.append(after)
        if job.get("result"):
            with open(job["result"], "wb") as file:
                file.write(image.tobytes())
    return {"times": times, "size": image.size}


def main() -> None:
    """Say which Pillow this is; then do jobs until there are no more."""
    _say({"version": PIL.__version__})
    for line in sys.stdin:
        _say(_answer(json.loads(line)))


def _say(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):  # of whoever asked, who says so
        main()
