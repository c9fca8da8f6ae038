"""What every peer is asked to do."""

from __future__ import annotations

import math
from dataclasses import dataclass

RANDOM, CENTRE, PADDED = "random", "centre", "padded"
FLOAT32, UINT8 = "float32", "uint8"


@dataclass(frozen=True, slots=True)
class Case:
    """Images and the pipeline they go through, in words that every peer can translate.

    An epoch reads each path `repeats` times, in an order of the peer's own choosing.
    """

    name: str
    question: str
    paths: tuple[str, ...]
    labels: tuple[int, ...]
    crop_px: int  # the side of the square that comes out
    mean: tuple[float, float, float]  # of channels scaled to 0..1
    std: tuple[float, float, float]
    batch_size: int
    # So that what happens between epochs hardly counts: a real data set is a thousand times larger.
    repeats: int = 1
    seed: int = 0
    # RANDOM: a random resized crop, then a flip every other time. CENTRE: the short side is resized
    # to `resize_px`, then the middle is taken. PADDED: a crop of the image with `pad_px` black
    # pixels around it, then a flip every other time.
    crop: str = RANDOM
    resize_px: int = 256
    pad_px: int = 4
    output: str = FLOAT32  # normalised; or UINT8: pixels as they are. Channels first in both
    augment_layers: int = 0  # of RandAugment, after the flip
    augment_magnitude: int = 9
    iou_crop: bool = False  # for boxes: a crop that keeps some of them, before the resize
    cold: bool = False  # the files are dropped from memory before each epoch
    written: str = ""  # the folder with what a peer has written of the images in its own format
    arrays: str = ""  # an .npy file of all images, for peers that keep tiny images in memory

    @property
    def batch_shape(self) -> tuple[int, int, int, int]:
        """Shape of a full batch: channels first."""
        return (self.batch_size, 3, self.crop_px, self.crop_px)

    @property
    def batch_bytes(self) -> int:
        """How much memory a full batch takes."""
        return math.prod(self.batch_shape) * (1 if self.output == UINT8 else 4)

    @property
    def samples(self) -> int:
        """How many images an epoch has."""
        return len(self.paths) * self.repeats

    @property
    def flips(self) -> bool:
        """Whether every other image is mirrored."""
        return self.crop != CENTRE


def refuse_unless(supported: bool, peer: str, what: str) -> None:
    """Stop a peer that is asked for something it has no words for: it is then left out."""
    if not supported:
        raise NotImplementedError(f"{peer} is not asked for {what} here")
