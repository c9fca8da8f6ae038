"""The loader that `accelerate` returns: ours inside, batches in the form the DataLoader gave them.

`AcceleratedLoader` holds a `Loader` that does the work, and has the same methods. It differs in
what it makes of a batch (tuples, dictionaries, Pillow images, targets as the Dataset has them),
and in the order of samples where that comes from a sampler of the user's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock.errors import LoaderError
from penstock.loading.coming import ComingBatches, ComingSamples
from penstock.loading.failures import Ledger
from penstock.loading.loader import CANNOT_BE_COPIED, HAS_NO_SAMPLES, Loader
from penstock.loading.past_batch import PastBatch
from penstock.loading.selection import Listed
from penstock.planner.explain import Explanation
from penstock.planner.plan import Plan
from penstock.sources import Source
from penstock.translation.dataloader import Batching, Collate, Ordering
from penstock.translation.datasets.contents import IMAGE, LABEL, DatasetContents, Nesting
from penstock.translation.transforms.identify import TORCH_DATA, imported
from penstock.translation.transforms.lines import Translation
from penstock.translation.transforms.pipeline import Pipeline, Stage

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that was read from a DataLoader."""

    contents: DatasetContents
    batching: Batching
    ordering: Ordering
    pipeline: Pipeline
    transform: Any  # the whole pipeline


def _asked_of_loader(name: str) -> Any:
    """A property that the Loader within has."""
    return property(lambda self: getattr(self._loader, name), doc=getattr(Loader, name).__doc__)


class AcceleratedLoader:
    """A loader made from a DataLoader; `translation` says how. Made by `accelerate`."""

    source: Source = _asked_of_loader("source")
    classes: tuple[str, ...] | None = _asked_of_loader("classes")
    plan: Plan = _asked_of_loader("plan")
    batch_size: int = _asked_of_loader("batch_size")
    threads: int = _asked_of_loader("threads")
    prefetch: int = _asked_of_loader("prefetch")
    ledger: Ledger = _asked_of_loader("ledger")
    epoch: int = _asked_of_loader("epoch")
    dataset: Source = _asked_of_loader("dataset")
    sampler: ComingSamples = _asked_of_loader("sampler")
    batch_sampler: ComingBatches = _asked_of_loader("batch_sampler")
    drop_last: bool = _asked_of_loader("drop_last")
    num_workers: int = _asked_of_loader("num_workers")
    persistent_workers: bool = _asked_of_loader("persistent_workers")
    prefetch_factor: int = _asked_of_loader("prefetch_factor")
    collate_fn: None = _asked_of_loader("collate_fn")
    generator: None = _asked_of_loader("generator")
    pin_memory: bool = _asked_of_loader("pin_memory")

    def __init__(
        self, parts: Parts, translation: Translation, *, seed: int, threads: int | None
    ) -> None:
        batching, ordering, pipeline = parts.batching, parts.ordering, parts.pipeline
        contents, as_pillow = parts.contents, pipeline.stage == Stage.PILLOW
        if not batching.collate.stacks or contents.target_form is not None:
            contents = contents.unstacked()
        self._loader = Loader(
            contents.source(),
            targets=contents.targets,
            batch_size=batching.batch_size,
            drop_last=batching.drop_last,
            transform=parts.transform,
            shuffle=ordering.shuffle,
            seed=seed,
            threads=threads,
            output="numpy" if as_pillow else "torch",
            layout="hwc" if as_pillow else pipeline.layout,
            rank=ordering.rank,
            world_size=ordering.world_size,
            weights=ordering.weights,
            replacement=ordering.replacement,
            samples_per_epoch=ordering.samples_per_epoch,
        )
        self._form = BatchForm(contents, batching.collate, as_pillow, pipeline.is_gray)
        self._translation = translation
        self._drop_last = batching.drop_last
        self._sampler = sampler = ordering.sampler
        if sampler is not None:
            available = len(self._loader.source)
            self._loader.follow_order(lambda _: _ask_sampler(sampler, available))

    @property
    def order_is_ours(self) -> bool:
        """Whether `sampler` lists what will come; asking somebody else's may change its order."""
        return self._sampler is None

    @property
    def translation(self) -> Translation:
        """What became of each part of the DataLoader."""
        return self._translation

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration run `epoch` from its start."""
        self._loader.set_epoch(epoch)

    def __len__(self) -> int:
        """Batches in a whole epoch."""
        if self._sampler is None:
            return len(self._loader)
        samples, size = len(self._sampler), self.batch_size
        return samples // size if self._drop_last else -(-samples // size)

    def __iter__(self) -> Iterator[Any]:
        return FormedBatches(self._loader.iteration(), self._form)

    def batch_at(
        self, epoch: int, step: int, *, rank: int | None = None, world_size: int | None = None
    ) -> PastBatch:
        """Make a batch again, as `Loader.batch_at`; not where a sampler of yours orders samples."""
        past = self._loader.batch_at(epoch, step, rank=rank, world_size=world_size)
        return past if past.batch is None else replace(past, batch=self._form(past.batch))

    def state_dict(self) -> dict[str, int]:
        """Where the loader stands: after the batches delivered so far, in a few integers."""
        return self._loader.state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go on from a `state_dict`; in the middle of an epoch only if the order is ours."""
        if self._sampler is not None and state.get("consumed"):
            raise LoaderError(
                f"Loader.load_state_dict: {state['consumed']:,} samples of epoch "
                f"{state.get('epoch')} were consumed, but their order is that of your "
                f"{type(self._sampler).__name__}, which cannot be repeated. Save at the end of an "
                "epoch, or use shuffle=True."
            )
        self._loader.load_state_dict(state)

    def replica(self, **changes: Any) -> AcceleratedLoader:
        """Return a loader over the same data from its first epoch on, as `Loader.replica`."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._loader = self._loader.replica(**changes)
        return other

    def describe_sampling(self) -> str:
        """Return what an epoch has of the data set, or who decides that."""
        if self._sampler is not None:
            return f"what your {type(self._sampler).__name__} yields"
        return self._loader.describe_sampling()

    def explain(self) -> Explanation:
        """Return what is done to images as written and as planned; see `Loader.explain`."""
        return self._loader.explain()

    def close(self) -> None:
        """Stop the loader's threads now; iterating again starts new ones."""
        self._loader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, index: Any) -> NoReturn:
        """Refuse to be used as a torch Dataset."""
        raise LoaderError(HAS_NO_SAMPLES)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise LoaderError(CANNOT_BE_COPIED)

    def __repr__(self) -> str:
        return repr(self._loader)


@dataclass(eq=False)
class FormedBatches(Iterator[Any]):
    """The batches of one epoch, each put into its form when it is asked for."""

    batches: Iterator[Any]
    form: BatchForm

    def __next__(self) -> Any:
        return self.form(next(self.batches))


@dataclass(frozen=True, slots=True)
class BatchForm:
    """Puts the images and labels of our loader into the form that the DataLoader gave."""

    contents: DatasetContents
    collate: Collate
    as_pillow: bool
    is_gray: bool

    def __call__(self, delivered: tuple[Any, Any]) -> Any:
        """Return the batch in its form."""
        images, labels = delivered
        if self.as_pillow:
            images = [_pillow_image(pixels, is_gray=self.is_gray) for pixels in images]
        elif self.is_gray:
            images = _first_channel(images)
        form, positions = self.contents.target_form, self.contents.labels
        if form is not None:
            labels = [
                form.build(int(positions[target.pop("image_id")]), target) for target in labels
            ]
        if self.collate == Collate.FAST:
            return images, labels
        if self.collate == Collate.DEFAULT:
            if form is not None:
                images, labels = _collated(images), _collated(labels)
            return _fill(self.contents.nesting, {IMAGE: images, LABEL: labels})
        parts = {IMAGE: tuple(images), LABEL: tuple(labels)}
        zipped = [parts[str(part)] for part in self.contents.nesting]
        return tuple(zipped) if self.collate == Collate.TUPLE else zipped


def _ask_sampler(sampler: Any, available: int) -> Listed:
    """The order of one epoch: all that the user's sampler yields now."""
    name, said = type(sampler).__name__, len(sampler)
    listed = [int(index) for index in islice(sampler, said + 1)]
    if len(listed) != said:
        more = "more" if len(listed) > said else f"{len(listed):,}"
        raise LoaderError(f"{name}: its length is {said:,}, but it yields {more} samples.")
    samples = np.array(listed, dtype=np.int64)
    outside = (samples < 0) | (samples >= available)
    if outside.any():
        raise LoaderError(
            f"{name}: it asks for sample {samples[outside][0]}; they count from 0 to "
            f"{available - 1:,}."
        )
    return Listed(samples)


def _first_channel(images: Any) -> Any:
    """Return the first channel only; images of different sizes come as a list."""
    if isinstance(images, list):
        return [image[:1].contiguous() for image in images]
    return images[:, :1].contiguous()


def _pillow_image(pixels: npt.NDArray[np.uint8], *, is_gray: bool) -> PIL.Image.Image:
    return PIL.Image.fromarray(np.ascontiguousarray(pixels[:, :, 0]) if is_gray else pixels)


def _collated(parts: Any) -> Any:
    """What torch's default_collate makes of parts that are not one tensor yet, or its error."""
    return imported(TORCH_DATA).default_collate(parts) if isinstance(parts, list) else parts


def _fill(nesting: Nesting, parts: dict[str, Any]) -> Any:
    """Batches of the parts of a sample, side by side as torch's default_collate has them."""
    if isinstance(nesting, str):
        return parts[nesting]
    if isinstance(nesting, dict):
        return {name: _fill(inner, parts) for name, inner in nesting.items()}
    return [_fill(inner, parts) for inner in nesting]
