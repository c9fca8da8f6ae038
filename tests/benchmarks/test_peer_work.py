from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from benchmarks.cases.classify_224 import make_case
from benchmarks.peer_work import Steady, images_of_epoch, write_pixels

CASE = replace(make_case(("a", "b", "c", "d")), crop_px=4, batch_size=2, repeats=3)


class MadeUp:
    """A peer of six batches in an epoch, which counts what was taken of it."""

    label = "made up"

    def __init__(self):
        self.built = self.taken = 0

    def versions(self):
        return {}

    def batches(self, case, _cores):
        self.built += 1
        peer = self

        class Loader:
            def __iter__(self):
                for number in range(case.samples // case.batch_size):
                    peer.taken += 1
                    labels = np.array([2 * number % 4, 2 * number % 4 + 1])
                    yield np.full((2, 3, 4, 4), labels[0], case.output), labels

        return Loader()


def test_turns_go_on_where_the_last_one_ended():
    peer = MadeUp()
    work = Steady(peer, CASE, 1)

    first, *others = [work.run(0.0) for _ in range(6)]

    assert peer.built == 1
    assert first.first_batch_s > 0
    assert [turn.images for turn in others] == [2] * 5
    assert all(turn.first_batch_s == 0 for turn in others)
    assert peer.taken == 1 + 6 * 2  # the first, and for each turn one that is not timed


def test_a_batch_of_each_worker_is_timed():
    assert Steady(MadeUp(), CASE, 2).run(0.0).images == 4


def test_an_epoch_that_is_too_short_is_refused():
    loader = list(islice(MadeUp().batches(CASE, 1), 5))

    with pytest.raises(ValueError, match="gave 10 images, but the data set has 12"):
        list(images_of_epoch(loader, CASE))


def test_pixels_are_taken_of_a_loader_that_never_ends(tmp_path):
    class Endless(MadeUp):
        def batches(self, case, cores):
            while True:
                yield from super().batches(case, cores)

    case = replace(CASE, labels=(0, 1, 2, 3), repeats=1)

    write_pixels(Endless(), case, 1, str(tmp_path / "pixels.npy"))

    assert np.load(tmp_path / "pixels.npy")[:, 0, 0, 0].tolist() == [0, 0, 2, 2]
