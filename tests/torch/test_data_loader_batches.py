"""Batches of our DataLoader: what torch's collate function, or the user's, makes of samples."""

import pytest

from layout_samples import LAYOUTS
from penstock import Loader, LoaderError, pack
from penstock import transforms as T
from torch_samples import MANY_SIZES, RANDOM, same_kinds

torch = pytest.importorskip("torch")

from torch.utils.data import (  # noqa: E402 (the same)
    BatchSampler,
    Subset,
    default_collate,
)
from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (the same)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)


@pytest.fixture
def dataset(folder):
    return Dataset(folder, transform=RANDOM, seed=5)


@pytest.mark.parametrize(
    "options",
    [
        {"as_dict": True, "columns": ["name"]},
        {"targets": "none"},
        {"transform": T.MultiView([T.RandomResizedCrop(24), T.RandomResizedCrop(16)])},
        {"dtype": "bfloat16"},
        {"layout": "hwc"},
    ],
)
def test_batches_are_default_collate_of_samples(folder, options):
    dataset = Dataset(folder, **{"transform": RANDOM, "seed": 1, **options})
    for batch, indices in zip(
        DataLoader(dataset, 4), BatchSampler(range(23), 4, drop_last=False), strict=True
    ):
        assert same_kinds(batch, default_collate(dataset.__getitems__(indices)))


def test_detection_batches_are_a_loaders(tmp_path):
    path = LAYOUTS["coco"][0](tmp_path / "data")
    for targets in ("list", "padded"):
        options = {"transform": MANY_SIZES, "seed": 4, "targets": targets}
        expected = Loader(path, batch_size=3, **options)
        ours = DataLoader(Dataset(path, **options), 3)
        assert same_kinds(list(ours), [list(batch) for batch in expected])


def test_a_collate_function_gets_samples_of_any_size(tmp_path, folder):
    path = LAYOUTS["coco"][0](tmp_path / "data")
    dataset = Dataset(path, transform=MANY_SIZES, seed=4)
    loader = DataLoader(dataset, 3, collate_fn=lambda samples: tuple(zip(*samples, strict=True)))
    images, targets = next(iter(loader))
    assert same_kinds(list(zip(images, targets, strict=True)), dataset.__getitems__(range(3)))
    sizes = DataLoader(Dataset(folder), 4, collate_fn=lambda batch: [i.shape for i, _ in batch])
    assert len({shape for batch in sizes for shape in batch}) > 1
    with pytest.raises(LoaderError, match="a batch needs one size"):
        list(DataLoader(Dataset(folder), 4))


def test_single_samples(dataset):
    ours, theirs = DataLoader(dataset, batch_size=None), TorchLoader(dataset, batch_size=None)
    assert same_kinds(list(ours), list(theirs))
    assert len(ours) == 23
    named = DataLoader(dataset, batch_size=None, collate_fn=lambda sample: sample[1])
    assert list(named) == dataset.labels.tolist()


def test_replacements_come_from_the_subset(make_folder):
    root = make_folder(images=6, classes=1)
    (root / "class_0" / "002.jpg").write_bytes(b"no image")
    dataset = Dataset(root, transform=T.Resize((8, 8)), on_error="substitute")
    (images, _) = next(iter(DataLoader(Subset(dataset, [0, 2]), 2)))
    assert same_kinds(images[0], images[1])


def test_bad_files_are_left_out_of_batches(make_folder):
    root = make_folder(images=6, classes=1)
    (root / "class_0" / "002.jpg").write_bytes(b"no image")
    loader = DataLoader(Dataset(root, transform=T.Resize((8, 8)), on_error="skip"), 3)
    assert [len(labels) for _, labels in loader] == [2, 3]
    assert loader.ledger.counts() == {"skipped": 1}


def test_mixing_is_a_loaders(folder):
    transform = T.Compose([RANDOM])
    mixing = T.CutMix(num_classes=3)
    ours = DataLoader(Dataset(folder, transform=transform), 4, seed=3, batch_transform=mixing)
    loader = Loader(folder, transform=transform, batch_size=4, seed=3, batch_transform=mixing)
    assert same_kinds(list(ours), [list(batch) for batch in loader])
    rows = DataLoader(
        Dataset(folder, transform=transform),
        4,
        seed=3,
        batch_transform=mixing,
        collate_fn=lambda samples: [label.shape for _, label in samples],
    )
    assert next(iter(rows)) == [(3,)] * 4


def test_mixing_is_not_lost_in_another_loader(dataset):
    ours = DataLoader(dataset, 4, batch_transform=T.CutMix(num_classes=3))
    theirs = TorchLoader(ours.dataset, 4, collate_fn=ours.collate_fn)
    with pytest.raises(LoaderError, match="another loader was made of its parts"):
        next(iter(theirs))
    with pytest.raises(LoaderError, match="single samples"):
        DataLoader(dataset, None, batch_transform=T.CutMix(num_classes=3))


def test_images_share_the_memory_of_the_engine(folder, tmp_path):
    """As in a Loader, a batch is not copied: its memory is used again once nobody holds it."""
    pack(folder, tmp_path / "a.pen", progress=False)
    addresses = {
        images.data_ptr()
        for images, _ in DataLoader(Dataset(tmp_path / "a.pen", transform=RANDOM), 1)
    }
    assert len(addresses) < 23


def test_page_locked_memory_where_it_is_asked_for(dataset, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    asked = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda t: asked.append(t.shape) or t)
    monkeypatch.setattr(
        "penstock.loading.to_torch.PinnedMemory.allocate",
        lambda _, size: torch.empty(size, dtype=torch.uint8),
    )
    next(iter(DataLoader(dataset, 4, pin_memory=True)))
    assert asked == [(4, 3, 24, 24), (4,)]
    next(iter(DataLoader(dataset, 4, collate_fn=dict.fromkeys, pin_memory=False)))
    assert len(asked) == 2
