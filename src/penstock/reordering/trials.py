"""Runs a list of transforms in several orders, on the same images and with the same draws.

Ops of torchvision draw from torch's one generator, in the order in which they run. To compare
orders, the generators are set before each call, to a number that depends on the image and the op
only: so an op draws the same wherever it stands.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from PIL import Image

from penstock.costs.clocks import StageClock
from penstock.costs.ops import Arguments
from penstock.errors import TransformError
from penstock.reordering.inputs import Inputs, first_image, fresh, size_of
from penstock.reordering.pairs import Images
from penstock.reordering.steps import Step
from penstock.results.records import Rate
from penstock.translation.transforms.identify import imported
from penstock.translation.transforms.pipeline import random_numbers_kept
from penstock.usable_cores import library_threads

_LOOKED_AT = 6  # images that tell the sizes at each place, and how far results differ
_ROUNDS, _MOST_ROUNDS = 5, 15
_FEWEST_IMAGES = 3
_WORTH_HAVING = 1.03  # times as fast

Order = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """How far results are apart, in levels of 0 to 255."""

    mean: float
    most: float

    def __str__(self) -> str:
        """Return the figures in words."""
        return f"mean {self.mean:.2f}, most {self.most:.0f} levels"


@dataclass(frozen=True, slots=True)
class Times:
    """What an order took per image: of each op by its number, and of each round together."""

    steps_ms: dict[int, float]
    rounds_ms: tuple[float, ...]
    images: int  # in each round

    @property
    def ms(self) -> float:
        """The median over the rounds."""
        return median(self.rounds_ms)

    def speed_up(self, other: Times) -> Rate:
        """Return how many times as fast another order is, compared round by round."""
        both = zip(self.rounds_ms, other.rounds_ms, strict=True)
        return Rate.of(*(mine / max(theirs, 1e-9) for mine, theirs in both))


def is_worth_having(speed_up: Rate) -> bool:
    """Whether a gain is more than the rounds differ among themselves, and not tiny."""
    return speed_up.median >= _WORTH_HAVING and speed_up.least > 1.0


@dataclass(slots=True)
class Trials:
    """The images on which orders are tried, and what was met at each place of each order."""

    inputs: Inputs
    clock: Callable[[], StageClock] = StageClock
    _met: dict[Order, tuple[Images, ...] | None] = field(default_factory=dict)

    def images(self, order: Order) -> tuple[Images, ...] | None:
        """Return the images before each op and after the last; None if an op refuses its input."""
        if order not in self._met:
            try:
                self._met[order] = self._look(order)
            except Exception:  # noqa: BLE001 (whatever an op raises on what it is not made for)
                self._met[order] = None
        return self._met[order]

    def difference(self, order: Order, place: int) -> Difference:
        """Return what it changes if the ops at `place` and behind it change places."""
        first, second = order[place : place + 2]
        apart: list[np.ndarray[Any, Any]] = []
        with random_numbers_kept(), library_threads(1):
            for number, given in enumerate(self.inputs.fresh(_LOOKED_AT)):
                *_, until = given, *run(order[:place], given, 0, number)
                results = []
                for pair in ((first, second), (second, first)):
                    *_, result = run(pair, fresh(until), 0, number)
                    results.append(levels(result.image))
                apart.append(np.abs(results[0] - results[1]))
        return Difference(
            float(np.mean([one.mean() for one in apart])), float(max(one.max() for one in apart))
        )

    def race(self, orders: Sequence[Order], seconds: float) -> list[Times]:
        """Time all orders in turn, round by round, on one core, for about `seconds`."""
        with random_numbers_kept(), library_threads(1):
            began_s = perf_counter()
            self._pass(orders[0], 0, _FEWEST_IMAGES)  # also warms up
            image_s = (perf_counter() - began_s) / _FEWEST_IMAGES
            fitting = int(seconds / (_ROUNDS * len(orders) * max(image_s, 1e-9)))
            images = min(len(self.inputs.arguments), max(_FEWEST_IMAGES, fitting))
            until_s = perf_counter() + seconds
            rounds: list[list[dict[int, float]]] = [[] for _ in orders]
            for number in range(_MOST_ROUNDS):
                if number >= _ROUNDS and perf_counter() > until_s:
                    break
                for turn in range(len(orders)):
                    which = (turn + number) % len(orders)
                    rounds[which].append(self._pass(orders[which], number, images))
        return [_times(passes, images) for passes in rounds]

    def _look(self, order: Order) -> tuple[Images, ...]:
        met: list[list[Any]] = [[] for _ in range(len(order) + 1)]
        with random_numbers_kept(), library_threads(1):
            for number, given in enumerate(self.inputs.fresh(_LOOKED_AT)):
                for place, now in enumerate((given, *run(order, given, 0, number))):
                    met[place].append(now.image)
        return tuple(map(_describe, met))

    def _pass(self, order: Order, number: int, images: int) -> dict[int, float]:
        """Return milliseconds per image of each op, by its number in the user's list."""
        clock = self.clock()
        count = 0
        for sample, given in enumerate(self.inputs.fresh(images)):
            count += 1
            for _ in run(order, given, number, sample, clock.stage):
                pass
        clock.close()
        return {int(name): spent.used_s * 1e3 / count for name, spent in clock.spent.items()}


def _times(passes: Sequence[dict[int, float]], images: int) -> Times:
    steps = {number: median(one[number] for one in passes) for number in passes[0]}
    return Times(steps, tuple(sum(one.values()) for one in passes), images)


def run(
    order: Sequence[Step],
    given: Arguments,
    number: int,
    sample: int,
    timed: Callable[[str], AbstractContextManager[None]] = lambda _: nullcontext(),
) -> Iterator[Arguments]:
    """Yield what each op makes of what the op before it made, with draws of its own."""
    for step in order:
        draw_for(number, sample, step.number)
        call = given.bind(step.op)
        with timed(str(step.number)):
            returned = call()
        given = given.after(returned)
        yield given


def draw_for(*key: int) -> None:
    """Set all generators that an op may draw from."""
    number = zlib.crc32(repr(key).encode())
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002  the generator that users' ops draw from
    torch = imported("torch")
    if torch is not None:
        torch.default_generator.manual_seed(number)  # of the CPU alone


def _describe(images: Sequence[Any]) -> Images:
    sizes = [size_of(image) for image in images]
    if None in sizes:
        raise TransformError("explain: an op gives no image.")
    return Images(tuple(size for size in sizes if size), frozenset(map(kind_of, images)))


def kind_of(value: Any) -> str:
    """Return "Pillow" for such an image, or the type of a tensor's values."""
    image = first_image(value)
    if isinstance(image, Image.Image):
        return "Pillow"
    return str(image.dtype).removeprefix("torch.")


def levels(value: Any) -> np.ndarray[Any, Any]:
    """Return an image as numbers of 0 to 255, channels first, whatever it is."""
    image = first_image(value)
    if isinstance(image, Image.Image):
        pixels = np.asarray(image, np.float64)
        return np.moveaxis(pixels, -1, 0) if pixels.ndim == 3 else pixels[None]
    scale = 255.0 if image.is_floating_point() else 1.0
    return np.asarray(image.detach().double().numpy() * scale)
