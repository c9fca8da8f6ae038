"""What every peer is asked to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """Images and the pipeline they go through, in words that every peer can translate.

    One pass reads each path once, in an order of the peer's own choosing.
    """

    name: str
    question: str
    paths: tuple[str, ...]
    labels: tuple[int, ...]
    crop_px: int  # random resized crop to this square, then a flip every other time
    mean: tuple[float, float, float]  # of channels scaled to 0..1
    std: tuple[float, float, float]
    batch_size: int
    seed: int = 0
    augment_layers: int = 0  # of RandAugment, after the flip
    augment_magnitude: int = 9
    iou_crop: bool = False  # for boxes: a crop that keeps some of them, before the resize

    @property
    def batch_shape(self) -> tuple[int, int, int, int]:
        """Shape of a full batch: float32, channels first."""
        return (self.batch_size, 3, self.crop_px, self.crop_px)
