"""MixUp and CutMix on finished batches: images in the core, labels beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock import _core
from penstock._core import Element, MixKind
from penstock.data.beside import Beside
from penstock.data.columns import LABEL, LabelColumn, label_column
from penstock.errors import LoaderError, TransformError
from penstock.geometry import Ints, Size
from penstock.loading.batch import Batch
from penstock.loading.deliver import ColumnDelivery, Delivery
from penstock.loading.options import OutputOptions, RunOptions
from penstock.reference.pipeline import mix_reference
from penstock.rng import BATCH_STREAM, Draws
from penstock.sources import Labels, Source
from penstock.sources.source import describe_labels
from penstock.transforms.batch_op import BatchChoice, BatchOp, Mixing, read_batch_op
from penstock.transforms.drawn import DrawnOp
from penstock.transforms.values import Layout
from penstock.translation.transforms.translate import translate_batch

SoftLabels = npt.NDArray[np.float32]

# Mixes the images of a batch in place: images, which of them take part, how, element, layout.
# bfloat16 comes as its bits.
MixImages = Callable[[npt.NDArray[Any], Ints, Mixing, Element, Layout], None]


_MIXED_BY = {MixKind.BLEND: "MixUp", MixKind.PASTE: "CutMix"}


class Mixer:
    """Mixes batches of one loader, each once all its images are there."""

    def __init__(
        self,
        op: BatchOp,
        source: Source,
        output: OutputOptions,
        mix_images: MixImages,
    ) -> None:
        self.op = op
        self._labels = _class_numbers(op, source)
        self._output = output
        self._mix_images = mix_images

    def mix(self, batch: Batch, seed: int, epoch: int) -> Mixing | None:
        """Mix what will be delivered of a batch; returns how, or None if nothing will be.

        Draws are keyed by the samples, so they do not depend on where an epoch was begun, and
        ranks draw for themselves.
        """
        slots = batch.good
        if not len(slots):
            return None
        images, layout = batch.all_images(), self._output.layout
        height, width = images.shape[2:] if layout == "chw" else images.shape[1:3]
        draws = Draws(seed, epoch, batch.keys[slots], BATCH_STREAM)
        mixing = self.op.sample(draws, Size(height, width))
        batch.soft_labels = soften(self._labels.at(batch.samples[slots]), mixing, self.op)
        self._mix_images(images, slots, mixing, self._output.element, layout)
        return mixing

    def check_counts(self, counts: Sequence[int], on_error: str) -> None:
        """Raise if some batch of an epoch would have a number of images that cannot be mixed.

        `counts` are the numbers of images that batches have, those of full ones first.
        """
        op = self.op
        if not op.needs_even:
            return
        odd = [count for count in counts if count % 2]
        if odd:
            raise TransformError(
                f"{op!r}: needs an even number of images in every batch, but batch_size is "
                f"{counts[0]} and the last batch has {odd[-1]}. Use an even batch_size with "
                "drop_last=True."
            )
        if on_error == "skip":
            raise TransformError(
                f"{op!r}: needs an even number of images in every batch, which on_error='skip' "
                "does not keep. Use on_error='substitute'."
            )


def even_counts(samples: int, batch_size: int, *, drop_last: bool) -> list[int]:
    """How many images the batches have that so many samples are cut into."""
    last = 0 if drop_last else samples % batch_size
    return [batch_size, last or batch_size]


def open_mixer(
    given: Any,
    beside: Beside,
    delivery: Delivery,
    output: OutputOptions,
    running: RunOptions,
) -> Mixer | None:
    """Return what mixes the batches of a loader; `given` is its `batch_transform`.

    Raises now what some batch would otherwise raise later; for their sizes, see `check_counts`.
    """
    if given is None:
        return None
    op = read_batch_op(translate_batch(given))
    check_mixing(op, beside.source, output, has_targets=beside.follows_images)
    if isinstance(delivery, ColumnDelivery) and LABEL not in delivery.columns:
        raise LoaderError(
            f"Loader: {op!r} mixes labels, but columns={list(beside.columns)} leave them out. "
            f"Add {LABEL!r} to columns."
        )
    mix_images = mix_reference if running.backend == "pillow" else mix_native
    return Mixer(op, beside.source, output, mix_images)


def mix_native(
    images: npt.NDArray[Any], slots: Ints, mixing: Mixing, element: Element, layout: Layout
) -> None:
    """Mix in the core, without Python's lock."""
    count = len(images)
    partner = np.arange(count)
    kind = np.zeros(count, dtype=np.int64)
    own, other = np.ones(count, dtype=np.float32), np.zeros(count, dtype=np.float32)
    box = np.zeros((count, 4), dtype=np.int64)
    partner[slots] = slots[mixing.partner]
    kind[slots], own[slots], other[slots] = mixing.kind, mixing.own, mixing.other
    box[slots] = mixing.box
    columns = (column.tolist() for column in (partner, kind, own, other, box))
    bits = images.view(np.uint16) if element == Element.BFLOAT16 else images
    _core.mix_batch(bits, list(zip(*columns, strict=True)), layout)


def drawn_mixing(op: BatchOp, mixing: Mixing, row: int, samples: Ints, size: Size) -> DrawnOp:
    """What was drawn for one image of a batch, which has these samples."""
    kind, partner = MixKind(int(mixing.kind[row])), int(mixing.partner[row])
    name = _MIXED_BY.get(kind, "mixing") if isinstance(op, BatchChoice) else type(op).__name__
    if kind == MixKind.NONE:
        return DrawnOp(name, size, size, note="not mixed")
    drawn: dict[str, Any] = {"partner": partner, "partner_sample": int(samples[partner])}
    drawn["own_share"] = float(mixing.own[row])
    if kind == MixKind.PASTE:
        top, left, height, width = mixing.box[row].tolist()
        drawn["pasted_box"] = [left, top, left + width, top + height]
    return DrawnOp(name, size, size, (drawn,))


def soften(labels: Labels, mixing: Mixing, op: BatchOp) -> SoftLabels:
    """Labels as probabilities: smoothed, then each mixed with its partner's; (labels, classes)."""
    classes = int(op.num_classes or 0)
    outside = (labels < 0) | (labels >= classes)
    if outside.any():
        raise TransformError(
            f"{op!r}: a label is {labels[outside][0]}, but labels must be between 0 and "
            f"num_classes - 1 = {classes - 1}. Raise num_classes."
        )
    off = np.float32(mixing.smoothing / classes)
    on = np.float32(1.0 - mixing.smoothing + mixing.smoothing / classes)
    own, other = mixing.own, mixing.other
    rows, partners = np.arange(len(labels)), labels[mixing.partner]
    soft = np.repeat((off * own + off * other)[:, None], classes, axis=1)
    soft[rows, labels] = on * own + off * other
    soft[rows, partners] = np.where(labels == partners, on, off) * own + on * other
    return soft


def check_mixing(op: BatchOp, source: Source, output: OutputOptions, *, has_targets: bool) -> None:
    """Raise now what some batch would otherwise raise later."""
    if output.views:
        raise TransformError(
            f"{op!r}: mixes images with their labels, but MultiView makes several images of each "
            "sample. Leave one of the two out."
        )
    if has_targets:
        raise TransformError(
            f"{op!r}: mixes class labels, but this data set has boxes, keypoints or masks. "
            "Use targets='labels' to leave those out."
        )
    if op.blends and output.element == Element.UINT8:
        raise TransformError(
            f"{op!r}: adds images up, which needs floating point, but the transforms end in uint8. "
            "End them with Normalize(...) or ToDtype('float32', scale=True)."
        )
    _class_numbers(op, source)
    known = None if source.classes is None else len(source.classes)
    if op.num_classes is None:
        hint = "" if known is None else f" The data set has {known}."
        raise TransformError(f"{op!r}: num_classes is missing.{hint} Give it.")
    if known is not None and op.num_classes < known:
        raise TransformError(
            f"{op!r}: num_classes is {op.num_classes}, but the data set has {known} classes. "
            f"Use num_classes={known}."
        )


def _class_numbers(op: BatchOp, source: Source) -> LabelColumn:
    labels = label_column(source)
    if labels is None:
        raise TransformError(f"{op!r}: mixes labels, but {source.describe()} has none.")
    if labels.dtype.kind not in "iu" or labels.shape:
        raise TransformError(
            f"{op!r}: needs class numbers as labels, but there are "
            f"{describe_labels(labels.dtype, labels.shape)}."
        )
    return labels
