"""A batch on its way: slots that are filled in any order, then handed over in one piece."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import BatchBuffer, BatchRing
from penstock.errors import LoaderError
from penstock.geometry import Ints, Size, Sizes
from penstock.loading.options import OutputOptions
from penstock.loading.to_torch import PageLocks, image_tensor, label_tensor
from penstock.sources import Labels
from penstock.transforms.values import Element

# NumPy lacks bfloat16; its bits travel as int16, which torch can view for what they are.
_ARRAY_DTYPE = {
    Element.UINT8: "uint8",
    Element.FLOAT16: "float16",
    Element.BFLOAT16: "int16",
    Element.FLOAT32: "float32",
}


class BatchMaker:
    """Makes batches of one loader: their memory goes round, their shape is the loader's."""

    def __init__(self, output: OutputOptions, most_idle: int) -> None:
        self.output = output
        self._locks = PageLocks() if output.library == "torch" else None
        pinned = self._locks is not None and self._locks.wanted
        # Page-locked memory must not be freed behind CUDA's back, so that ring keeps everything.
        self._ring = BatchRing(1 << 30 if pinned else most_idle)

    def memory_for(self, count: int, size: Size) -> BatchBuffer:
        """Take memory for `count` images."""
        element_bytes = np.dtype(_ARRAY_DTYPE[self.output.element]).itemsize
        buffer = self._ring.take(count * size.height * size.width * 3 * element_bytes)
        if buffer.fresh and self._locks is not None:
            self._locks.lock(buffer.address, buffer.capacity)
        return buffer

    def array_over(self, buffer: BatchBuffer, count: int, size: Size) -> npt.NDArray[Any]:
        """Return the images in `buffer` in the loader's layout."""
        shape = [count, 3, size.height, size.width]
        if self.output.layout == "hwc":
            shape = [count, size.height, size.width, 3]
        return np.asarray(buffer.array(shape, _ARRAY_DTYPE[self.output.element]))

    def close(self) -> None:
        """Give up page locks; memory still in use stays valid."""
        if self._locks is not None:
            self._locks.release()


@dataclass(slots=True)
class _Place:
    size: Size
    buffer: BatchBuffer
    sample: int  # whose size it is, for the message when another differs


class Batch:
    """One batch: its samples, its memory once their size is known, and which slots are good."""

    def __init__(self, maker: BatchMaker, number: int, samples: Ints) -> None:
        self.number = number
        self.samples = samples
        self.files = samples.copy()  # the samples that were really used; others after substitution
        self._good = np.ones(len(samples), dtype=np.bool_)
        self.soft_labels: npt.NDArray[np.float32] | None = None  # of the good slots, once mixed
        self._carried = 0  # slots
        self._maker = maker
        self._place: _Place | None = None
        self._lock = threading.Lock()

    def place(self, sizes: Sizes, samples: Ints) -> tuple[Size, BatchBuffer]:
        """Return size and memory of the batch's images; all images must have that size."""
        with self._lock:
            if self._place is None:
                size = sizes[0]
                buffer = self._maker.memory_for(len(self.samples), size)
                self._place = _Place(size, buffer, int(samples[0]))
            place = self._place
        odd = (sizes.height != place.size.height) | (sizes.width != place.size.width)
        if odd.any():
            other = int(np.flatnonzero(odd)[0])
            raise LoaderError(
                f"Batch {self.number}: sample {place.sample} is {place.size} after the transforms, "
                f"sample {int(samples[other])} is {sizes[other]}; a batch needs one size. "
                "End the transforms with Resize((height, width)), RandomResizedCrop or CenterCrop."
            )
        return place.size, place.buffer

    def array(self) -> npt.NDArray[Any]:
        """Return all slots as one array, for those who fill them from Python."""
        if self._place is None:
            raise LoaderError("Batch.array: no image has been placed yet.")
        return self._maker.array_over(self._place.buffer, len(self.samples), self._place.size)

    @property
    def size(self) -> Size:
        """The size of the batch's images."""
        if self._place is None:
            raise LoaderError("Batch.size: no image has been placed yet.")
        return self._place.size

    def good_slots(self) -> Ints:
        """The slots that will be delivered, as far as is known."""
        return np.flatnonzero(self._good)

    def note_carried(self, slots: int) -> bool:
        """Count slots that were dealt with; True for whoever brings the last ones."""
        with self._lock:
            self._carried += slots
            return self._carried == len(self.samples)

    def leave_out(self, slots: npt.NDArray[np.int32]) -> None:
        """Mark slots that will not be delivered."""
        self._good[slots] = False

    def deliver(self, labels: Labels) -> tuple[Any, Any] | None:
        """Return images and labels, or None if every sample was left out."""
        if not self._good.any():
            return None
        images = self.array() if self._good.all() else self.array()[self._good]
        chosen: npt.NDArray[Any] = labels[self.files[self._good]]
        if self.soft_labels is not None:
            chosen = self.soft_labels
        self._place = None
        if self._maker.output.library == "torch":
            is_bfloat16 = self._maker.output.element == Element.BFLOAT16
            return image_tensor(images, is_bfloat16=is_bfloat16), label_tensor(chosen)
        return images, chosen
