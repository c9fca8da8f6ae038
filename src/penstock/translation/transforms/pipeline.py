"""A pipeline of ours while it is put together from somebody's steps, one after the other.

It keeps track of what an image is at this point (a Pillow image, an array, a tensor), since the
same step does different things to each. Steps that have no equivalent may stay in Python: these are
called as they are, and timed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

import numpy as np
from PIL import Image

from penstock import transforms as T
from penstock.errors import TransformError
from penstock.planner.plan import as_written
from penstock.transforms.containers import require_loadable
from penstock.transforms.python_step import Pixels
from penstock.translation.transforms.identify import describe, imported
from penstock.translation.transforms.lines import Log

_TIMED_CALLS = 8  # after a first one; several, as some draw whether to do anything
_TIMED_SIDE_PX = 256


class Stage(Enum):
    """What an image is for the next transform."""

    PILLOW = "a Pillow image"
    ARRAY = "a NumPy array"
    FLOAT_ARRAY = "a floating-point array"
    BYTES = "a uint8 tensor"
    NUMBERS = "a floating-point tensor"


class StageError(TransformError):
    """A step gets something other than it accepts."""


@dataclass(slots=True)
class Pipeline:
    """Steps on pixels, steps on values, and rectangles erased after those."""

    log: Log = field(default_factory=Log)  # what became of each step
    strict: bool = True  # steps to which ours are only close are not translated
    for_loader: bool = False  # which has no strict=, and calls nothing but the user's functions
    has_targets: bool = False  # boxes that follow the image
    has_whole_boxes: bool = False  # some of them int64, which torchvision cuts off after every step
    time_native: Callable[[Any], float | None] | None = None  # microseconds of one of ours
    stage: Stage = Stage.PILLOW
    is_lost: bool = False  # whether `stage` is unknown, after a step that is not known
    is_gray: bool = False  # one channel, which our pipeline has three times
    is_normalised: bool = False
    ops: list[Any] = field(default_factory=list)
    final: list[Any] = field(default_factory=list)
    erasings: list[T.RandomErasing] = field(default_factory=list)

    @property
    def what_is_met(self) -> str:
        """What the next step gets, in words."""
        return "an image of one channel" if self.is_gray else self.stage.value

    @property
    def has_rgb_pillow(self) -> bool:
        """Whether the next step gets an RGB Pillow image."""
        return self.stage == Stage.PILLOW and not self.is_gray

    @contextmanager
    def refusing(self, step: Any) -> Iterator[None]:
        """Log a step as refused if reading it fails.

        After an unknown step, it is not known what later steps get, so a StageError is not logged.
        """
        try:
            yield
        except TransformError as error:
            if not (isinstance(error, StageError) and self.is_lost):
                self.log.refuse(describe(step), str(error))

    def add(self, op: Any) -> None:
        """Append a step on pixels."""
        require_loadable(op)
        self.ops.append(op)

    def take(self, step: Any, op: Any, note: str = "") -> None:
        """Append a step on pixels that stands for somebody's, and log that."""
        self.add(op)
        self.log.native(describe(step), repr(op), note)

    def read(
        self,
        step: Any,
        read: Callable[[Any, Pipeline], None],
        untouched: str = "the core's images are what it makes",
    ) -> None:
        """Log what `read` appends; if that is nothing, `untouched` says why."""
        before = len(self.final), len(self.ops), len(self.erasings)
        read(step, self)
        for count, ours in zip(before, (self.final, self.ops, self.erasings), strict=True):
            if len(ours) > count:
                self.log.native(describe(step), repr(ours[-1]))
                return
        self.log.not_needed(describe(step), untouched)

    def add_values(self, op: Any) -> None:
        """Append a step on values, after which an image is numbers."""
        require_loadable(op)
        self.final.append(op)
        self.stage = Stage.NUMBERS

    def add_to_tensor(self) -> None:
        """Append ToTensor, which makes whatever torch's default is."""
        torch = imported("torch")
        if torch is not None and str(torch.get_default_dtype()) != "torch.float32":
            default = torch.get_default_dtype()
            raise TransformError(f"torch's default dtype is {default}, not float32.")
        self.add_values(T.ToTensor())

    def normalise(self, mean: Sequence[float], std: Sequence[float]) -> None:
        """Append Normalize; what was erased before is normalised too."""
        op = T.Normalize(mean, std)
        self.erasings = [_normalised(erasing, op) for erasing in self.erasings]
        self.add_values(op)
        self.is_normalised = True

    @property
    def layout(self) -> Literal["chw", "hwc"]:
        """How values lie in a batch: an array's channels come last, a tensor's first."""
        return "hwc" if self.stage in (Stage.ARRAY, Stage.FLOAT_ARRAY) else "chw"

    def transform(self) -> Any:
        """Return all of it as one transform, checked; None if there is nothing to do."""
        steps = [*self.ops, *self.final, *self.erasings]
        whole = T.Compose(steps) if steps else None
        as_written(whole)
        return whole


def _normalised(erasing: T.RandomErasing, op: T.Normalize) -> T.RandomErasing:
    if isinstance(erasing.value, str):
        raise TransformError("noise is erased with before it is normalised; ours comes after")
    given = erasing.value if isinstance(erasing.value, Sequence) else (erasing.value,)
    values = np.broadcast_to(np.array(given, np.float32), 3)
    mean, std = np.array(op.channel_mean, np.float32), np.array(op.channel_std, np.float32)
    return replace(erasing, value=tuple(((values - mean) / std).tolist()))


class RgbStep:
    """Calls a transform, and makes sure that an RGB Pillow image comes back.

    Anything else would reach the model in another form than through the DataLoader.
    """

    def __init__(self, transform: Callable[[Image.Image], Any]) -> None:
        self._transform = transform
        self.__qualname__ = describe(transform)

    def __call__(self, image: Image.Image) -> Image.Image:
        """Return what the transform makes of an image."""
        returned = self._transform(image)
        if not isinstance(returned, Image.Image) or returned.mode != "RGB":
            got = (
                f"a Pillow image of mode {returned.mode}"
                if isinstance(returned, Image.Image)
                else type(returned).__name__
            )
            raise TransformError(
                f"{self.__qualname__}: returned {got}; a step between others must return an RGB "
                "Pillow image to be accelerated."
            )
        return returned


def timed_picture() -> Pixels:
    """Return a picture of medium size, the same for all that is timed."""
    side = np.arange(_TIMED_SIDE_PX, dtype=np.uint16)
    pixels = np.stack([np.add.outer(side, side) // 2, *np.broadcast_arrays(side, side[:, None])], 2)
    return pixels.astype(np.uint8)


def microseconds_on_a_picture(
    transform: Callable[[Any], Any], *, as_array: bool = False
) -> float | None:
    """Return the mean time of a few calls on a picture of medium size; None if they fail."""
    pixels = timed_picture()
    picture = Image.fromarray(pixels)
    return microseconds_per_call(lambda: transform(pixels.copy() if as_array else picture.copy()))


def views_made_by(transform: Callable[[Any], Any]) -> int:
    """How many images a user's function makes of one; 0 if it returns no list of them, or fails."""
    with random_numbers_kept():
        try:
            made = transform(Image.fromarray(timed_picture()))
        except Exception:  # noqa: BLE001  whatever a user's function raises
            return 0
    return len(made) if isinstance(made, (list, tuple)) else 0


def views_are_native(count: int) -> str:
    """What somebody who makes so many views of an image can do instead."""
    return (
        "Several views of an image have to be written as such, and are then made natively, with "
        "one decode for all: penstock.Loader(files, labels=labels, transform=penstock.transforms."
        f"MultiView([view] * {count})), where view is the transform of one of them"
    )


def microseconds_per_call(call: Callable[[], Any]) -> float | None:
    """Return the mean time of a few calls; None if they fail."""
    times = []
    with random_numbers_kept():
        for _ in range(1 + _TIMED_CALLS):
            started = time.perf_counter()
            try:
                call()
            except Exception:  # noqa: BLE001  whatever a user's function raises
                return None
            times.append(time.perf_counter() - started)
    return sum(times[1:]) / _TIMED_CALLS * 1e6


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Leave the generators as they were, so that timing a transform changes no training run."""
    torch = imported("torch")
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002  the user's
    torch_state = None if torch is None else torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(torch_state)
