"""Batches of images that have one size after the transforms, though the data set has many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from penstock.data.image_sizes import require_sizes
from penstock.errors import LoaderError, TransformError
from penstock.geometry import Sizes
from penstock.loading.sampling.asked import Asked, check_room, read_count, refuse_length
from penstock.loading.sampling.bound import BoundBatches
from penstock.loading.sampling.bucket_epochs import WHERE, BucketSelection, BucketTable, Budget
from penstock.loading.sampling.sampling import Sampling, asked_of
from penstock.loading.selection import Selection, repeats
from penstock.planner.plan import Node, Plan
from penstock.rng import Draws
from penstock.transforms.buckets import (
    Buckets,
    ResizeToBucket,
    ResizeToTokens,
    TokenSizes,
    buckets_of_area,
    read_buckets,
    read_token_sizes,
)
from penstock.transforms.declared import Declared
from penstock.transforms.moves import out_sizes
from penstock.transforms.op import ImageOp

_SMALL = ("keep", "leave out", "raise")
_SIZES_TO_TRY = Sizes(np.array([375, 500, 1080, 3000]), np.array([500, 333, 1920, 2000]))


@dataclass(frozen=True, eq=False)
class BucketBatches(Sampling):
    """Makes batches of images whose aspect ratios are near each other: of one bucket each.

    `buckets` is a list of (height, width); `T.ResizeToBucket(buckets)` gives each image its
    bucket's size. An image goes to the bucket whose aspect ratio is nearest on a logarithmic
    scale; exactly between two, to the taller one; of several with one ratio, to the largest that
    does not enlarge it, else to the smallest. See also `by_area` and `by_tokens`.

    - `small`: what becomes of images that their bucket enlarges: "keep", "leave out" or "raise".
    - `pixels` or `tokens`: how many a batch may have, instead of a batch size: small buckets then
      have larger batches. Tokens are patches of `patch_size`, a number or (height, width).

    In every step all ranks have the same bucket. With `drop_last`, what a bucket has left over for
    a last step is left out; otherwise the last step is shorter, and if it does not divide among
    the ranks, samples from the bucket's start come again, as in torch's DistributedSampler.
    """

    buckets: Any
    small: Literal["keep", "leave out", "raise"] = "keep"
    pixels: int | None = None
    tokens: int | None = None
    patch_size: int | Sequence[int] | None = None
    sizing: Buckets | TokenSizes = field(init=False, repr=False)
    budget: Budget | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = self.buckets
        sizing = given if isinstance(given, TokenSizes) else read_buckets(WHERE, given)
        if self.small not in _SMALL:
            listed = ", ".join(map(repr, _SMALL))
            raise LoaderError(f"{WHERE}: small must be one of {listed}, got {self.small!r}.")
        object.__setattr__(self, "sizing", sizing)
        if isinstance(sizing, Buckets):
            object.__setattr__(self, "buckets", sizing.sizes)
        object.__setattr__(self, "budget", self._read_budget())

    @classmethod
    def by_area(
        cls,
        area_px: int = 1024 * 1024,
        step: int = 64,
        most_ratio: float = 4.0,
        *,
        small: Literal["keep", "leave out", "raise"] = "keep",
        pixels: int | None = None,
        tokens: int | None = None,
        patch_size: int | Sequence[int] | None = None,
    ) -> BucketBatches:
        """Make buckets of about equal area, at most `area_px`, with sides in steps of `step`.

        Each shorter side has the longest side that the area allows, tall and wide, as long as the
        longer side is at most `most_ratio` times the shorter one. `buckets` then has the list.
        """
        made = buckets_of_area(f"{WHERE}.by_area", area_px, step, most_ratio)
        return cls(made, small, pixels, tokens, patch_size)

    @classmethod
    def by_tokens(
        cls,
        patch_size: int | Sequence[int],
        most_tokens: int = 1024,
        most_factor: float | None = None,
        *,
        small: Literal["keep", "leave out", "raise"] = "keep",
        pixels: int | None = None,
        tokens: int | None = None,
    ) -> BucketBatches:
        """Make a bucket of every size that `T.ResizeToTokens` with these arguments gives.

        `most_tokens` are those of one image, `tokens` those of a batch.
        """
        sizing = read_token_sizes(f"{WHERE}.by_tokens", patch_size, most_tokens, most_factor)
        return cls(sizing, small, pixels, tokens, None if tokens is None else sizing.patch_px)

    def _read_budget(self) -> Budget | None:
        if self.pixels is not None and self.tokens is not None:
            raise LoaderError(f"{WHERE}: pixels and tokens both limit a batch. Give one of them.")
        if (self.tokens is None) != (self.patch_size is None):
            raise LoaderError(
                f"{WHERE}: tokens={self.tokens!r} and patch_size={self.patch_size!r}: tokens are "
                "patches of that size, so give both or neither."
            )
        if self.pixels is not None:
            return Budget(read_count(WHERE, "pixels", self.pixels), (1, 1), "pixels")
        if self.tokens is not None:
            patch = read_token_sizes(WHERE, self.patch_size, 1, None).patch_px
            return Budget(read_count(WHERE, "tokens", self.tokens), patch, "tokens")
        return None

    def select(self, asked: Asked) -> Selection:
        """Return the batches of every epoch."""
        refuse_length(WHERE, asked)
        check_room(WHERE, asked.facts.length)
        if self.budget is not None and asked.batch_size != 1:
            raise LoaderError(
                f"{WHERE}: batch_size={asked.batch_size} and {self.budget.unit}="
                f"{self.budget.most} both say how many images a batch has. Leave one of them out."
            )
        return BucketSelection(
            self._sort(asked),
            budget=self.budget,
            batch_size=asked.batch_size,
            world_size=asked.world_size,
            drop_last=asked.drop_last,
            shuffle=asked.shuffle,
            seed=asked.seed,
        )

    def _sort(self, asked: Asked) -> BucketTable:
        """Put every sample into its bucket."""
        known = asked.facts.sizes(WHERE)
        samples = asked.samples
        times = None if asked.indices is None else repeats(asked.indices)
        is_known = known.known[samples]
        if not is_known.all() and not asked.skips_bad:
            require_sizes(known, "Use on_error='skip' to leave such files out.")
        sizes = known.as_sizes().at(samples[is_known])
        out = self.sizing.out_sizes(sizes)
        enlarged = (out.height > sizes.height) | (out.width > sizes.width)
        if self.small == "raise" and enlarged.any():
            row = int(enlarged.argmax())
            raise LoaderError(
                f"{WHERE}: sample {int(samples[is_known][row]):,} is {sizes[row]}, smaller than "
                f"its bucket {out[row]}, and so are {int(enlarged.sum()) - 1:,} more. Use "
                "small='leave out' or small='keep', or smaller buckets."
            )
        kept = ~enlarged if self.small == "leave out" else np.ones(len(sizes), dtype=np.bool_)
        rows = np.flatnonzero(is_known)[kept]
        if not len(rows):
            raise LoaderError(
                f"{WHERE}: none of {len(samples):,} samples is left: "
                f"{int((~kept).sum()):,} are smaller than their buckets, "
                f"{int((~is_known).sum()):,} cannot be read."
            )
        keys = out.height[kept] << 32 | out.width[kept]
        buckets, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
        rows = rows[np.argsort(which, kind="stable")]
        return BucketTable(
            length=asked.facts.length,
            sizes=Sizes(buckets >> 32, buckets & 0xFFFFFFFF),
            counts=counts.astype(np.int64),
            members=samples[rows].astype(np.uint32),
            times=None if times is None else times[rows].astype(np.uint32),
            too_small=int((~kept).sum()),
            unreadable=np.unique(samples[~is_known]),
        )

    def bind(  # type: ignore[override]  # batches, not samples, and so one argument more
        self,
        data: Any,
        *,
        batch_size: int = 1,
        seed: int = 0,
        shuffle: bool = True,
        indices: Any = None,
        drop_last: bool = False,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> BoundBatches:
        """Return batches for a torch DataLoader over `data`: `DataLoader(..., batch_sampler=...)`.

        `data` is what a Loader takes, a torchvision ImageFolder, or an array of (height, width),
        one row per sample. The rest is as in `Loader`.
        """
        asked = asked_of(
            self,
            data,
            seed=seed,
            shuffle=shuffle,
            indices=indices,
            drop_last=drop_last,
            batch_size=read_count(WHERE, "batch_size", batch_size),
        )
        return BoundBatches(self.select, asked, rank, world_size)

    def check_transforms(self, plan: Plan) -> None:
        """Raise if the transforms would give an image another bucket than its batch has."""
        for view in plan.views or (plan,):
            self._check_view(view)

    def _check_view(self, plan: Plan) -> None:
        changed: str | None = None  # by which step before
        for segment in plan.segments:
            for node in segment.ops:
                if isinstance(node.op, (ResizeToBucket, ResizeToTokens)):
                    self._check_resize(node.op, node.stream, changed)
                    return
                if changed is None and not _keeps_sizes(node):
                    changed = f"{type(node.op).__name__} (step {node.stream + 1})"
            step = segment.python
            if changed is None and step is not None and step.op.declared < Declared.KEEPS_SIZE:
                changed = f"{step.op.name} (step {step.stream + 1})"

    def _check_resize(
        self, op: ResizeToBucket | ResizeToTokens, stream: int, changed: str | None
    ) -> None:
        name = f"{type(op).__name__} (step {stream + 1})"
        if op.sizing != self.sizing:
            raise LoaderError(
                f"{WHERE}: it has {self.sizing.describe()}, and {name} has "
                f"{op.sizing.describe()}. Give both the same, or batches have several sizes."
            )
        if changed is not None:
            raise LoaderError(
                f"{WHERE}: {name} must see images in the sizes they are stored in, by which they "
                f"were put into batches, but {changed} may change them before. Put it first."
            )


def _keeps_sizes(node: Node[ImageOp]) -> bool:
    """Whether an op leaves sizes alone, tried on some; one that refuses those may change others."""
    draws = Draws(0, 0, np.arange(len(_SIZES_TO_TRY)), node.stream)
    try:
        after = out_sizes(node.op.sample(draws, _SIZES_TO_TRY), _SIZES_TO_TRY)
    except TransformError:
        return False
    same = (after.height == _SIZES_TO_TRY.height) & (after.width == _SIZES_TO_TRY.width)
    return bool(same.all())
