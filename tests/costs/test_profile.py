"""Profiling: every op is named and called the way its library calls it."""

import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from clocks import TickingClock
from folders import Files
from penstock import transforms as T
from penstock.costs import clocks
from penstock.costs.clocks import ThreadClock
from penstock.costs.ops import file_name, op_name, single_ops
from penstock.costs.profile import profile_object
from penstock.errors import PenstockError, SourceError, TransformError
from penstock.usable_cores import library_threads

WAITING, OWN = "waiting for data", "the data set's own code"


@pytest.fixture
def photos(tmp_path):
    """Paths of photos, the third much larger than the others."""
    paths = []
    for number in range(12):
        side = 1200 if number == 3 else 40
        path = tmp_path / f"{number:02}.jpg"
        noise = np.random.default_rng(number).integers(0, 256, (side, side, 3), np.uint8)
        Image.fromarray(noise).save(path)
        paths.append(str(path))
    return paths


@pytest.fixture
def clock(monkeypatch):
    clock = TickingClock()

    def read(self):
        now_ns = round(clock() * 1e9)
        return now_ns, now_ns, 0  # all of the time is computing

    monkeypatch.setattr(ThreadClock, "read", read)
    monkeypatch.setattr(clocks, "perf_counter", clock)
    monkeypatch.setattr(clocks, "_preemptions", lambda: 0)
    return clock


def profile(value, photos, *, by_line=False, as_array=False):
    return profile_object(value, lambda: photos, samples=100, by_line=by_line, as_array=as_array)


def halve(image):
    return image.resize((image.width // 2, image.height // 2))


def turn(image):
    return image.rotate(90)


def test_a_list_of_functions(photos):
    found = profile([halve, turn], photos)

    assert [op.name for op in found.ops] == ["halve", "turn"]
    assert sum(op.share for op in found.ops) == pytest.approx(1)
    assert all(op.microseconds > 0 for op in found.ops)
    assert found.samples == 12


def test_a_single_function(photos):
    assert [op.name for op in profile(turn, photos).ops] == ["turn"]


def test_arrays_where_asked_for(photos):
    assert profile([np.ascontiguousarray], photos, as_array=True).samples == 12


def test_torchvision_v2_and_v1(photos, torchvision):
    v1, v2 = torchvision.transforms, torchvision.transforms.v2
    pipeline = v2.Compose([v2.Resize(32), v1.Compose([v1.CenterCrop(16)]), v2.PILToTensor()])
    found = profile(pipeline, photos)

    assert [op.name for op in found.ops] == ["Resize", "CenterCrop", "PILToTensor"]
    assert {op.runs_in for op in found.ops} == {"Pillow"}


def test_torch_gets_one_thread_and_its_own_back(torchvision):
    torch = sys.modules["torch"]
    before = torch.get_num_threads()
    with library_threads(1):
        assert torch.get_num_threads() == 1

    assert torch.get_num_threads() == before


def test_albumentations(photos):
    albumentations = pytest.importorskip("albumentations")
    pipeline = albumentations.Compose(
        [albumentations.HorizontalFlip(p=0.5), albumentations.RandomCrop(8, 8)]
    )
    found = profile(pipeline, photos)

    assert [(op.name, op.runs_in) for op in found.ops] == [
        ("HorizontalFlip", "OpenCV"),
        ("RandomCrop", "OpenCV"),
    ]


def test_albumentations_that_run_at_times_stay_whole():
    albumentations = pytest.importorskip("albumentations")
    flips = [albumentations.HorizontalFlip(), albumentations.VerticalFlip()]
    pipeline = albumentations.Compose(
        [albumentations.Sequential(flips, p=0.5), albumentations.Sequential(flips, p=1.0)]
    )
    names = [op_name(op) for op in single_ops(pipeline)]

    assert names == ["Sequential", "HorizontalFlip", "VerticalFlip"]


def test_our_own(photos):
    pipeline = T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip(), turn])
    found = profile(pipeline, photos)

    assert [(op.name, op.runs_in) for op in found.ops] == [
        ("waiting for files", "disk"),
        ("decode + RandomResizedCrop + final pass", "core"),
        ("RandomHorizontalFlip", "core"),
        ("turn", "Python"),
    ]
    with pytest.raises(PenstockError, match="--lines cannot look into"):
        profile(pipeline, photos, by_line=True)


class Compose:
    """A stand-in for any library's."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class Photos(Files):
    def __getitem__(self, index):
        image = Image.open(self.files[index]).convert("RGB")
        return self.transform(image) if self.transform else image


class Subset:
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]


def test_a_datasets_ops_and_slowest_files(photos):
    dataset = Photos(photos, Compose([halve, turn]))
    transform = dataset.transform
    found = profile(Subset(dataset, range(1, 12)), photos)

    assert [op.name for op in found.ops] == [WAITING, "decode", OWN, "halve", "turn"]
    assert len(found.slowest_files) == 10
    assert dataset.transform is transform


def test_the_slowest_files_come_first_and_one_slow_reading_does_not_count(clock):
    readings = Counter()

    class Timed(list):
        files = tuple(f"{number}.jpg" for number in range(50))

        def __getitem__(self, index):
            readings[index] += 1
            was_disturbed = index == 20 and readings[index] == 1
            clock.sleep(9e-3 if was_disturbed else 1e-3 + index * 1e-6)

    found = profile(Timed(range(50)), [])

    assert [name for name, _ in found.slowest_files] == [f"{n}.jpg" for n in range(49, 39, -1)]
    assert found.slowest_files[0][1] == pytest.approx(1.049)


def test_costs_add_up_to_a_sample(clock):
    class Timed:
        def __init__(self):
            self.transform = Compose([lambda _: clock.sleep(2e-3), lambda _: clock.sleep(3e-6)])

        def __len__(self):
            return 5

        def __getitem__(self, index):
            clock.sleep(1e-3)
            return self.transform(None)

    found = profile(Timed(), [])

    assert found.microseconds == pytest.approx(3003)
    assert [op.microseconds for op in found.ops] == pytest.approx([0, 1000, 2000, 3], rel=1e-3)


def test_a_dataset_without_a_transform(photos):
    assert [op.name for op in profile(Photos(photos), []).ops] == [WAITING, "decode", OWN]


def test_transforms_on_samples_with_targets(torchvision, photos):
    """As CocoDetection calls them, through torchvision's own StandardTransform."""
    v2 = torchvision.transforms.v2

    class Detection(torchvision.datasets.VisionDataset):
        def __len__(self):
            return len(photos)

        def __getitem__(self, index):
            return self.transforms(Image.open(photos[index]).convert("RGB"), {"id": index})

    dataset = Detection(".", transforms=v2.Compose([v2.Resize(8), v2.PILToTensor()]))

    names = [op.name for op in profile(dataset, photos).ops]
    assert names == [WAITING, "decode", OWN, "Resize", "PILToTensor"]


def test_lines_of_the_users_code(photos):
    pytest.importorskip("line_profiler")
    found = profile(Photos(photos, Compose([halve])), photos, by_line=True)
    by_code = {line.code: line for line in found.lines_of_code}

    assert by_code['image = Image.open(self.files[index]).convert("RGB")'].runs == 1
    assert "return image.resize((image.width // 2, image.height // 2))" in by_code
    assert any("Image.open" in line for line in found.lines())


def test_lines_of_libraries_are_not_the_users(photos, torchvision):
    pytest.importorskip("line_profiler")
    pipeline = torchvision.transforms.v2.Compose([torchvision.transforms.v2.Resize(8)])
    with pytest.raises(PenstockError, match="found no code of yours"):
        profile(pipeline, photos, by_line=True)


def test_lines_need_line_profiler(photos, monkeypatch):
    monkeypatch.setitem(sys.modules, "line_profiler", None)
    with pytest.raises(PenstockError, match=r"pip install 'penstock\[profile\]'"):
        profile([halve], photos, by_line=True)


def test_names_of_samples(photos):
    assert file_name(Photos(photos), 2) == photos[2]
    assert file_name(Subset(Photos(photos), [5, 4]), 1) == photos[4]
    assert file_name([0, 1], 1) == "sample 1"


def test_ops_that_choose_stay_whole(torchvision):
    v2 = torchvision.transforms.v2
    pipeline = [v2.Compose([v2.RandomApply([v2.Grayscale()]), turn]), halve]

    assert [op_name(op) for op in single_ops(pipeline)] == ["RandomApply", "turn", "halve"]


def broken(image):
    raise ValueError("odd")


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (3, PenstockError, "int is neither a Dataset"),
        (iter([3]), PenstockError, "gives no samples by number: name its transform"),
        (SimpleNamespace(dataset=[3]), PenstockError, "as in train:loader.dataset"),
        ([halve, broken], TransformError, r"op 2 \(broken\) failed on sample 0.*ValueError: odd"),
        ([], SourceError, "list is empty"),
    ],
)
def test_what_cannot_be_profiled(value, kind, message, photos):
    with pytest.raises(kind, match=message):
        profile(value, photos)


def test_the_sample_that_fails_is_named():
    class Seven(list):
        def __getitem__(self, index):
            return 1 // (index - 7)

    with pytest.raises(SourceError, match=r"sample 7 failed: ZeroDivisionError"):
        profile(Seven(range(20)), [])


def test_a_sample_that_cannot_be_read_is_named(tmp_path):
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"no photo")
    with pytest.raises(SourceError, match=r"sample 0 .*bad\.jpg\) failed"):
        profile(Photos([str(bad)]), [])
