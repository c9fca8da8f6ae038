"""The libraries that are compared: each with the calls that its users write.

All do the same: rotate by 30 degrees around the middle, without enlarging the image; make it
brighter and take contrast away; crop the middle half; resize to a square; mirror.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL

from penstock._core import Effect
from penstock.demo.torchvision_import import import_torchvision
from penstock.experiments.experiment import UnavailableError
from penstock.experiments.libraries import pillow_steps
from penstock.experiments.libraries.pillow_steps import (
    BRIGHTER,
    DEGREES,
    LESS_CONTRAST,
    middle,
    timed,
)
from penstock.geometry import Size
from penstock.reference.libraries.numpy import NumpyLibrary
from penstock.usable_cores import pinned_to

Pixels = npt.NDArray[np.uint8]  # height x width x 3
Values = npt.NDArray[np.float32]
Steps = Mapping[str, Callable[[Any], Any]]

SIDES_PX = (300, 1000)
_BILINEAR = 2  # Pillow's number
_ROWS = 16
# A small process gives the memory of each image back to the system, which clears it for the next
# one: loading 2000x1500 pixels takes 24 ms instead of 11. In the experiment's own process, where
# the other libraries work, much else lies in the way of that.
_KEEP_MEMORY = dict.fromkeys(
    ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(2_000_000_000)
)
_SIMD_MARK = "post"  # in versions of pillow-simd, and of no other Pillow


class Toolkit(ABC):
    """One library, in one way of using it."""

    name: str
    version: str
    note: str = ""  # what a reader should know

    @abstractmethod
    def seconds(self, paths: Sequence[str], steps: Sequence[str]) -> list[list[float]]:
        """Return for each photo the time after loading it, and after each step."""

    @abstractmethod
    def result(self, path: str, steps: Sequence[str]) -> Pixels:
        """Return what becomes of a photo."""

    def close(self) -> None:  # noqa: B027 (most have nothing to close)
        """Free what it holds."""


class LocalToolkit(Toolkit):
    """A library in this process, on one core and in one thread unless `is_free`."""

    def __init__(
        self,
        name: str,
        version: str,
        load: Callable[[str], Any],
        steps: Steps,
        to_array: Callable[[Any], Pixels] = np.asarray,
        *,
        is_free: bool = False,
        note: str = "",
    ) -> None:
        self.name, self.version, self.note = name, version, note
        self._load, self._steps, self._to_array = load, steps, to_array
        self._is_free = is_free

    def seconds(self, paths: Sequence[str], steps: Sequence[str]) -> list[list[float]]:
        """Return for each photo the time after loading it, and after each step."""
        with self._cores():
            return [timed(self._load, self._steps, steps, path)[0] for path in paths]

    def result(self, path: str, steps: Sequence[str]) -> Pixels:
        """Return what becomes of a photo."""
        return np.asarray(self._to_array(timed(self._load, self._steps, steps, path)[1]))

    @contextmanager
    def _cores(self) -> Iterator[None]:
        if self._is_free:
            yield
            return
        with pinned_to(1):
            yield


def open_pillow() -> Toolkit:
    """Pillow's own methods."""
    return LocalToolkit("Pillow", PIL.__version__, pillow_steps.load, pillow_steps.STEPS)


class PillowSimd(Toolkit):
    """pillow-simd in another interpreter: the same steps, in a process of its own."""

    name = "pillow-simd"

    def __init__(self, python: str) -> None:
        command = [python, str(Path(pillow_steps.__file__))]
        try:
            with pinned_to(1):  # which the process inherits
                self._process = subprocess.Popen(  # noqa: S603 (the user names the program)
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ, **_KEEP_MEMORY},
                )
        except OSError as error:
            raise UnavailableError(
                f"{python} cannot be run: {error.strerror}. Name an interpreter."
            ) from error
        self.version = str(self._read()["version"])
        if _SIMD_MARK not in self.version:
            self.close()
            raise UnavailableError(
                f"{python} has Pillow {self.version}, not pillow-simd (whose versions end in "
                "'post'). Install it there: CC='cc -mavx2' pip install pillow-simd"
            )

    def seconds(self, paths: Sequence[str], steps: Sequence[str]) -> list[list[float]]:
        """Return for each photo the time after loading it, and after each step."""
        times: list[list[float]] = self._ask(paths=list(paths), steps=list(steps))["times"]
        return times

    def result(self, path: str, steps: Sequence[str]) -> Pixels:
        """Return what becomes of a photo."""
        with tempfile.NamedTemporaryFile() as file:
            width, height = self._ask(paths=[path], steps=list(steps), result=file.name)["size"]
            return np.fromfile(file.name, np.uint8).reshape(height, width, 3)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _ask(self, **job: Any) -> dict[str, Any]:
        stdin: Any = self._process.stdin
        try:
            stdin.write(json.dumps(job) + "\n")
            stdin.flush()
        except OSError as error:
            raise UnavailableError(
                "pillow-simd's process ended; its own message is above"
            ) from error
        return self._read()

    def _read(self) -> dict[str, Any]:
        stdout: Any = self._process.stdout
        line = stdout.readline()
        if not line:
            self._process.wait()
            raise UnavailableError("pillow-simd's process ended; its own message is above")
        answer: dict[str, Any] = json.loads(line)
        return answer


def open_numpy() -> Toolkit:
    """NumPy alone, but for decoding; no view is left for a later step to pay for."""
    library = NumpyLibrary()

    def jitter(pixels: Pixels) -> Pixels:
        size = Size(*pixels.shape[:2])
        brighter = library.apply_effect(pixels, Effect.BRIGHTNESS, {"factor": BRIGHTER}, size)
        contrast = {"factor": LESS_CONTRAST, "has_mean": 0.0, "mean": 0.0}
        return library.apply_effect(brighter, Effect.CONTRAST, contrast, size)

    steps: Steps = {
        "flip": lambda pixels: np.ascontiguousarray(pixels[:, ::-1]),
        "rotate": partial(_rotated, is_smooth=True),
        "rotate (nearest)": partial(_rotated, is_smooth=False),
        "jitter": jitter,
        "crop": lambda pixels: np.ascontiguousarray(_cropped(pixels)),
        **{
            f"resize to {side}": partial(library.resize, size=Size(side, side), filter=_BILINEAR)
            for side in SIDES_PX
        },
    }
    return LocalToolkit(
        "NumPy",
        np.__version__,
        lambda path: np.asarray(pillow_steps.load(path)),
        steps,
        note="NumPy cannot decode: its photos are loaded by Pillow",
    )


def _rotated(pixels: Pixels, *, is_smooth: bool) -> Pixels:
    """Rotate some rows at a time, which stay in the processor's caches."""
    height, width = pixels.shape[:2]
    cos, sin = math.cos(math.radians(DEGREES)), math.sin(math.radians(DEGREES))
    flat = pixels.reshape(-1, 3)
    result = np.empty_like(pixels)
    across = (np.arange(width, dtype=np.float32) + 0.5) - width / 2
    for top in range(0, height, _ROWS):
        rows = np.arange(top, min(top + _ROWS, height), dtype=np.float32)[:, None]
        down = (rows + 0.5) - height / 2
        x = across * np.float32(cos) - down * np.float32(sin) + np.float32(width / 2)
        y = across * np.float32(sin) + down * np.float32(cos) + np.float32(height / 2)
        outside = (x < 0) | (x >= width) | (y < 0) | (y >= height)
        band = _smooth(flat, x, y, width, height) if is_smooth else _nearest(flat, x, y, width)
        band[outside] = 0
        result[top : top + len(rows)] = band
    return result


def _nearest(flat: Pixels, x: Values, y: Values, width: int) -> Pixels:
    places = y.astype(np.int32) * width + x.astype(np.int32)
    return np.take(flat, places, axis=0, mode="clip")


def _smooth(flat: Pixels, x: Values, y: Values, width: int, height: int) -> Pixels:
    """Weigh the four pixels around each place; fractions are cut off, as Pillow does."""
    left, top = np.floor(x - 0.5), np.floor(y - 0.5)
    right_share, low_share = x - 0.5 - left, y - 0.5 - top
    columns = [np.clip(left + tap, 0, width - 1).astype(np.int32) for tap in (0, 1)]
    lines = [np.clip(top + tap, 0, height - 1).astype(np.int32) * width for tap in (0, 1)]
    mixed = np.zeros((*x.shape, 3), np.float32)
    for line, down in zip(lines, (1 - low_share, low_share), strict=True):
        for column, across in zip(columns, (1 - right_share, right_share), strict=True):
            mixed += np.take(flat, line + column, axis=0) * (down * across)[:, :, None]
    return mixed.astype(np.uint8)


def _cropped(pixels: Pixels) -> Pixels:
    left, top, right, bottom = middle(pixels.shape[1], pixels.shape[0])
    return pixels[top:bottom, left:right]


def open_opencv(*, is_free: bool) -> Toolkit:
    """OpenCV's functions as they are usually called: a resize looks at four pixels only."""
    cv: Any = _import("cv2")

    def rotate(flags: int, pixels: Pixels) -> Any:
        height, width = pixels.shape[:2]
        matrix = cv.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), DEGREES, 1.0)
        return cv.warpAffine(pixels, matrix, (width, height), flags=flags)

    def jitter(pixels: Pixels) -> Any:
        brighter = cv.convertScaleAbs(pixels, alpha=BRIGHTER)
        mean = cv.mean(cv.cvtColor(brighter, cv.COLOR_RGB2GRAY))[0]
        return cv.convertScaleAbs(brighter, alpha=LESS_CONTRAST, beta=mean * (1 - LESS_CONTRAST))

    def resize(side: int, pixels: Pixels) -> Any:
        return cv.resize(pixels, (side, side), interpolation=cv.INTER_LINEAR)

    steps: Steps = {
        "flip": lambda pixels: cv.flip(pixels, 1),
        "rotate": partial(rotate, cv.INTER_LINEAR),
        "rotate (nearest)": partial(rotate, cv.INTER_NEAREST),
        "jitter": jitter,
        "crop": _cropped,
        **{f"resize to {side}": partial(resize, side) for side in SIDES_PX},
    }
    return LocalToolkit(
        "OpenCV, all threads" if is_free else "OpenCV",
        cv.__version__,
        partial(_load_opencv, cv),
        steps,
        is_free=is_free,
    )


def _load_opencv(cv: Any, path: str) -> Any:
    return cv.cvtColor(cv.imread(path, cv.IMREAD_COLOR), cv.COLOR_BGR2RGB)


def open_torchvision() -> Toolkit:
    """torchvision's v2 functions on uint8 tensors."""
    try:
        torch, torchvision = import_torchvision()
    except ImportError as error:
        raise UnavailableError(f"torchvision cannot be imported: {error}") from error
    v2, modes = torchvision.transforms.v2.functional, torchvision.transforms.InterpolationMode
    load, note = _tensor_loader(torch, torchvision)

    def jitter(image: Any) -> Any:
        brighter = v2.adjust_brightness(image, BRIGHTER)
        return v2.adjust_contrast(brighter, LESS_CONTRAST)

    steps: Steps = {
        "flip": v2.horizontal_flip,
        "rotate": partial(v2.rotate, angle=DEGREES, interpolation=modes.BILINEAR),
        "rotate (nearest)": partial(v2.rotate, angle=DEGREES, interpolation=modes.NEAREST),
        "jitter": jitter,
        "crop": lambda image: v2.center_crop(image, [image.shape[1] // 2, image.shape[2] // 2]),
        **{
            f"resize to {side}": partial(v2.resize, size=[side, side], antialias=True)
            for side in SIDES_PX
        },
    }
    return LocalToolkit(
        "torchvision tensors",
        torchvision.__version__,
        load,
        steps,
        lambda image: image.permute(1, 2, 0).contiguous().numpy(),
        note=note,
    )


def _tensor_loader(torch: Any, torchvision: Any) -> tuple[Callable[[str], Any], str]:
    """Return torchvision's decoder, or Pillow where its compiled part does not load."""
    io = torchvision.io

    def decode(path: str) -> Any:
        return io.decode_image(path, mode=io.ImageReadMode.RGB)

    probe = torch.zeros(3, 8, 8, dtype=torch.uint8)
    try:
        io.encode_jpeg(probe)
    except RuntimeError:
        v2 = torchvision.transforms.v2.functional
        return (
            lambda path: v2.pil_to_tensor(pillow_steps.load(path)),
            (
                "torchvision's own decoder does not load beside this torch: its photos are loaded "
                "by Pillow and copied into tensors"
            ),
        )
    return decode, ""


def open_albumentations() -> Toolkit:
    """Albumentations' transforms, one call for each."""
    cv: Any = _import("cv2")
    with _no_version_check():
        library: Any = _import("albumentations")

    def named(transform: Any) -> Callable[[Any], Any]:
        return lambda pixels: transform(image=pixels)["image"]

    def crop(pixels: Pixels) -> Any:
        height, width = pixels.shape[:2]
        return library.CenterCrop(height // 2, width // 2)(image=pixels)["image"]

    def jitter(**factors: Any) -> Any:
        unchanged = {"brightness": (1, 1), "contrast": (1, 1), "saturation": (1, 1), "hue": (0, 0)}
        return library.ColorJitter(**(unchanged | factors), p=1)

    brighter = jitter(brightness=(BRIGHTER, BRIGHTER))
    flatter = jitter(contrast=(LESS_CONTRAST, LESS_CONTRAST))
    angle = (DEGREES, DEGREES)
    steps: Steps = {
        "flip": named(library.HorizontalFlip(p=1)),
        "rotate": named(library.Rotate(angle, interpolation=cv.INTER_LINEAR, p=1)),
        "rotate (nearest)": named(library.Rotate(angle, interpolation=cv.INTER_NEAREST, p=1)),
        "jitter": lambda pixels: flatter(image=brighter(image=pixels)["image"])["image"],
        "crop": crop,
        **{
            f"resize to {side}": named(library.Resize(side, side, cv.INTER_LINEAR))
            for side in SIDES_PX
        },
    }
    return LocalToolkit("Albumentations", library.__version__, partial(_load_opencv, cv), steps)


@contextmanager
def _no_version_check() -> Iterator[None]:
    """Keep Albumentations from asking the network for its newest version when it is imported."""
    import os

    name = "NO_ALBUMENTATIONS_UPDATE"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _import(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise UnavailableError(f"{name} cannot be imported: {error}") from error


def open_toolkits(pillow_simd: str | None) -> tuple[list[Toolkit], dict[str, str]]:
    """Return the libraries that are there, and why the others are not."""
    makers: dict[str, Callable[[], Toolkit]] = {
        "Pillow": open_pillow,
        "pillow-simd": lambda: _open_pillow_simd(pillow_simd),
        "OpenCV": lambda: open_opencv(is_free=False),
        "OpenCV, all threads": lambda: open_opencv(is_free=True),
        "NumPy": open_numpy,
        "torchvision tensors": open_torchvision,
        "Albumentations": open_albumentations,
    }
    found, missing = [], {}
    for name, make in makers.items():
        try:
            found.append(make())
        except UnavailableError as error:
            missing[name] = str(error)
    return found, missing


def _open_pillow_simd(python: str | None) -> Toolkit:
    if python is None:
        raise UnavailableError(
            "it takes Pillow's place, so it needs an environment of its own. Name that "
            "environment's interpreter with --pillow-simd"
        )
    return PillowSimd(python)
