"""Images as they enter a list of transforms: of a DataLoader, a Dataset, or files.

They are caught on their way: samples of the data set are fetched, and whatever the first op of the
list is called with is kept. So they are as the Dataset makes them, with their targets.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from PIL import Image

from penstock.costs.clocks import StageClock
from penstock.costs.dataset_costs import fetch
from penstock.costs.ops import (
    Arguments,
    StandIn,
    is_pipeline,
    list_composes,
    replaced_ops,
    single_ops,
)
from penstock.errors import PenstockError, SourceError
from penstock.translation.transforms.identify import torchvision_generation

_MOST_PIXELS = 60_000_000  # of all images that are kept together
_LEAST_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class Inputs:
    """A composition, and what it is called with."""

    pipeline: Any
    arguments: tuple[Arguments, ...]
    what: str  # where they come from
    calls_per_sample: float = 1.0  # several views of an image take several calls
    sample_s: float | None = None  # seconds to fetch a sample, all transforms included
    others: int = 0  # further compositions of the data set, which are not looked at

    @property
    def has_targets(self) -> bool:
        """Whether the list is given more than an image."""
        return any(_has_more(arguments) for arguments in self.arguments)

    def fresh(self, most: int) -> Iterator[Arguments]:
        """Return copies of the first ones, since an op may write into what it is given."""
        return map(fresh, self.arguments[:most])


def is_image(value: Any) -> bool:
    """Whether `value` is an image of Pillow's or torch's."""
    is_tensor = type(value).__module__.startswith(("torch", "torchvision."))
    return isinstance(value, Image.Image) or (is_tensor and len(getattr(value, "shape", ())) >= 2)


def inputs_of_dataset(dataset: Any, samples: int, seconds: float) -> Inputs:
    """Fetch samples of a data set, and keep what its list of torchvision's transforms is given.

    Twice, once to time it, and for about `seconds` each.
    """
    found = [one for one in list_composes(dataset) if torchvision_generation(one) is not None]
    firsts = {id(one): next(iter(single_ops(one)), None) for one in found}
    # A composition inside another begins with an op of its own, or with that of the outer one.
    outer = [one for one in found if not any(_holds(other, one) for other in found)]
    caught: dict[int, list[Arguments]] = {id(one): [] for one in outer}
    by_op = {id(firsts[id(one)]): caught[id(one)] for one in outer}

    def catching(op: Any) -> Any:
        return _Catching(op, by_op[id(op)]) if id(op) in by_op else op

    fetched, until_s = 0, perf_counter() + seconds
    with replaced_ops(dataset, catching):
        for _ in fetch(dataset, samples):
            fetched += 1
            if _pixels(caught.values()) > _MOST_PIXELS or _is_over(fetched, until_s):
                break
    called = [one for one in outer if caught[id(one)]]
    name = type(dataset).__name__
    if not called:
        raise PenstockError(
            f"explain: {name} calls no Compose of torchvision that it holds in an attribute. Give "
            "the Compose itself, with images=..."
        )
    # Where there are several, such as one for images and one for masks, the longest matters most.
    chosen = max(called, key=lambda one: len(list(single_ops(one))))
    return Inputs(
        chosen,
        tuple(caught[id(chosen)][:samples]),
        name,
        len(caught[id(chosen)]) / max(1, fetched),
        _seconds_per_sample(dataset, fetched, seconds),
        len(called) - 1,
    )


def _seconds_per_sample(dataset: Any, samples: int, seconds: float) -> float:
    """Time samples that were fetched before, so that they are in memory: computing and sleep."""
    clock, until_s, fetched = StageClock(), perf_counter() + seconds, 0
    rows = fetch(dataset, samples)
    while not _is_over(fetched, until_s):
        with clock.stage("sample"):
            row = next(rows, None)
        if row is None:
            break
        fetched += 1
    clock.close()
    return clock.spent["sample"].used_s / max(1, fetched)


def _is_over(fetched: int, until_s: float) -> bool:
    return fetched >= _LEAST_SAMPLES and perf_counter() > until_s


def inputs_of_files(pipeline: Any, images: Any, samples: int) -> Inputs:
    """Open files, or take images as they are, for a composition that comes without a Dataset."""
    if images is None:
        raise PenstockError(
            "explain: a transform comes without images. Give some with images=: a folder, a list "
            "of files, or a list of Pillow images; or give the DataLoader."
        )
    given = list(_opened(images, samples))
    if not given:
        raise PenstockError("explain: images is empty. Give at least one image.")
    return Inputs(pipeline, tuple(Arguments((image,)) for image in given), "images")


def _opened(images: Any, samples: int) -> Iterator[Any]:
    if isinstance(images, (str, os.PathLike)):
        folder, suffixes = Path(images), Image.registered_extensions()
        images = sorted(one for one in folder.rglob("*") if one.suffix.lower() in suffixes)
        if not images:
            raise SourceError(f"explain: {folder} has no images. Give a folder or a list of them.")
    for image in list(images)[:samples]:
        yield image if is_image(image) else _open(image)


def _open(path: Any) -> Any:
    try:
        with Image.open(path) as opened:
            return opened.convert("RGB")
    except OSError as error:
        raise SourceError(f"explain: {path} cannot be read as an image: {error}") from error


class _Catching(StandIn):
    """Keeps a copy of what an op is called with."""

    def __init__(self, op: Any, caught: list[Arguments]) -> None:
        super().__init__(op)
        self._caught = caught

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Keep, then call."""
        self._caught.append(fresh(Arguments(positional, named)))
        return super().__call__(*positional, **named)


def _holds(outer: Any, inner: Any) -> bool:
    """Whether a composition is part of another one."""
    if outer is inner:
        return False
    return any(
        op is inner or (is_pipeline(op) and _holds(op, inner))
        for op in getattr(outer, "transforms", ())
    )


def fresh(given: Arguments) -> Arguments:
    """Return a copy that shares no memory."""
    named = {name: _copy(value) for name, value in given.named.items()}
    return Arguments(tuple(map(_copy, given.positional)), named)


def _copy(value: Any) -> Any:
    if isinstance(value, Image.Image):
        return value.copy()  # also reads the pixels of an image that was only opened
    return copy.deepcopy(value)


def _has_more(arguments: Arguments) -> bool:
    return len(arguments.positional) != 1 or not is_image(arguments.positional[0])


def _pixels(caught: Iterable[Sequence[Arguments]]) -> int:
    sizes = [size_of(given.image) for all_given in caught for given in all_given]
    return sum(size[0] * size[1] for size in sizes if size is not None)


def size_of(value: Any) -> tuple[int, int] | None:
    """Return height and width of an image, or of the first one in a tuple, list or dictionary."""
    image = first_image(value)
    if isinstance(image, Image.Image):
        return image.height, image.width
    return None if image is None else (int(image.shape[-2]), int(image.shape[-1]))


def first_image(value: Any) -> Any:
    """Return an image, or the first one in a tuple, list or dictionary; None if there is none."""
    if is_image(value):
        return value
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list, tuple)):
        return None
    return next((found for found in map(first_image, inner) if found is not None), None)
