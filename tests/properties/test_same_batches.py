"""The same batches for any number of threads, and after resuming at any step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock import Loader
from penstock import transforms as T

TRANSFORM = T.Compose([T.RandomResizedCrop(12), T.RandomHorizontalFlip()])


@pytest.fixture(scope="module")
def small_folder(make_folder: Callable[..., Path]) -> Path:
    return make_folder(images=17, classes=2, seed=5)


def open_loader(folder: Path, **options: Any) -> Loader:
    return Loader(folder, transform=TRANSFORM, output="numpy", **options)


def batches(loader: Loader) -> list[tuple[bytes, bytes]]:
    return [(images.tobytes(), labels.tobytes()) for images, labels in loader]


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 2**64 - 1),
    epoch=st.integers(0, 1000),
    batch_size=st.integers(1, 18),
    prefetch=st.integers(0, 4),
    shuffle=st.booleans(),
)
def test_threads_change_nothing(
    small_folder: Path, seed: int, epoch: int, batch_size: int, prefetch: int, shuffle: bool
) -> None:
    """Draws and order depend on seed, epoch and sample only."""
    results = []
    options = {"batch_size": batch_size, "prefetch": prefetch, "shuffle": shuffle, "seed": seed}
    for threads in (1, 2, 8):
        loader = open_loader(small_folder, threads=threads, **options)
        loader.set_epoch(epoch)
        results.append(batches(loader))

    assert results[0] == results[1] == results[2]


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32), batch_size=st.integers(1, 7), drop_last=st.booleans())
def test_resuming_at_every_step(
    small_folder: Path, seed: int, batch_size: int, drop_last: bool
) -> None:
    """However far one got, the rest of the epoch and the next one follow as they would have."""
    options = {"batch_size": batch_size, "drop_last": drop_last, "shuffle": True, "seed": seed}
    make = partial(open_loader, small_folder, **options)
    loader = make()
    loader.set_epoch(4)
    whole, following = batches(loader), batches(loader)

    for step in range(len(whole) + 1):
        running = make()
        running.set_epoch(4)
        iterator = iter(running)
        delivered = zip(range(step), iterator, strict=False)
        done = [(images.tobytes(), labels.tobytes()) for _, (images, labels) in delivered]
        state = running.state_dict()

        resumed = make()
        resumed.load_state_dict(state)

        expected = whole[step:] if step < len(whole) else following
        assert done == whole[:step]
        assert batches(resumed) == expected


def test_state_survives_the_iterator(small_folder: Path) -> None:
    """Saved after `break`, when nobody holds the epoch any more."""
    common = {"transform": TRANSFORM, "shuffle": True, "output": "numpy", "batch_size": 5}
    loader = Loader(small_folder, **common)
    whole = batches(loader)
    loader.set_epoch(0)
    for _ in loader:
        break

    resumed = Loader(small_folder, **common)
    resumed.load_state_dict(loader.state_dict())

    assert batches(resumed) == whole[1:]


def test_state_survives_a_new_batch_size(small_folder: Path) -> None:
    """Samples already seen are not seen again, whatever the batches look like."""
    common = {"transform": TRANSFORM, "shuffle": True, "output": "numpy"}
    alone = np.concatenate([images for images, _ in Loader(small_folder, **common)])
    running = Loader(small_folder, batch_size=4, **common)
    iterator = iter(running)
    next(iterator), next(iterator)

    resumed = Loader(small_folder, batch_size=3, **common)
    resumed.load_state_dict(running.state_dict())

    np.testing.assert_array_equal(np.concatenate([i for i, _ in resumed]), alone[8:])
