"""An epoch may begin before the loop asks for it: nobody can tell, but by the clock."""

import gc
import threading
import weakref

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import transforms as T
from penstock.loading import course
from penstock.loading.course import Course


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    """However busy the machine is, these loops go from epoch to epoch without a pause."""
    monkeypatch.setattr(course, "_PAUSE_S", 1e9)


COUNT = 22
BATCH = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("photos"), np.random.default_rng(2)
    for number in range(COUNT):
        (folder / f"{number % 2}").mkdir(exist_ok=True)
        pixels = random.integers(0, 256, (6, 7, 3), dtype=np.uint8)
        image = Image.fromarray(pixels).resize((50 + number, 40), Image.Resampling.BICUBIC)
        image.save(folder / f"{number % 2}" / f"{number:03d}.jpg")
    return folder


@pytest.fixture(scope="module", params=["files", "packed"])
def data(request, folder, tmp_path_factory):
    if request.param == "files":
        return folder
    target = tmp_path_factory.mktemp("packed") / "photos.pen"
    penstock.pack(folder, target)
    return target


def _loader(data, **options):
    options = {
        "batch_size": BATCH,
        "transform": T.Compose([T.RandomResizedCrop(16), T.RandAugment()]),
        "shuffle": True,
        "seed": 4,
        "output": "numpy",
        **options,
    }
    return penstock.Loader(data, **options)


def _epoch(loader):
    return [(images.copy(), labels.copy()) for images, labels in loader]


def _assert_same(one, other):
    assert len(one) == len(other)
    for (images, labels), (expected, expected_labels) in zip(one, other, strict=True):
        np.testing.assert_array_equal(images, expected)
        np.testing.assert_array_equal(labels, expected_labels)


@pytest.fixture(scope="module")
def expected(data):
    """Epochs, each by a loader of its own that never had another."""
    epochs = []
    for number in range(7):
        loader = _loader(data, threads=1)
        loader.set_epoch(number)
        epochs.append(_epoch(loader))
    return epochs


def _early(loader):
    return loader._course._early


@pytest.mark.parametrize("prefetch", [1, 2, 9])
@pytest.mark.parametrize("threads", [1, 3])
def test_epochs_are_the_same(data, expected, prefetch, threads):
    """With 9, an epoch is shorter than what is prefetched."""
    loader = _loader(data, prefetch=prefetch, threads=threads)
    for epoch in expected[:2]:
        _assert_same(_epoch(loader), epoch)
    assert _early(loader) is not None
    for epoch in expected[2:]:
        _assert_same(_epoch(loader), epoch)


def test_the_first_epoch_is_not_followed(data):
    """Many loaders are iterated once."""
    loader = _loader(data)
    _epoch(loader)

    assert _early(loader) is None


def test_a_loop_with_pauses_has_none(data, monkeypatch):
    """Whatever is done in between needs the processor."""
    monkeypatch.setattr(course, "_PAUSE_S", 0.0)
    loader = _loader(data)
    for _ in range(3):
        _epoch(loader)

    assert _early(loader) is None


def test_another_epoch_may_be_chosen(data, expected):
    loader = _loader(data)
    _epoch(loader)
    _epoch(loader)
    loader.set_epoch(5)
    _assert_same(_epoch(loader), expected[5])
    _assert_same(_epoch(loader), expected[6])


def test_the_epoch_may_be_named(data, expected):
    """As those do who write `set_epoch` before each epoch."""
    loader = _loader(data)
    for number, epoch in enumerate(expected):
        loader.set_epoch(number)
        _assert_same(_epoch(loader), epoch)


@pytest.mark.parametrize("taken", range(1, 6))
def test_a_loop_may_end_anywhere(data, expected, taken):
    loader = _loader(data)
    _epoch(loader)
    batches = iter(loader)
    some = [next(batches) for _ in range(taken)]
    _assert_same(some, expected[1][:taken])
    _assert_same(_epoch(loader), expected[2])


@pytest.mark.parametrize("taken", range(1, 7))
def test_states_are_those_of_the_loop(data, expected, taken):
    """What has begun early does not count as delivered."""
    loader = _loader(data)
    _epoch(loader)
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    state = loader.state_dict()
    assert (state["epoch"], state["consumed"]) in {(1, taken * BATCH), (2, 0)}
    loader.load_state_dict(state)
    rest = expected[1][taken:]
    if rest:
        _assert_same(_epoch(loader), rest)
    _assert_same(_epoch(loader), expected[2])


def test_two_loops_at_once(data, expected):
    loader = _loader(data)
    _epoch(loader)
    one, other = [], []
    for first, second in zip(loader, loader, strict=True):
        one.append(first)
        other.append(second)
    _assert_same(one, expected[1])
    _assert_same(other, expected[2])
    _assert_same(_epoch(loader), expected[3])


def test_no_more_batches_are_under_way(data, monkeypatch):
    """Than `prefetch` after each hand-over, those of two epochs together."""
    loader = _loader(data, prefetch=2, threads=1)
    _epoch(loader)
    most = 0
    for _ in range(3):
        batches = iter(loader)
        while next(batches, None) is not None:
            early = _early(loader)
            under_way = batches._epoch.under_way + (0 if early is None else early.under_way)
            most = max(most, under_way)

    assert most == 2


def test_closing_ends_what_has_begun(data, expected):
    others = set(threading.enumerate())  # of loaders that nobody has closed
    loader = _loader(data)
    _epoch(loader)
    _epoch(loader)
    loader.close()
    assert _early(loader) is None
    own = set(threading.enumerate()) - others
    assert not [one for one in own if one.name.startswith("penstock-conductor")]
    _assert_same(_epoch(loader), expected[2])


def test_a_loader_that_is_dropped_leaves_nothing(data):
    loader = _loader(data)
    _epoch(loader)
    _epoch(loader)
    early = weakref.ref(_early(loader))
    gc.disable()
    try:
        del loader
        assert early() is None  # without the garbage collector
    finally:
        gc.enable()


def test_functions_of_the_user_are_called_for_epochs_that_are_asked_for(data):
    calls = []

    def count(image):
        calls.append(1)
        return image

    loader = _loader(data, transform=T.Compose([T.Resize((8, 8)), count]))
    for epochs in range(1, 4):
        _epoch(loader)
        assert len(calls) == epochs * COUNT


@pytest.mark.parametrize("options", [{"on_error": "skip"}, {"reuse": penstock.Reuse(2)}])
def test_epochs_that_leave_traces_are_not_begun(data, options):
    loader = _loader(data, **options)
    for _ in range(3):
        _epoch(loader)

    assert _early(loader) is None


def test_what_fails_early_fails_in_its_turn(data, expected, monkeypatch):
    """If beginning fails, the epoch begins when it is asked for."""
    loader = _loader(data)
    _epoch(loader)
    make, whether = Course._make_epoch, []

    def fail_early(self, runtime, coming, before=None):
        if before is not None:
            whether.append(True)
            raise penstock.PenstockError("no more threads")
        return make(self, runtime, coming, before)

    monkeypatch.setattr(Course, "_make_epoch", fail_early)
    _assert_same(_epoch(loader), expected[1])
    _assert_same(_epoch(loader), expected[2])
    assert whether
