"""Files that the system has forgotten."""

import math

import numpy as np
import pytest

import penstock
from penstock import Loader
from penstock import transforms as T
from penstock.analysis.budget import Budget
from penstock.analysis.cold_cache import forget, measure_first_epoch, measure_reads
from penstock.analysis.device.devices import EmulatedDevice
from penstock.analysis.measure import Effort
from penstock.analysis.subject.subject import Subject, open_subject
from penstock.demo.sample_set import make_sample_set
from penstock.results.records import FirstEpoch, Rate

EFFORT = Effort(rounds=1, seconds=0.05)
BUDGET = Budget(math.inf, lambda *_: None)


def rate(value):
    return Rate(value, value, value)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return str(make_sample_set(tmp_path_factory.mktemp("cold"), images=12, classes=2))


def subject_of(data):
    return open_subject(Loader(data, batch_size=4, transform=T.CenterCrop(64), output="numpy"))


def test_lost_time_is_split_into_fetching_and_preparing():
    lost = FirstEpoch(cold=rate(200.0), cached=rate(600.0)).lost(synthetic=1000.0)

    assert lost == pytest.approx({"fetch": 0.4, "prepare": 0.4})


def test_a_cold_epoch_that_happens_to_be_faster_loses_nothing_to_fetching():
    lost = FirstEpoch(cold=rate(620.0), cached=rate(600.0)).lost(synthetic=1000.0)

    assert lost == pytest.approx({"fetch": 0.0, "prepare": 0.38})


def test_each_run_is_one_epoch(photos):
    seen = []

    class Counted(EmulatedDevice):
        def submit(self, batch):
            seen.append(len(batch[0]))

    found = measure_first_epoch(subject_of(photos), Counted(1e6), 1, EFFORT, BUDGET)

    assert found.cold.least > 0
    assert found.cached.least > 0
    assert sum(seen) == 2 * 12 * 3  # cold and cached, in three rounds


def test_packed_files_are_forgotten_too(photos, tmp_path):
    packed = str(tmp_path / "photos.pen")
    penstock.pack(photos, packed, progress=False)
    subject = subject_of(packed)

    assert list(subject.stored_in(9)) == [packed]
    assert measure_first_epoch(subject, EmulatedDevice(1e6), 1, EFFORT, BUDGET) is not None


def test_unknown_or_too_many_files_are_left_alone(photos):
    batches = Subject([np.zeros((4, 3, 8, 8))])

    assert measure_first_epoch(batches, EmulatedDevice(1e6), 1, EFFORT, BUDGET) is None
    assert list(subject_of(photos).stored_in(11)) == []
    assert len(subject_of(photos).stored_in(12)) == 12


def test_files_of_a_data_loader_are_known(photos, torchvision):
    from torch.utils.data import DataLoader

    loader = DataLoader(torchvision.datasets.ImageFolder(photos), batch_size=4)

    assert len(open_subject(loader).stored_in(12)) == 12
    assert list(open_subject(loader).stored_in(11)) == []


def test_a_file_that_is_gone_does_not_stop_others(photos):
    forget([photos + "/nothing.jpg"])

    assert measure_reads([photos + "/nothing.jpg"]) is None
