"""The trainings of the learning experiment: which there are, and how each gets its batches."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

from penstock.analysis.machine import describe_environment
from penstock.demo.shape_sets import RECIPE, make_shape_set
from penstock.errors import AnalysisError
from penstock.experiments.experiment import Experiment, Task, UnavailableError
from penstock.experiments.learning.batches import (
    RELAXED_RULES,
    Epochs,
    Lesson,
    epochs_of,
    no_augmentation,
    penstock_loader,
    test_batches,
    torchvision_epochs,
    torchvision_epochs_drawn_here,
)
from penstock.experiments.learning.findings import CURVES, NAME, VARIANTS, draw
from penstock.experiments.learning.training import train
from penstock.packing.pack import pack
from penstock.user_cache import needed_cache_folder

# The batches of each epoch, and the names of the rules that changed pixels in them.
Opened = AbstractContextManager[tuple[Epochs, list[str]]]


@dataclass(frozen=True, slots=True)
class Settings:
    """All that decides what is measured."""

    train_images: int = 300
    test_images: int = 1000
    image_px: int = 320  # of the files: large enough that other orders of work pay
    side_px: int = 32  # of what the model sees
    batch_size: int = 32
    epochs: int = 40
    curve_epochs: int = 40
    seeds: int = 5
    data_recipe: int = RECIPE

    @property
    def steps(self) -> int:
        """Batches in an epoch; the last, shorter one is left out."""
        return self.train_images // self.batch_size


QUICK = Settings(epochs=15, curve_epochs=4, seeds=2)


def make_experiment(settings: Settings) -> Experiment:
    """Return the experiment, ready to run."""
    return Experiment(
        NAME,
        asdict(settings),
        describe_environment(),
        lambda: _tasks(settings),
        draw,
        takes_times=False,
    )


def _tasks(settings: Settings) -> list[Task]:
    """The curves, then the variants seed by seed."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise AnalysisError(
            f"experiment {NAME}: it trains a model, which needs torch ({error}). "
            "Install torch and torchvision."
        ) from error
    folder = _data(settings)
    tests = cache(lambda: test_batches(Lesson(folder, settings.side_px, settings.batch_size, 0)))

    def measured(opened: Opened, epochs: int, seed: int) -> dict[str, Any]:
        with opened as (batches, rules):
            learned = train(epochs, batches, settings.steps, tests(), seed)
        return {**asdict(learned), "rules": rules}

    def of_curve(name: str) -> dict[str, Any]:
        lesson = Lesson(folder, settings.side_px, settings.batch_size, seed=0)
        return measured(_CURVES[name](lesson), settings.curve_epochs, seed=0)

    def of_variant(name: str, seed: int) -> dict[str, Any]:
        lesson = Lesson(folder, settings.side_px, settings.batch_size, seed)
        found = measured(_VARIANTS[name](lesson), settings.epochs, seed)
        losses, steps = found.pop("losses"), settings.steps
        means = [fmean(losses[at : at + steps]) for at in range(0, len(losses), steps)]
        return {**found, "epoch_losses": means}

    return [
        Task(f"curve/{name}", f"losses: {title}", partial(of_curve, name))
        for name, title in CURVES.items()
    ] + [
        Task(
            f"seed/{seed}/{name}",
            f"seed {seed}: {title}",
            partial(of_variant, name, seed),
        )
        for seed in range(settings.seeds)
        for name, title in VARIANTS.items()
    ]


def _data(settings: Settings) -> Path:
    train_images, test_images = settings.train_images, settings.test_images
    images = f"{train_images}-{test_images}-of-{settings.image_px}"
    folder = needed_cache_folder() / "shape-sets" / f"{images}-recipe-{settings.data_recipe}"
    return make_shape_set(folder, train=train_images, test=test_images, side_px=settings.image_px)


@contextmanager
def _ours(
    lesson: Lesson, data: Path | None = None, **options: Any
) -> Iterator[tuple[Epochs, list[str]]]:
    loader = penstock_loader(lesson, data, **options)
    try:
        rules = [rule.name for rule in loader.explain().rules if rule.fidelity != "exact"]
        yield epochs_of(loader), rules
    finally:
        loader.close()


@contextmanager
def _ours_packed(lesson: Lesson) -> Iterator[tuple[Epochs, list[str]]]:
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "train.pen"
        pack(lesson.train, packed, progress=False)
        with _ours(lesson, packed) as opened:
            yield opened


@contextmanager
def _theirs(
    lesson: Lesson, epochs: Callable[[Lesson], Epochs]
) -> Iterator[tuple[Epochs, list[str]]]:
    try:
        batches = epochs(lesson)
    except ImportError as error:
        raise UnavailableError(f"torchvision cannot be imported: {error}") from error
    yield batches, []


_CURVES: dict[str, Callable[[Lesson], Opened]] = {
    "torchvision": lambda lesson: _theirs(lesson, torchvision_epochs_drawn_here),
    "folder": _ours,
    "packed": _ours_packed,
    "fast": lambda lesson: _ours(lesson, fidelity="fast"),
}
_VARIANTS: dict[str, Callable[[Lesson], Opened]] = {
    "torchvision": lambda lesson: _theirs(lesson, torchvision_epochs),
    "exact": _ours,
    "fast": lambda lesson: _ours(lesson, fidelity="fast"),
    "relaxed": lambda lesson: _ours(lesson, fidelity="fast", allow=RELAXED_RULES),
    "none": lambda lesson: _ours(lesson, transform=no_augmentation(lesson.side_px)),
}
