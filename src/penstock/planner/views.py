"""Views of one sample: what they need of it together, and which of them share what is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from penstock._core import ALONE, StepColumn
from penstock.geometry import Bools, Ints, Sizes
from penstock.planner.lower import Regions, Steps

# What it costs to read the codes of a JPEG's pixel, when making the pixel from them costs 1.
# The codes can only be read from the top on, so a region costs those of all rows above its end.
_READ_CODES = 3


@dataclass(frozen=True, slots=True)
class ViewSteps:
    """The lowered moves of a batch, of which every sample has several views."""

    views: tuple[Steps, ...]

    def pick(self, samples: Bools | Ints) -> ViewSteps:
        """The steps of some of the samples, by a mask or by rows."""
        return ViewSteps(tuple(view.pick(samples) for view in self.views))

    def regions(self, sizes: Sizes) -> Regions:
        """What all views together read of images of `sizes`."""
        return reduce(Regions.around, [view.regions(sizes) for view in self.views])


def share(steps: ViewSteps, sizes: Sizes, is_jpeg: Bools) -> npt.NDArray[np.int32]:
    """The group that each view of each sample belongs to: (samples, views).

    The views of a group read one region, which is decoded once and contains what each of them
    needs. Decoding apart is cheaper where small regions lie far from each other in a large image.
    This changes no pixel: what is decoded of an image does not depend on what else is decoded.

    Views that are decoded at different scales never share, for they would not get the same pixels.
    """
    scales = np.stack([view.table[:, 0, StepColumn.DCT_SCALE] for view in steps.views])
    regions = [view.regions(sizes) for view in steps.views]
    each = Regions(
        *(
            np.stack([getattr(region, side) for region in regions])
            for side in ("top", "left", "bottom", "right")
        )
    )
    groups = np.full(scales.shape, ALONE, dtype=np.int32)
    for scale in np.unique(scales).tolist():
        members = scales == scale
        apart = np.where(members, _cost(each, sizes, is_jpeg), 0).sum(axis=0)
        far = np.iinfo(np.int64).max
        together = Regions(
            np.where(members, each.top, far).min(axis=0),
            np.where(members, each.left, far).min(axis=0),
            np.where(members, each.bottom, 0).max(axis=0),
            np.where(members, each.right, 0).max(axis=0),
        )
        worth_it = (members.sum(axis=0) > 1) & (_cost(together, sizes, is_jpeg) < apart)
        groups[members & worth_it] = scale
    return np.ascontiguousarray(groups.T)


def _cost(regions: Regions, sizes: Sizes, is_jpeg: Bools) -> Ints:
    """What decoding these regions costs, in pixels made of codes that are there already."""
    return regions.area + is_jpeg * _READ_CODES * regions.bottom * sizes.width
