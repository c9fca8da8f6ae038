"""A batch under way: its slots are filled part by part, then it is delivered as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import BatchBuffer, BatchRing, Element
from penstock.errors import LoaderError
from penstock.geometry import Ints, Size, Sizes
from penstock.loading.options import OutputOptions
from penstock.loading.stretch import Stretch
from penstock.loading.to_torch import PinnedMemory, TorchMemory
from penstock.transforms.targets import Targets

# NumPy lacks bfloat16; its bits travel as int16, which torch can view for what they are.
_ARRAY_DTYPE = {
    Element.UINT8: "uint8",
    Element.FLOAT16: "float16",
    Element.BFLOAT16: "int16",
    Element.FLOAT32: "float32",
}


_ALIGNMENT = 64  # of images of different sizes, in bytes
_WAIT_S = 0.25  # how often a waiting thread looks whether the loader was closed


# Enough samples to spread the cost of drawing and lowering, few enough that the files of some
# parts in flight stay far below the memory of a batch.
PART_SIZE = 64
# Of images that are known to be small, a part has more: to draw and to lower takes longer than they
# do. As many as have these bytes together, but no more than this.
_PART_BYTES = 1 << 20
_MOST_IN_PART = 512


def part_size_for(image_bytes: float) -> int:
    """How many images a part has at most, where they are stored in so many bytes each."""
    return max(PART_SIZE, min(_MOST_IN_PART, int(_PART_BYTES / max(image_bytes, 1))))


def parts_of(images: int, part_size: int = PART_SIZE) -> int:
    """How many parts a batch of so many images has."""
    return -(-images // part_size)


def images_in_part(batch_size: int, part_size: int) -> float:
    """How many images of a batch are in a part of it, on average."""
    return batch_size / parts_of(batch_size, part_size)


def _lender(output: OutputOptions) -> TorchMemory | None:
    """Who allocates the memory of batches, where that is not ourselves."""
    if output.library != "torch":
        return None
    if output.lender is not None:
        return output.lender()
    return PinnedMemory.where_wanted() if output.pins else None


class BatchMaker:
    """Makes the batches of one loader, and reuses their memory."""

    def __init__(self, output: OutputOptions, most_idle: int) -> None:
        self.output = output
        self.lender = _lender(output)
        # Views differ in size: each has its own ring, where any buffer fits.
        self._rings = [BatchRing(most_idle) for _ in range(max(output.views, 1))]
        self._mask_ring = BatchRing(most_idle)

    def image_bytes(self, size: Size) -> int:
        """Return how many bytes one image takes."""
        element_bytes = np.dtype(_ARRAY_DTYPE[self.output.element]).itemsize
        return size.height * size.width * 3 * element_bytes

    def memory(self, size_bytes: int, view: int) -> BatchBuffer:
        """Take memory: page-locked where there is a CUDA device, else from our own rings."""
        lent = None if self.lender is None else self.lender.take(size_bytes)
        return self._rings[view].take(size_bytes) if lent is None else BatchBuffer.borrow(lent)

    def label_maps(self, count: int, size: Size) -> npt.NDArray[np.int64]:
        """Take memory for as many masks of whole images."""
        size_bytes = count * size.height * size.width * 8
        stored = np.asarray(self._mask_ring.take(size_bytes).array([size_bytes], "uint8"))
        return stored.view(np.int64).reshape(count, size.height, size.width)

    def array_over(self, buffer: BatchBuffer, count: int, size: Size) -> npt.NDArray[Any]:
        """Return the images in `buffer` in the loader's layout."""
        return np.asarray(
            buffer.array([count, *self._shape(size)], _ARRAY_DTYPE[self.output.element])
        )

    def image_at(self, buffer: BatchBuffer, offset: int, size: Size) -> npt.NDArray[Any]:
        """Return the image that lies `offset` bytes into `buffer`."""
        end = offset + self.image_bytes(size)
        stored = np.asarray(buffer.array([end], "uint8"))[offset:end]
        return stored.view(_ARRAY_DTYPE[self.output.element]).reshape(self._shape(size))

    def _shape(self, size: Size) -> tuple[int, int, int]:
        if self.output.layout == "hwc":
            return size.height, size.width, 3
        return 3, size.height, size.width

    def close(self) -> None:
        """Let go of memory that nobody uses any more."""
        BatchBuffer.release_borrowed()


@dataclass(frozen=True, slots=True)
class Place:
    """Memory for the images of a part: each begins at its byte offset."""

    buffer: BatchBuffer
    offsets: Ints


@dataclass(frozen=True, slots=True)
class _Shared:
    """Memory for a whole batch of images of one size."""

    size: Size
    buffer: BatchBuffer
    sample: int  # the one that set the size, for the error if another differs


class Images:
    """The images of a batch, or one view of each, and their memory."""

    def __init__(
        self, maker: BatchMaker, batch_number: int, slots: int, view: int, *, one_size: bool
    ) -> None:
        self._maker = maker
        self._batch_number = batch_number
        self._slots = slots
        self._view = view
        self._one_size = one_size  # whether images of different sizes are an error
        self._shared: _Shared | None = None
        self._apart: dict[int, npt.NDArray[Any]] = {}  # images of other sizes, by slot
        self._lock = threading.Lock()

    def place(self, sizes: Sizes, slots: npt.NDArray[np.int32], samples: Ints) -> Place:
        """Return memory for these slots' images: the batch's own if they are all of one size.

        `samples` are those in the batch's slots.
        """
        shared = self._share(sizes, slots, samples)
        if shared is not None:
            odd = (sizes.height != shared.size.height) | (sizes.width != shared.size.width)
            if not odd.any():
                return Place(
                    shared.buffer, slots.astype(np.int64) * self._maker.image_bytes(shared.size)
                )
            if self._one_size:
                other = int(np.flatnonzero(odd)[0])
                view = f"view {self._view + 1} of " if self._maker.output.views else ""
                raise LoaderError(
                    f"Batch {self._batch_number}: {view}sample {shared.sample} is {shared.size} "
                    f"after the transforms, {view}sample {int(samples[slots[other]])} is "
                    f"{sizes[other]}; a batch needs one size. End the transforms with "
                    "Resize((height, width)), RandomResizedCrop or CenterCrop; or with "
                    "ResizeToBucket and sampling=BucketBatches(...)."
                )
        return self._place_apart(sizes, slots)

    def image(self, slot: int) -> npt.NDArray[Any]:
        """Return the memory of one image that has a place."""
        if slot in self._apart:
            return self._apart[slot]
        image: npt.NDArray[Any] = self.all()[slot]
        return image

    def all(self) -> npt.NDArray[Any]:
        """Return all slots, whose images must have one size."""
        if self._shared is None:
            raise LoaderError(f"Batch {self._batch_number}: no image has been placed yet.")
        return self._maker.array_over(self._shared.buffer, self._slots, self._shared.size)

    def take(self, good: list[int]) -> npt.NDArray[Any] | list[npt.NDArray[Any]]:
        """Hand over the images in these slots: one array, or a list if their sizes differ."""
        taken: npt.NDArray[Any] | list[npt.NDArray[Any]]
        if self._apart and any(slot in self._apart for slot in good):
            taken = [self.image(slot) for slot in good]
        else:
            images = self.all()
            taken = images if len(good) == len(images) else images[good]
        self._shared, self._apart = None, {}
        return taken

    def _share(self, sizes: Sizes, slots: npt.NDArray[np.int32], samples: Ints) -> _Shared | None:
        """The memory for all slots; made for the first images, if those agree on a size."""
        with self._lock:
            if self._shared is None:
                size = sizes[0]
                agree = (sizes.height == size.height) & (sizes.width == size.width)
                if self._one_size or agree.all():
                    whole = self._slots * self._maker.image_bytes(size)
                    memory = self._maker.memory(whole, self._view)
                    self._shared = _Shared(size, memory, int(samples[slots[0]]))
            return self._shared

    def _place_apart(self, sizes: Sizes, slots: npt.NDArray[np.int32]) -> Place:
        each = [self._maker.image_bytes(sizes[row]) for row in range(len(sizes))]
        ends = np.cumsum([-(-size // _ALIGNMENT) * _ALIGNMENT for size in each])
        offsets = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        buffer = self._maker.memory(int(ends[-1]), self._view)
        for row, slot in enumerate(slots.tolist()):
            image = self._maker.image_at(buffer, int(offsets[row]), sizes[row])
            self._apart[slot] = image
        return Place(buffer, offsets)


class Batch:
    """One batch: its samples, memory for their images, which ones are good, and their targets."""

    def __init__(
        self,
        maker: BatchMaker,
        number: int,
        keys: Ints,
        samples: Ints | None = None,
        *,
        one_size: bool = True,
    ) -> None:
        self.number = number
        self._turn: threading.Event | None = None  # set when a batch that was held may go on
        self._crowded: Callable[[], bool] = bool
        self._unwanted = False
        self.keys = keys  # of the random draws
        # The samples that are really used: a substitute takes the place of a bad sample.
        self.samples = (keys if samples is None else samples).copy()
        self.output = maker.output
        self.lender = maker.lender
        self._good = np.ones(len(keys), dtype=np.bool_)
        self.soft_labels: npt.NDArray[np.float32] | None = None  # of the good slots, once mixed
        self._done = 0  # slots
        self._maker = maker
        # Of the images in their files, once they are known.
        self.sizes = Sizes(np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64))
        self._targets: list[tuple[npt.NDArray[np.int32], Targets]] = []
        self._masks: dict[int, npt.NDArray[np.uint8]] = {}  # by slot
        self._label_maps: npt.NDArray[np.int64] | None = None  # those of the first one's size
        self._label_maps_apart: dict[int, npt.NDArray[np.int64]] = {}  # the others, by slot
        self._lock = threading.Lock()
        # Only with targets may sizes differ, and views have none.
        self._images = [
            Images(maker, number, len(keys), view, one_size=one_size)
            for view in range(max(self.output.views, 1))
        ]

    def hold(self, crowded: Callable[[], bool]) -> None:
        """Let it be read, but not take memory for its images before its turn.

        Unless it is `crowded`: others, whose turn it may be, wait for a thread.
        """
        self._turn, self._crowded = threading.Event(), crowded

    def give_turn(self) -> None:
        """Let a batch that is held go on."""
        if self._turn is not None:
            self._turn.set()

    def drop(self) -> None:
        """Say that nobody wants it any more."""
        self._unwanted = True
        self.give_turn()

    def await_turn(self, check: Callable[[], None]) -> None:
        """Wait until it may go on; calls `check` now and then, which may raise."""
        while self._turn is not None and not self._turn.wait(_WAIT_S):
            check()
            if self._crowded():
                break
        if self._unwanted:
            raise LoaderError(f"Batch {self.number}: its iterator was closed.")

    def place(self, sizes: Sizes, slots: npt.NDArray[np.int32], view: int = 0) -> Place:
        """Return memory for these slots' images, or for one view of them."""
        return self._images[view].place(sizes, slots, self.samples)

    def note_sizes(self, slots: npt.NDArray[np.int32], sizes: Sizes) -> None:
        """Keep the sizes that the images in these slots have in their files."""
        self.sizes.height[slots], self.sizes.width[slots] = sizes.height, sizes.width

    def put_targets(
        self,
        slots: npt.NDArray[np.int32],
        targets: Targets,
        masks: list[npt.NDArray[np.uint8]] | None,
    ) -> None:
        """Keep the targets of the samples in these slots, as they are after the transforms."""
        with self._lock:
            self._targets.append((slots, targets))
            self._masks.update(zip(slots.tolist(), masks or (), strict=masks is not None))

    def put_label_maps(
        self, slots: npt.NDArray[np.int32], maps: list[npt.NDArray[np.uint8 | np.uint16]]
    ) -> None:
        """Keep the masks of the whole images in these slots."""
        with self._lock:
            if self._label_maps is None:
                size = Size(*maps[0].shape)
                self._label_maps = self._maker.label_maps(len(self.keys), size)
        for slot, one in zip(slots.tolist(), maps, strict=True):
            if one.shape == self._label_maps.shape[1:]:
                self._label_maps[slot] = one
            else:
                self._label_maps_apart[slot] = one.astype(np.int64)

    def image(self, slot: int, view: int = 0) -> npt.NDArray[Any]:
        """Return the memory of one image that has a place, for those who fill it from Python."""
        return self._images[view].image(slot)

    def all_images(self) -> npt.NDArray[Any]:
        """Return all slots of a batch whose images have one size, for those who change them."""
        return self._images[0].all()

    def note_done(self, slots: int) -> bool:
        """Count slots that were dealt with; True if these complete the batch."""
        with self._lock:
            self._done += slots
            return self._done == len(self.keys)

    def leave_out(self, slots: npt.NDArray[np.int32]) -> None:
        """Mark slots that will not be delivered."""
        self._good[slots] = False

    @property
    def good(self) -> Ints:
        """The slots that are delivered."""
        return np.flatnonzero(self._good)

    def take_images(self) -> npt.NDArray[Any] | list[npt.NDArray[Any]]:
        """Hand over the good images: one array, or a list if their sizes differ.

        With views, a list of what is handed over of each, which has one size.
        """
        taken = [images.take(self.good.tolist()) for images in self._images]
        return list[Any](taken) if self.output.views else taken[0]

    def targets(self) -> Targets | None:
        """Return the targets of the good samples, in their order; None if there are none."""
        if not self._targets:
            return None
        slots = np.concatenate([slots for slots, _ in self._targets])
        targets = Targets.join([targets for _, targets in self._targets])
        order = np.empty(len(self.keys), dtype=np.int64)
        order[slots] = np.arange(len(slots))
        return targets.pick(order[self.good])

    def take_targets(self) -> Targets:
        """Hand the same over."""
        targets = self.targets()
        if targets is None:
            raise LoaderError(f"Batch {self.number}: no targets have been put into it yet.")
        self._targets = []
        return targets

    def take_masks(self) -> list[npt.NDArray[np.uint8]] | None:
        """Hand over the masks of the good samples, if there are any in the data set."""
        masks = [self._masks[slot] for slot in self.good.tolist()] if self._masks else None
        self._masks = {}
        return masks

    @property
    def has_label_maps(self) -> bool:
        """Whether masks of whole images have been put into it."""
        return self._label_maps is not None

    def take_label_maps(self) -> npt.NDArray[np.int64] | list[npt.NDArray[np.int64]]:
        """Hand over the good images' masks: one array, or a list if their sizes differ."""
        good, shared, apart = self.good.tolist(), self._label_maps, self._label_maps_apart
        self._label_maps, self._label_maps_apart = None, {}
        if shared is None:
            raise LoaderError(f"Batch {self.number}: no mask has been placed yet.")
        if any(slot in apart for slot in good):
            return [apart[slot] if slot in apart else shared[slot] for slot in good]
        return shared if len(good) == len(shared) else shared[good]


@dataclass(frozen=True, slots=True)
class Part:
    """Some samples of a batch, which are read and transformed together."""

    batch: Batch
    seed: int  # of their random draws, with the epoch
    epoch: int
    slots: npt.NDArray[np.int32]  # their places in the batch
    keys: Ints  # of their random draws: the samples that the epoch's order has here
    samples: Ints  # those that are read: the same, unless one replaces another
    rank: int  # order of parts: lower goes first
    attempt: int = 0
    stretch: Stretch | None = None  # with these samples among others, made ready together
    first: int = 0  # place of the first of them in it

    def pick(self, items: npt.NDArray[Any]) -> Part:
        """Return the part that consists of these items only."""
        return Part(
            self.batch,
            self.seed,
            self.epoch,
            self.slots[items],
            self.keys[items],
            self.samples[items],
            self.rank,
            self.attempt,
        )


def cut_into_parts(
    batch: Batch,
    seed: int,
    epoch: int,
    ranks: Iterator[int],
    part_size: int,
    stretch: Stretch | None = None,
    first: int = 0,
) -> Iterator[Part]:
    """Cut a batch into parts, which take their ranks from `ranks`.

    Its samples may be a piece of a `stretch`, from the place `first` on.
    """
    slots = np.arange(len(batch.keys), dtype=np.int32)
    parts = parts_of(len(slots), part_size)
    for number in range(parts):
        begin, end = len(slots) * number // parts, len(slots) * (number + 1) // parts
        some = slice(begin, end)
        # A copy: a substitute is written into the batch's list, not into the part's.
        keys, samples = batch.keys[some], batch.samples[some].copy()
        own = first + begin
        yield Part(
            batch, seed, epoch, slots[some], keys, samples, next(ranks), stretch=stretch, first=own
        )
