"""Loaders on each format give every sample once; storages hold batches back."""

import os
import sys
from itertools import pairwise

import pytest

from penstock.experiments.formats import storage
from penstock.experiments.formats.augmentations import AUGMENTATIONS
from penstock.experiments.formats.contestant import Spec, memory_of_tree, require_library
from penstock.experiments.formats.dali import labels_of
from penstock.experiments.formats.forms import DALI, FORMS, PENSTOCK, TORCH, Written, reads
from penstock.experiments.formats.loaders import Load, penstock_loader, torch_loader
from penstock.experiments.formats.photos import open_photos
from penstock.experiments.formats.storage import Access, Storage, Throttled

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
for module in ("google_crc32c", "h5py", "lmdb", "pyarrow"):
    pytest.importorskip(module)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    from penstock.demo.sample_set import make_sample_set

    folder = make_sample_set(tmp_path_factory.mktemp("photos"), images=8, classes=2)
    photos = open_photos(folder, 8, 16)
    found = Written(tmp_path_factory.mktemp("written"))
    for form in FORMS:
        found.write(form, photos)
    return found


@pytest.mark.parametrize("form", [form for form in FORMS if reads(TORCH, form)])
def test_a_data_loader_gives_every_sample_in_every_epoch(written, form):
    loader = torch_loader(Load(form, written.path(form), 4, 2, "none"))
    for _ in range(2):
        labels = torch.cat([labels for _, labels in loader])
        assert torch.bincount(labels).tolist() == [8, 8]


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_augmentations_are_the_same_for_both(written, name):
    shapes = {
        tuple(next(iter(make(Load("folder", written.path("folder"), 2, 1, name))))[0].shape)
        for make in (torch_loader, penstock_loader)
    }
    side = {"padding": 256, "down-sampling": 112, "up-sampling": 336}.get(name, 224)
    assert shapes == {(2, 3, side, side)}


def test_labels_in_digits_are_numbers():
    digits = torch.tensor([list(b"00000012"), list(b"00001000")], dtype=torch.uint8)
    assert labels_of(digits).tolist() == [12, 1000]
    assert labels_of(torch.tensor([[3], [4]])).tolist() == [3, 4]


@pytest.mark.parametrize(
    ("library", "form", "shuffle", "alone"),
    [
        (TORCH, "folder", False, True),
        (TORCH, "tfrecord", True, False),
        (TORCH, "lmdb", True, True),
        (TORCH, "lmdb", False, False),
        (DALI, "recordio", True, False),
        (PENSTOCK, "tfrecord", True, True),
        (PENSTOCK, "pen", False, False),
    ],
)
def test_what_is_asked_of_a_storage(library, form, shuffle, alone):
    spec = Spec(library, Load(form, "", 1, 1, "none"), (), 1000.0, 9000.0, 1.0)
    assert spec.access(shuffle=shuffle) == Access(1000.0, alone)


def test_parquet_is_read_in_groups():
    spec = Spec(PENSTOCK, Load("parquet", "", 1, 1, "none"), (), 1000.0, 9000.0, 1.0)
    assert spec.access(shuffle=True).size == 9000.0


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self):
        self.now_s = 0.0

    def perf_counter(self):
        return self.now_s

    def sleep(self, seconds):
        self.now_s += seconds


def test_a_storage_works_ahead_but_not_further(monkeypatch):
    """Batches of 10 MB at 100 MB/s: 0.1 s each, of which as many as allowed come ahead."""
    clock = Clock()
    monkeypatch.setattr(storage, "time", clock)
    batches = [torch.zeros(10, 3, 1, 1)] * 20
    slow = Throttled(batches, Storage("slow", 0.0, 1, 100e6), Access(1e6, alone=False))
    arrived = []
    for number, _ in enumerate(slow):
        arrived.append(clock.now_s)
        if number == 9:
            clock.now_s += 10.0  # the loop is busy
    waits = [round(later - before, 3) for before, later in pairwise(arrived)]

    assert waits[:9] == [0.1] * 9
    assert waits[9] == 10.0
    assert waits[10 : 9 + storage.AHEAD] == [0.0] * (storage.AHEAD - 1)
    assert waits[9 + storage.AHEAD] == 0.1
    assert waits[-1] == 0.1


def test_requests_cost_latency():
    seeks = Storage("seeks", 0.01, 2, 1e6)
    assert seeks.seconds(1e6, 10) == pytest.approx(1.05)
    assert seeks.describe() == "seeks: 10 ms per request, 2 requests at a time, 1 MB/s"
    assert Access(storage.CONTIGUOUS_BYTES / 4, alone=False).requests == 0.25


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_this_process():
    assert memory_of_tree(os.getpid()) > 1e6


def test_our_library_is_always_there():
    require_library(PENSTOCK)
