"""Transforms of keypoints alone; they follow every other transform of their image by themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.errors import TransformError
from penstock.transforms import functional as F
from penstock.transforms.inputs import (
    KEYPOINTS,
    find_labels,
    first_of,
    flatten,
    read_labels_getter,
)
from penstock.transforms.op import CalledOnly, Params
from penstock.transforms.sanitize import check_labels, keep_valid


@dataclass(frozen=True, slots=True, repr=False)
class ClampKeyPoints(CalledOnly):
    """Move keypoints that lie outside of their image to its border."""

    takes: ClassVar[int] = KEYPOINTS
    why_not_loaded: ClassVar[str] = "the loader gives keypoints where they are, outside too"

    def transform(self, inpt: Any, params: Params) -> Any:
        """Clamp them."""
        del params
        return F.clamp_keypoints(inpt)


@dataclass(frozen=True, slots=True, repr=False)
class SanitizeKeyPoints(CalledOnly):
    """Drop keypoints that lie outside of their image, and the labels that belong to them.

    `labels_getter` says where labels are: a function of the sample, "default" or None for none.
    """

    labels_getter: Callable[[Any], Any] | str | None = None
    why_not_loaded: ClassVar[str] = "objects of the loader keep all of their keypoints"

    def __post_init__(self) -> None:
        read_labels_getter("SanitizeKeyPoints", self.labels_getter)

    def draw_and_do(self, inputs: tuple[Any, ...]) -> Any:
        """Find the labels, and keep what belongs to keypoints inside."""
        sample = inputs if len(inputs) > 1 else inputs[0]
        labels = find_labels(self.labels_getter, sample)
        values, rebuild = flatten(sample)
        points = first_of(values, KEYPOINTS)
        if points is None:
            raise TransformError(
                "SanitizeKeyPoints: No keypoints were found in the sample. "
                "Give them as torchvision's KeyPoints."
            )
        labels = check_labels("keypoints", points, labels)
        _, valid = F.sanitize_keypoints(points)
        params = {"valid": valid, "labels": labels}
        return rebuild([self.transform(value, params) for value in values])

    def transform(self, inpt: Any, params: Params) -> Any:
        """Keep what belongs to keypoints inside."""
        return keep_valid(inpt, KEYPOINTS, params)
