"""`analyze` and `profile` say the same of the same pipeline: the ops, their order and shares."""

import numpy as np
import pytest
from PIL import Image

from folders import Files
from penstock import Loader
from penstock import transforms as T
from penstock.analysis.subject.subject import open_subject
from penstock.costs.profile import profile_object

SECONDS = 0.1


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    paths = [str(folder / f"{number}.jpg") for number in range(6)]
    for number, path in enumerate(paths):
        noise = np.random.default_rng(number).integers(0, 256, (40, 60, 3), np.uint8)
        Image.fromarray(noise).save(path)
    return paths


class Photos(Files):
    """A user's own data set."""

    def __init__(self, files, transform, *, as_array=False):
        super().__init__(files, transform)
        self.as_array = as_array

    def __getitem__(self, index):
        image = Image.open(self.files[index]).convert("RGB")
        if self.as_array:
            return self.transform(image=np.array(image))["image"]
        return self.transform(image)


def turn(image):
    return image.rotate(90)


def by_analyze(loader):
    """What `analyze` reports of each op; `profile` sees no batches, so collating is left out."""
    costs = open_subject(loader).costs(SECONDS)
    return [op for op in costs.as_op_costs() if op.name != "collate"]


def by_profile(value, files):
    return profile_object(value, lambda: files, samples=6, by_line=False, as_array=False).ops


def described(ops):
    return [(op.name, op.runs_in) for op in ops]


def assert_shares_add_up(ops):
    total = sum(op.microseconds for op in ops)
    assert sum(op.share for op in ops) == pytest.approx(1)
    assert [op.share for op in ops] == pytest.approx([op.microseconds / total for op in ops])


def plain(v2):
    return v2.Compose([v2.CenterCrop(32), v2.PILToTensor()])


def nested(v2):
    return v2.Compose([v2.CenterCrop(32), v2.Compose([turn, v2.CenterCrop(16)]), v2.PILToTensor()])


def sometimes(v2):
    return v2.Compose([v2.RandomApply([turn], p=0.5), v2.CenterCrop(32), v2.PILToTensor()])


@pytest.mark.parametrize("make", [plain, nested, sometimes])
@pytest.mark.parametrize("wrapping", ["none", "Subset", "ConcatDataset"])
def test_a_data_set(make, wrapping, files, torchvision):
    data = pytest.importorskip("torch.utils.data")
    dataset = Photos(files, make(torchvision.transforms.v2))
    if wrapping == "Subset":
        dataset = data.Subset(dataset, range(4))
    elif wrapping == "ConcatDataset":
        dataset = data.ConcatDataset([dataset])
    analysed = by_analyze(data.DataLoader(dataset, batch_size=2))
    profiled = by_profile(dataset, files)

    assert described(profiled) == described(analysed)
    assert_shares_add_up(profiled)


def test_one_function_as_the_transform(files, torchvision):
    data = pytest.importorskip("torch.utils.data")
    dataset = Photos(files, turn)
    loader = data.DataLoader(dataset, batch_size=2, collate_fn=list)
    profiled = by_profile(dataset, files)

    assert described(profiled) == described(by_analyze(loader))
    assert ("turn", "Python") in described(profiled)


def test_torchvisions_own_data_sets(files, torchvision, tmp_path):
    """They hold their transform twice: as it was given, and in a StandardTransform."""
    data = pytest.importorskip("torch.utils.data")
    (tmp_path / "all").mkdir()
    for number, file in enumerate(files):
        Image.open(file).save(tmp_path / "all" / f"{number}.png")
    dataset = torchvision.datasets.ImageFolder(tmp_path, nested(torchvision.transforms.v2))
    profiled = by_profile(dataset, files)

    assert described(profiled) == described(by_analyze(data.DataLoader(dataset, batch_size=2)))


def test_albumentations(files):
    data = pytest.importorskip("torch.utils.data")
    albumentations = pytest.importorskip("albumentations")
    flips = [albumentations.HorizontalFlip(), albumentations.VerticalFlip()]
    for pipeline in (
        albumentations.Compose([*flips, albumentations.Sequential(flips, p=1.0)]),
        albumentations.Compose([*flips, albumentations.Sequential(flips, p=0.5)]),
        albumentations.Compose(flips, p=0.5),
    ):
        dataset = Photos(files, pipeline, as_array=True)
        profiled = by_profile(dataset, files)

        assert described(profiled) == described(by_analyze(data.DataLoader(dataset, batch_size=2)))


@pytest.mark.parametrize(
    "transform",
    [
        T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip(), turn]),
        T.Compose([T.CenterCrop(32), T.RandomHorizontalFlip(), T.RandomHorizontalFlip()]),
        T.Compose([T.CenterCrop(32), T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)]),
    ],
    ids=["python", "repeated", "normalized"],
)
def test_a_loader_of_ours(transform, files):
    loader = Loader(files, batch_size=2, transform=transform, labels=[0] * 6, output="numpy")
    analysed, profiled = by_analyze(loader), by_profile(transform, files)

    assert described(profiled) == described(analysed)
    assert len({op.name for op in profiled}) == len(profiled)
    assert_shares_add_up(analysed)
    assert_shares_add_up(profiled)


def test_whatever_else_a_data_set_holds_is_left_alone(files, torchvision):
    """Attributes may be anything: only what is composed of ops is looked into."""
    data = pytest.importorskip("torch.utils.data")

    class Odd:
        p = "a column"
        datasets = 3

        def __call__(self):
            raise AssertionError

    dataset = Photos(files, plain(torchvision.transforms.v2))
    dataset.table = Odd()
    dataset.datasets = 3
    before = dict(vars(dataset))
    profiled = by_profile(dataset, files)

    assert described(profiled) == described(by_analyze(data.DataLoader(dataset, batch_size=2)))
    assert vars(dataset) == before
