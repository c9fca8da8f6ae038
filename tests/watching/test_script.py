"""Loaders are told apart the way a reader of the script would."""

from pathlib import Path

import numpy as np
import pytest

from penstock.results.records import Verdict
from penstock.watching.script import ScriptLoaders


@pytest.fixture
def classes():
    """A loader and its iterator, made anew, since being timed changes them for good."""

    class Batches:
        def __init__(self, count):
            self.left = count

        def __iter__(self):
            return self

        def __next__(self):
            if not self.left:
                raise StopIteration
            self.left -= 1
            return np.zeros((2, 3))

    class FakeLoader:
        batch_size = 2

        def __init__(self, count=3):
            self.count = count

        def __iter__(self):
            return Batches(self.count)

    return FakeLoader, Batches


@pytest.fixture
def loaders(classes):
    loaders = ScriptLoaders(str(Path(__file__).parent))
    loaders.time_iteration(*classes)
    return loaders


def test_epochs_of_a_loader_add_up(loaders, classes):
    loader = classes[0]()
    for _ in range(2):
        assert len(list(loader)) == 3
    (found,) = loaders.found

    assert found.where.startswith("test_script.py:")
    assert (found.report().epochs, found.report().images) == (2, 12)


def test_loaders_alive_together_are_two(loaders, classes):
    training, validation = classes[0](), classes[0]()
    for loader in (training, validation):
        list(loader)

    assert [found.times.steps for found in loaders.found] == [3, 3]


def test_a_loader_made_anew_in_the_same_place_is_one(loaders, classes):
    for _ in range(3):
        list(classes[0]())

    assert [found.times.steps for found in loaders.found] == [9]


def test_loaders_made_anew_over_the_same_data_are_one(loaders, classes):
    """Trainers keep the loaders they made for earlier validations."""
    data, kept = object(), []
    for _ in range(3):
        kept.append(classes[0]())
        kept[-1].dataset = data
        list(kept[-1])

    assert [found.times.steps for found in loaders.found] == [9]


def test_the_verdict_is_that_of_the_times(classes):
    now_s = 0.0
    loaders = ScriptLoaders(str(Path(__file__).parent), clock=lambda: now_s)
    loaders.time_iteration(*classes)
    for _ in classes[0](count=10):
        now_s += 0.01

    assert loaders.found[0].report().verdict is Verdict.ACCELERATOR


def test_an_iterator_made_inside_a_loaders_constructor(loaders, classes):
    """Some loaders keep their workers this way."""

    class Endless(classes[0]):
        def __init__(self):
            super().__init__(6)
            self.batches = super().__iter__()

        def __iter__(self):
            for _ in range(3):
                yield next(self.batches)

    loader = Endless()
    for _ in range(2):
        list(loader)

    assert [found.times.steps for found in loaders.found] == [6]


def test_data_without_a_length_is_no_error(loaders, classes):
    class Stream:
        def __len__(self):
            raise RuntimeError("endless")

    loader = classes[0]()
    loader.dataset = Stream()
    list(loader)

    assert loaders.found[0].facts.samples is None


def test_an_iterator_from_elsewhere_is_left_alone(loaders, classes):
    assert len(list(classes[1](4))) == 4
    assert not loaders.found


def test_a_subclass_with_iterators_of_its_own_still_works(loaders, classes):
    class Other(classes[0]):
        def __iter__(self):
            super().__iter__()
            return iter((1, 2))

    assert list(Other()) == [1, 2]


def test_a_line_outside_the_scripts_folder_is_not_named(classes, tmp_path):
    loaders = ScriptLoaders(str(tmp_path))
    loaders.time_iteration(*classes)
    list(classes[0]())

    assert loaders.found[0].where is None
