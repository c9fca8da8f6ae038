"""Transforms of videos, which can be called; the loader loads images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.transforms import functional as F
from penstock.transforms.arguments import read_integer
from penstock.transforms.inputs import TENSOR, TENSORS, VIDEO
from penstock.transforms.op import CalledOnly, Params


@dataclass(frozen=True, slots=True, repr=False)
class UniformTemporalSubsample(CalledOnly):
    """Keep `num_samples` frames of a video, evenly spread over it."""

    num_samples: int
    takes: ClassVar[int] = TENSORS
    changes: ClassVar[int] = TENSOR | VIDEO
    why_not_loaded: ClassVar[str] = "it is for videos"

    def __post_init__(self) -> None:
        read_integer("UniformTemporalSubsample", "num_samples", self.num_samples, least=1)

    def transform(self, inpt: Any, params: Params) -> Any:
        """Keep some frames."""
        del params
        return F.uniform_temporal_subsample(inpt, int(self.num_samples))
