"""`penstock.from_hf`: a data set of Hugging Face's library `datasets`, as it is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from penstock.data.unpacked import UnpackedSource
from penstock.limits import using
from penstock.packing.datasets.hugging_face import BoxForm, HuggingFaceRows, open_hugging_face

if TYPE_CHECKING:
    from penstock.data.unpacked import KeptFacts
    from penstock.packing.datasets import LayoutSource


class HuggingFaceSource(UnpackedSource):
    """The rows of a `datasets.Dataset`."""

    def __init__(self, layout: LayoutSource, rows: HuggingFaceRows) -> None:
        super().__init__(layout)
        self._rows = rows

    def content(self, index: int) -> memoryview | bytes:
        """Return an image's file, where it lies in the table."""
        with using(self._limits):
            return self._rows.content(index)

    def _facts(self, index: int) -> KeptFacts:
        with self._lock:
            kept = self._kept.get(index)
        if kept is not None:
            return kept
        with using(self._limits):
            return self._keep(index, self._rows.item(index, with_image=False))


def from_hf(
    dataset: Any,
    *,
    image: str | None = None,
    label: str | Literal[False] | None = None,
    columns: Sequence[str] | None = None,
    box_format: BoxForm | None = None,
) -> HuggingFaceSource:
    """Open a `datasets.Dataset` for `Loader`, `pack`, `analyze` and `show`.

    `Loader(dataset)` does this itself; call it to say more about the data. Images stay encoded
    until the loader's threads decode them, and are turned as their EXIF data say, as `dataset[i]`
    does. `select`, `shuffle` and `filter` are respected.

    Args:
        dataset: A `datasets.Dataset`; of a `DatasetDict`, one of its splits.
        image: The column of images. None takes the only one with the type Image.
        label: The column of labels. None takes the only ClassLabel, or else the column "label";
            False takes none.
        columns: Which of the other columns can be delivered; None allows all of them.
        box_format: In a column "objects" with bbox and category, whether boxes are "xywh" (left,
            top, width, height, as in COCO) or "xyxy" (left, top, right, bottom), in pixels. None
            finds out, or refuses where nothing tells.

    Raises SourceError where several columns could be meant, for streams, and for a data set with a
    transform of its own.
    """
    layout, rows = open_hugging_face(
        dataset, image=image, label=label, columns=columns, box_format=box_format
    )
    return HuggingFaceSource(layout, rows)
