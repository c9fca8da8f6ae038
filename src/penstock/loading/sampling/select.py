"""What a Loader was asked for, as a selection: `sampling`, `weights`, or all samples in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.errors import LoaderError
from penstock.loading.options import BatchOptions
from penstock.loading.sampling.asked import Asked, samples_in_epoch
from penstock.loading.sampling.facts import DataFacts
from penstock.loading.sampling.sampling import Sampling
from penstock.loading.sampling.weighted import Weighted
from penstock.loading.selection import (
    BatchedSelection,
    Chosen,
    Selection,
    read_indices,
    repeats,
)


def select(
    facts: DataFacts,
    batching: BatchOptions,
    *,
    indices: Any = None,
    weights: Any = None,
    replacement: bool = True,
    samples_per_epoch: int | None = None,
    sampling: Any = None,
    on_error: str = "raise",
) -> tuple[Selection, BatchOptions]:
    """Read what the user asked for; raises LoaderError where it does not fit the data set.

    Also returns the options of batches, whose size the sampling may decide.
    """
    if sampling is not None and not isinstance(sampling, Sampling):
        raise LoaderError(
            "Loader: sampling must be one of penstock.BucketBatches, ClassBalanced, "
            f"RepeatedAugmentation, Weighted and WindowShuffle, got {sampling!r}."
        )
    if sampling is not None and (weights is not None or not replacement):
        given = "replacement=False" if weights is None else "weights="
        raise LoaderError(
            f"Loader: sampling={type(sampling).__name__}(...) and {given} both say which samples "
            "an epoch has. Leave one of the two out."
        )
    chosen = None if indices is None else read_indices(indices, facts.length)
    asked = Asked(
        facts,
        chosen,
        samples_per_epoch,
        batching.shuffle,
        batching.seed,
        batching.batch_size,
        batching.drop_last,
        batching.world_size,
        skips_bad=on_error == "skip",
    )
    if sampling is None and weights is not None:
        sampling = Weighted(weights, replacement)
    if sampling is None:
        count = samples_in_epoch("Loader", None, asked)
        times = None if chosen is None else repeats(chosen)
        return Chosen(facts.length, chosen, times, count, asked.shuffle, asked.seed), batching
    selection = sampling.select(asked)
    if not isinstance(selection, BatchedSelection):
        return selection, batching
    if on_error == "substitute":
        raise LoaderError(
            f"Loader: on_error='substitute' does not go with sampling={type(sampling).__name__}"
            "(...): the sample that replaces another may have another size. Use on_error='skip'."
        )
    return selection, replace(batching, batch_size=selection.most_in_batch)
