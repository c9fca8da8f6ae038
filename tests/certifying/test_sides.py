"""Everything that can be a side, compared with plain batches of the same images."""

import functools

import numpy as np
import pytest

import penstock as ps
from certifying.certified import NamedFiles, in_batches, make_images
from penstock import transforms as T
from penstock.certifying.sides import LiveSide, Settings
from penstock.errors import CertifyError
from penstock.loading.loader import Loader
from penstock.packing.pack import pack

IMAGES = make_images(10)
NAMES = [f"{number}.png" for number in range(10)]
BATCHES = in_batches(IMAGES, np.arange(10), 4)
CROP = T.Compose([T.Resize(20), T.CenterCrop(16)])


class Restarting:
    """An iterable that begins anew each time, and says which epoch it was told."""

    def __init__(self):
        self.told = []

    def set_epoch(self, epoch):
        self.told.append(epoch)

    def __iter__(self):
        return iter(BATCHES)


def make_batches():
    return BATCHES


@pytest.mark.parametrize(
    "side",
    [
        BATCHES,
        Restarting(),
        make_batches,
        functools.partial(make_batches),
        Restarting,
        lambda: iter(BATCHES),
        NamedFiles(IMAGES, NAMES),
    ],
    ids=["list", "iterable", "function", "partial", "class", "iterator", "dataset"],
)
def test_what_can_be_a_side(side):
    found = ps.certify(side, BATCHES)

    assert found.equal
    assert len(found.images) == 10
    assert found.verdict == "All 10 images are equal, bit for bit, and so are their labels."
    assert found.notes == ()


def test_an_iterator_runs_once():
    found = ps.certify(iter(BATCHES), BATCHES)

    assert found.equal
    assert found.certificate.reproducible is None
    (note,) = found.notes
    assert note == (
        "Whether A gives the same the second time is not known: it is an iterator, which runs once."
    )


@pytest.mark.parametrize("side", [3, None, object()], ids=["int", "none", "object"])
def test_what_cannot_be_a_side(side):
    with pytest.raises(CertifyError, match="Give a torch DataLoader or Dataset"):
        ps.certify(side, BATCHES)


def test_one_loader_is_not_both_sides():
    side = Restarting()
    with pytest.raises(CertifyError, match="A and B are the same Restarting"):
        ps.certify(side, side)


def test_epochs_are_told():
    side = Restarting()
    ps.certify(side, BATCHES, epoch=5)

    assert set(side.told) == {5}


def test_images_are_counted_on_both_sides():
    found = ps.certify(BATCHES, BATCHES, images=7)
    assert len(found.images) == 7
    assert len(ps.certify(BATCHES, BATCHES, images="all").images) == 10


def test_no_images():
    with pytest.raises(CertifyError, match="gives no images"):
        ps.certify([], BATCHES)
    with pytest.raises(CertifyError, match="gives no images"):
        ps.make_certificate([])


def test_a_loader_that_gives_none_has_not_ended():
    with pytest.raises(CertifyError, match=r"batch 1: .* got a NoneType"):
        ps.certify([BATCHES[0], None, BATCHES[1]], BATCHES)


@pytest.mark.parametrize(
    "arguments",
    [
        {"images": 0},
        {"images": "many"},
        {"images": True},
        {"seed": -1},
        {"seed": 1.5},
        {"epoch": -1},
        {"batch_size": 0},
        {"tolerance": -1},
        {"tolerance": float("nan")},
        {"peak": 0},
        {"match": "size"},
    ],
    ids=range(11),
)
def test_arguments_are_checked(arguments):
    with pytest.raises(ps.PenstockError, match=f"{next(iter(arguments))}|epoch"):
        ps.certify(BATCHES, BATCHES, **arguments)


def failing(error, before=1):
    yield from BATCHES[:before]
    raise error


def test_what_fails_is_said_with_its_place():
    with pytest.raises(CertifyError, match="failed at batch 1: ValueError: bad file"):
        ps.certify(BATCHES, lambda: failing(ValueError("bad file")))
    with pytest.raises(CertifyError, match="cannot be made: ZeroDivisionError"):
        ps.certify(BATCHES, lambda: 1 // 0)
    with pytest.raises(KeyboardInterrupt):
        ps.certify(BATCHES, lambda: failing(KeyboardInterrupt()))


# ---- penstock's own


def test_data_sets_of_every_kind(folder, tmp_path):
    pack(folder, tmp_path / "a.pen")
    for side in (str(folder), folder, tmp_path / "a.pen", ps.open_data(folder)):
        found = ps.certify(side, folder, transform=CROP, images="all")
        assert found.equal, found.verdict
        assert found.matched == "Images were matched by the names of their files."
        assert found.images[0].name == "class_0/000.jpg"
    assert ps.certify(tmp_path / "a.pen", folder, images=5).equal  # as they are stored


def test_transforms_of_each_side(folder):
    other = T.Compose([T.Resize(21), T.CenterCrop(16)])
    found = ps.certify(folder, folder, transform=CROP, transform_b=other)

    assert found.counts == {"differs": 23}
    assert found.certificate.transform != found.certificate_b.transform


def test_loaders_of_ours(folder, tmp_path):
    loader = Loader(folder, transform=CROP, batch_size=5, shuffle=True, seed=3)
    again = Loader(folder, transform=CROP, batch_size=4, shuffle=True, seed=3, output="numpy")
    found = ps.certify(loader, again, epoch=2)
    assert found.equal
    assert found.matched == "Images were matched by the names of their files."

    # Another order: names find each other.
    found = ps.certify(loader, folder, transform=CROP)
    assert found.equal
    assert [image.position_a for image in found.images] == list(range(23))
    assert [image.position_b for image in found.images] != list(range(23))


def test_names_are_those_that_came(folder, tmp_path):
    """Of every epoch, with buckets and with samples that come more than once."""
    loader = Loader(folder, transform=CROP, batch_size=5, weights=np.arange(23.0))
    found = ps.certify(loader, folder, transform=CROP)
    drawn = {image.name for image in found.images if image.position_a is not None}

    assert any("come more than once in A" in note for note in found.notes)
    assert all(
        image.equal for image in found.images if None not in (image.position_a, image.position_b)
    )
    assert len(drawn) < 23


def test_files_that_are_left_out_or_replaced(broken_folder):
    whole = T.Compose([T.Resize((16, 16))])
    for policy, message in (
        ("skip", "samples were to be in it"),
        ("substitute", "took their places"),
    ):
        loader = Loader(broken_folder, transform=whole, batch_size=4, on_error=policy)
        with pytest.raises(CertifyError, match=message):
            ps.certify(loader, loader, images="all")
        assert ps.certify(loader, loader, images="all", match="position").equal


def test_views(folder):
    views = T.MultiView([CROP, T.Compose([T.Resize((16, 16))])])
    found = ps.certify(folder, folder, transform=views, images=6)

    assert found.equal
    assert [image.name for image in found.images[:2]] == [
        "class_0/000.jpg, view 1",
        "class_0/000.jpg, view 2",
    ]


# ---- torch's


@pytest.fixture
def torch_data():
    return pytest.importorskip("torch.utils.data")


def test_datasets_and_loaders_of_torch(torch_data, folder, torchvision):
    penstock_torch = pytest.importorskip("penstock.torch")
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    steps = v2.Compose([v2.Resize(20), v2.CenterCrop(16), v2.PILToTensor()])
    dataset = ImageFolder(folder, steps)
    sides = {
        "dataset": dataset,
        "loader": torch_data.DataLoader(dataset, 5),
        "workers": torch_data.DataLoader(dataset, 5, num_workers=1),
        "single": torch_data.DataLoader(dataset, None),
        "ours": penstock_torch.DataLoader(penstock_torch.Dataset(folder, transform=CROP), 4),
        "our dataset": penstock_torch.Dataset(folder, transform=CROP),
        "accelerated": ps.accelerate(torch_data.DataLoader(dataset, 5)),
    }
    expected = ps.make_certificate(folder, transform=CROP)
    for name, side in sides.items():
        found = ps.certify(side, expected)
        assert found.equal, (name, found.verdict)
        assert found.matched == "Images were matched by the names of their files.", name
        assert found.certificate.reproducible, name
    subset = torch_data.Subset(dataset, [3, 1])
    found = ps.certify(subset, torch_data.DataLoader(subset))
    assert [image.name for image in found.images] == [
        dataset.samples[index][0].removeprefix(f"{folder}/") for index in (3, 1)
    ]


def test_orders_that_are_not_known_have_no_names(torch_data):
    dataset = NamedFiles(IMAGES, NAMES)
    sampler = torch_data.SequentialSampler(dataset)

    class Sorted(torch_data.SequentialSampler):
        """May list anything."""

    for why, loader in {
        "RandomSampler": torch_data.DataLoader(dataset, 4, shuffle=True),
        "a Sorted": torch_data.DataLoader(dataset, 4, sampler=Sorted(dataset)),
        "in any order": torch_data.DataLoader(dataset, 4, in_order=False),
        "a RandomSampler": torch_data.DataLoader(
            dataset,
            batch_sampler=torch_data.BatchSampler(torch_data.RandomSampler(dataset), 4, False),
        ),
        "a list makes": torch_data.DataLoader(dataset, batch_sampler=[[0, 1], [2]]),
    }.items():
        found = ps.certify(loader, dataset)
        assert why in found.matched
        assert "by their position" in found.matched
    assert ps.certify(torch_data.DataLoader(dataset, 4, sampler=sampler), dataset).equal
    with pytest.raises(CertifyError, match="cannot be matched by name"):
        ps.certify(torch_data.DataLoader(dataset, 4, shuffle=True), dataset, match="name")


def test_a_collate_function_that_drops_samples_is_noticed(torch_data):
    def without_odd(samples):
        return torch_data.default_collate([sample for sample in samples if sample[1] % 3])

    dataset = NamedFiles(IMAGES, NAMES)
    with pytest.raises(CertifyError, match="batch 0 has 2 images, but 4 samples were to be in it"):
        ps.certify(torch_data.DataLoader(dataset, 4, collate_fn=without_odd), dataset)


def test_an_iterable_dataset(torch_data):
    class Stream(torch_data.IterableDataset):
        def __iter__(self):
            return iter(NamedFiles(IMAGES, NAMES)[index] for index in range(10))

    assert ps.certify(Stream(), BATCHES).equal
    assert ps.certify(torch_data.DataLoader(Stream(), 4), BATCHES).equal


def test_samplers_are_told_the_epoch(torch_data):
    dataset = NamedFiles(IMAGES, NAMES)
    sampler = torch_data.DistributedSampler(dataset, num_replicas=1, rank=0)
    loader = torch_data.DataLoader(dataset, 4, sampler=sampler)

    first = ps.make_certificate(loader, epoch=1).content
    assert ps.make_certificate(loader, epoch=2).content != first
    assert ps.make_certificate(loader, epoch=1).content == first


# ---- draws


def noisy_torch():
    torch = pytest.importorskip("torch")
    for _ in range(3):
        yield torch.rand(4, 3, 5, 5)


def noisy_numpy():
    for _ in range(3):
        yield np.random.random((4, 3, 5, 5))  # noqa: NPY002 (what users draw from)


@pytest.mark.parametrize("noisy", [noisy_torch, noisy_numpy])
def test_each_side_draws_from_the_seed(noisy):
    """The sides take turns, and what one draws moves nothing for the other."""
    alone = ps.make_certificate(noisy, seed=4).content
    found = ps.certify(noisy, noisy, seed=4)

    assert found.equal
    assert found.certificate.content == found.certificate_b.content == alone
    assert found.certificate.reproducible
    assert not ps.certify(noisy, ps.make_certificate(noisy, seed=5), seed=4).equal


def test_generators_are_left_as_they_were():
    import random

    np.random.seed(1)  # noqa: NPY002 (what users draw from)
    random.seed(1)
    expected = np.random.random(), random.random()  # noqa: NPY002 (the same)
    np.random.seed(1)  # noqa: NPY002 (the same)
    random.seed(1)
    ps.certify(noisy_numpy, noisy_numpy)

    assert (np.random.random(), random.random()) == expected  # noqa: NPY002 (the same)


def test_what_cannot_be_repeated_is_said():
    rng = np.random.default_rng(0)

    def drawn():
        return [rng.random((4, 3, 5, 5))]

    found = ps.certify(drawn, BATCHES)
    assert found.certificate.reproducible is False
    assert (
        "A gives something else the second time it is run from the same seed, so what is compared "
        "may only be luck of the draw." in found.notes
    )


def test_random_pipelines_of_ours_are_keyed_by_seed_and_epoch(folder):
    draws = T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip()])
    assert ps.certify(folder, folder, transform=draws, seed=2, epoch=3).equal
    first, other = (
        ps.make_certificate(folder, transform=draws, seed=2, epoch=epoch).content
        for epoch in (3, 4)
    )
    assert first != other


def test_the_check_is_of_the_first_batch_alone():
    """Which is cheap, and comes after the run: a loader that cannot start anew is not disturbed."""
    begun = []

    class Counted:
        def __iter__(self):
            begun.append(0)
            for batch in BATCHES:
                begun[-1] += 1
                yield batch

    side = LiveSide(Counted(), "here", "A", Settings(0, 0, None))
    assert len(list(side.open())) == 10
    side.check_reproducible()
    assert begun == [3, 1]
    assert side.is_reproducible
