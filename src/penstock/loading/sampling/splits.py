"""Parts of a data set: folds for cross-validation, and random splits.

Both are functions of the seed, the number of samples and, where they are asked for, labels and
groups; they are the same on every machine. Give the indices to `Loader(indices=...)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Floats, Ints
from penstock.loading.sampling.asked import read_count
from penstock.loading.sampling.facts import DataFacts, facts_of
from penstock.rng import ORDER_STREAM, Draws, Words, check_key

_FIRST_KEY = 1 << 61  # of these draws, apart from those of orders, which count from 0


def random_split(
    data: Any,
    lengths: Sequence[float],
    *,
    seed: int,
    stratified: bool = False,
    groups: Any = None,
) -> list[Ints]:
    """Split a data set at random into parts; returns the indices of each part, ascending.

    `data` is what a Loader takes; a data set with a length, and `labels` or `targets`; an array of
    labels; or a number of samples. `lengths` are numbers of samples that add up to all of them, or
    shares that add up to 1, rounded as torch's random_split does.

    With `stratified`, every part has every label in proportion, to within one sample. With
    `groups`, one per sample, no group is split: the parts then have about these lengths.
    """
    where = "random_split"
    facts = facts_of(data, where)
    sizes = _read_lengths(where, lengths, facts.length)
    labels = _labels_of(where, facts, stratified=stratified)
    parts = _deal(where, sizes, labels, groups, seed)
    return [np.flatnonzero(parts == part) for part in range(len(sizes))]


def k_fold(
    data: Any, folds: int, *, seed: int, stratified: bool = True, groups: Any = None
) -> list[tuple[Ints, Ints]]:
    """Split a data set into folds; returns (train indices, validation indices) for each fold.

    Every sample is in the validation part of exactly one fold, and in the training part of all
    others. Folds are as equal as possible. `data`, `stratified` and `groups` are as in
    `random_split`; pass `stratified=False` for data without labels.
    """
    where = "k_fold"
    read_count(where, "folds", folds, least=2)
    facts = facts_of(data, where)
    if folds > facts.length:
        raise LoaderError(
            f"{where}: {facts.length:,} samples cannot be {folds:,} folds. Lower folds."
        )
    sizes = facts.length // folds + (np.arange(folds) < facts.length % folds)
    labels = _labels_of(where, facts, stratified=stratified)
    parts = _deal(where, sizes.astype(np.int64), labels, groups, seed)
    return [(np.flatnonzero(parts != fold), np.flatnonzero(parts == fold)) for fold in range(folds)]


def _read_lengths(where: str, given: Any, count: int) -> Ints:
    """Numbers of samples, of the shares or lengths that a user gave."""
    try:
        lengths = np.array([float(length) for length in given])
    except (TypeError, ValueError) as error:
        raise LoaderError(f"{where}: lengths must be a list of numbers, got {given!r}.") from error
    if not len(lengths) or not np.isfinite(lengths).all() or (lengths < 0).any():
        raise LoaderError(f"{where}: lengths must be numbers from 0 on, got {given!r}.")
    total = math.fsum(lengths)
    # As in torch, a sum of 1 means shares, even in a data set of one sample.
    if math.isclose(total, 1):
        sizes: Ints = np.floor(count * lengths).astype(np.int64)
        left_over = count - int(sizes.sum())
        sizes += np.bincount(np.arange(left_over) % len(sizes), minlength=len(sizes))
    elif (lengths == np.floor(lengths)).all() and total == count:
        sizes = lengths.astype(np.int64)
    else:
        raise LoaderError(
            f"{where}: lengths add up to {total:g}. Give numbers of samples that add up to "
            f"{count:,}, or shares that add up to 1."
        )
    return sizes


def _labels_of(where: str, facts: DataFacts, *, stratified: bool) -> Ints:
    """The class of each sample; one class for all where classes do not count."""
    if not stratified:
        return np.zeros(facts.length, dtype=np.int64)
    return facts.class_numbers(where, advice=" Pass stratified=False, or an array of labels.")


def _deal(where: str, sizes: Ints, labels: Ints, groups: Any, seed: int) -> Ints:
    """The part of each sample."""
    check_key(seed, 0)
    if groups is None:
        return _deal_samples(sizes, labels, seed)
    return _deal_groups(where, sizes, labels, _read_groups(where, groups, len(labels)), seed)


def _random_keys(count: int, seed: int) -> Words:
    samples = np.arange(_FIRST_KEY, _FIRST_KEY + count)
    keys: Words = Draws(seed, 0, samples, ORDER_STREAM).bits()[0]
    return keys


def _deal_samples(sizes: Ints, labels: Ints, seed: int) -> Ints:
    """Shuffle the samples of each class, and cut them in proportion to the sizes of the parts."""
    classes, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    quotas = counts[:, None] * sizes  # in units of one sample in all
    table, rests = np.divmod(quotas, len(labels))
    lacking_classes = counts - table.sum(axis=1)
    lacking_parts = sizes - table.sum(axis=0)
    # Some parts of each class have one sample more. To give them to the parts that lack most
    # leaves no part short in the end (Gale and Ryser, 1957). Classes take turns by a keyed order.
    for row in np.argsort(_random_keys(len(classes), seed), kind="stable").tolist():
        by_need = np.lexsort((-rests[row], -lacking_parts))[: lacking_classes[row]]
        table[row, by_need] += 1
        lacking_parts[by_need] -= 1
    order = np.lexsort((_random_keys(len(labels), seed), which))  # by class, shuffled within
    parts = np.empty(len(labels), dtype=np.int64)
    parts[order] = np.repeat(np.tile(np.arange(len(sizes)), len(classes)), table.reshape(-1))
    return parts


def _read_groups(where: str, groups: Any, count: int) -> Ints:
    try:
        given = np.asarray(groups if hasattr(groups, "__array__") else list(groups))
    except (TypeError, ValueError) as error:
        raise LoaderError(f"{where}: groups cannot be read ({error}).") from error
    if given.shape != (count,) or given.dtype.kind not in "iubU":
        raise LoaderError(
            f"{where}: groups must be {count:,} whole numbers or texts, one per sample, got "
            f"{given.dtype} of shape {given.shape}."
        )
    return np.unique(given, return_inverse=True)[1].astype(np.int64)


def _deal_groups(where: str, sizes: Ints, labels: Ints, groups: Ints, seed: int) -> Ints:
    """Give whole groups to parts, the largest first, each where the class shares gain most."""
    _, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    targets: Floats = sizes[:, None] * (counts / len(labels))
    filled = np.zeros_like(targets)
    members = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(members)
    part_of = np.empty(len(members), dtype=np.int64)
    for group in np.lexsort((_random_keys(len(members), seed), -members)).tolist():
        own = which[order[ends[group] - members[group] : ends[group]]]
        classes, here = np.unique(own, return_counts=True)
        # By how much the squared distance from the targets grows; rare classes weigh more.
        missing = targets[:, classes] - filled[:, classes]
        grows = (here * (here - 2 * missing) / counts[classes]).sum(axis=1)
        part = int(np.lexsort((-(targets - filled).sum(axis=1), np.round(grows, 9)))[0])
        part_of[group] = part
        filled[part, classes] += here
    empty = np.flatnonzero((np.bincount(part_of, minlength=len(sizes)) == 0) & (sizes > 0))
    if len(empty):
        raise LoaderError(
            f"{where}: part {empty[0]} gets no sample: {len(members):,} groups, the largest of "
            f"{int(members.max()):,} samples, cannot be dealt to {len(sizes)} parts. Ask for fewer "
            "or larger parts."
        )
    parts: Ints = part_of[groups]
    return parts
