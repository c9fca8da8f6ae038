"""Samples of a Dataset are those of a Loader, and draw as torch does."""

import numpy as np
import PIL.Image
import pytest

from layout_samples import LAYOUTS
from penstock import Loader, LoaderError, pack
from penstock import transforms as T
from torch_samples import MANY_SIZES, RANDOM, same

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (the same)
from torch.utils.data import Subset, WeightedRandomSampler, default_collate  # noqa: E402 (optional)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)


def whole(loader):
    """All samples of an epoch as one batch."""
    return next(iter(loader))


def images_of(samples):
    return torch.stack([image for image, _ in samples])


@pytest.mark.parametrize("epoch", [0, 3])
def test_samples_are_those_of_a_loader(folder, epoch):
    dataset = Dataset(folder, transform=RANDOM, seed=7)
    dataset.set_epoch(epoch)
    loader = Loader(folder, transform=RANDOM, seed=7, batch_size=23)
    loader.set_epoch(epoch)
    images, labels = whole(loader)

    together = dataset.__getitems__(range(23))
    assert same(default_collate(together), [images, labels])
    assert same([dataset[i] for i in range(23)], together), "one by one as well"
    assert all(type(label) is int for _, label in together)


def test_samples_share_the_memory_of_their_batch(folder):
    samples = Dataset(folder, transform=RANDOM).__getitems__([0, 5, 9])
    storages = {image.untyped_storage().data_ptr() for image, _ in samples}
    assert len(storages) == 1


def test_samples_are_torchvisions(folder, torchvision):
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    theirs = ImageFolder(
        folder,
        v2.Compose(
            [
                v2.Resize(40, antialias=True),
                v2.CenterCrop(32),
                v2.PILToTensor(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize([0.5, 0.4, 0.3], [0.2, 0.3, 0.4]),
            ]
        ),
    )
    ours = Dataset(folder, transform=theirs.transform)

    assert len(ours) == len(theirs)
    assert ours.classes == tuple(theirs.classes)
    assert ours.class_to_idx == theirs.class_to_idx
    assert ours.labels.tolist() == theirs.targets
    for (image, label), (other, other_label) in zip(ours, theirs, strict=True):
        assert same(image, other)
        assert label == other_label


def test_indices_are_those_of_a_list(folder):
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    assert same(dataset[-1], dataset[22])
    assert same(dataset[np.int64(4)], dataset[torch.tensor(4)])
    for index in (23, -24):
        with pytest.raises(IndexError, match=f"sample {index} of 23"):
            dataset[index]
    with pytest.raises(LoaderError, match="must be a whole number, got list"):
        dataset[[1, 2]]
    assert len(list(dataset)) == 23, "iterating ends by the IndexError"


def test_a_repeated_sample_is_drawn_anew_as_in_a_loader(folder):
    samples = Dataset(folder, transform=RANDOM, seed=2).__getitems__([4, 4, 4])
    images, _ = whole(Loader(folder, transform=RANDOM, seed=2, indices=[4, 4, 4], batch_size=3))
    assert same(images_of(samples), images)
    assert not same(samples[0], samples[1])


def test_draws_come_from_torchs_generator(folder):
    dataset = Dataset(folder, transform=RANDOM)
    torch.manual_seed(3)
    first, second = dataset[0], dataset[0]
    torch.manual_seed(3)
    again = dataset[0]
    assert same(first, again)
    assert not same(first, second)


def test_packed_files_say_the_sizes_of_their_images(folder, tmp_path):
    pack(folder, tmp_path / "a.pen", progress=False)
    dataset = Dataset(tmp_path / "a.pen")
    files = sorted(folder.rglob("*.jpg"))
    opened = [PIL.Image.open(file) for file in files]
    assert dataset.sizes().tolist() == [[image.height, image.width] for image in opened]
    assert Dataset(folder).sizes() is None


def test_images_of_different_sizes_are_samples_of_their_own(folder):
    """Whoever collates them decides; a Loader would have to refuse."""
    samples = Dataset(folder).__getitems__(range(23))
    files = sorted(folder.rglob("*.jpg"))
    for (image, _), file in zip(samples, files, strict=True):
        pixels = np.asarray(PIL.Image.open(file).convert("RGB"))
        assert same(image, torch.from_numpy(pixels.copy()).permute(2, 0, 1))


def test_boxes_come_as_torchvisions_detectors_take_them(tmp_path):
    path = LAYOUTS["coco"][0](tmp_path / "data")
    for targets in ("list", "padded"):
        options = {"transform": MANY_SIZES, "seed": 4, "targets": targets}
        images, expected = whole(Loader(path, batch_size=7, **options))
        samples = Dataset(path, **options).__getitems__(range(7))
        assert same([image for image, _ in samples], list(images))
        for row, (_, target) in enumerate(samples):
            if targets == "list":
                assert same(target, expected[row])
            else:
                assert same(
                    {key: torch.as_tensor(value) for key, value in target.items()},
                    {key: value[row] for key, value in expected.items()},
                )


def test_views_are_a_list(folder):
    views = T.MultiView([T.RandomResizedCrop(24), T.RandomResizedCrop(16)])
    images, labels = whole(Loader(folder, transform=views, seed=1, batch_size=5))
    samples = Dataset(folder, transform=views, seed=1).__getitems__(range(5))
    assert same(default_collate(samples), [images, labels])


def test_samplers_and_subsets_of_torch(folder):
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    weights = 1 / np.bincount(dataset.labels)[dataset.labels]
    sampler = WeightedRandomSampler(weights, 23)
    assert sum(len(labels) for _, labels in TorchLoader(dataset, 4, sampler=sampler)) == 23
    subset = Subset(dataset, [7, 2])
    assert same(subset.__getitems__([1, 0]), dataset.__getitems__([2, 7]))


@pytest.fixture
def one_bad(make_folder):
    root = make_folder(images=6, classes=1)
    (root / "class_0" / "002.jpg").write_bytes(b"no image")
    return root


def test_bad_files_raise_or_are_replaced(one_bad):
    with pytest.raises(OSError, match=r"002\.jpg"):
        Dataset(one_bad, transform=RANDOM)[2]
    dataset = Dataset(one_bad, transform=T.Resize((8, 8)), on_error="substitute")
    assert same(dataset[2], dataset[3])
    assert dataset.ledger.counts() == {"substituted": 1}


def test_bad_files_can_be_left_out_of_batches_only(one_bad):
    dataset = Dataset(one_bad, transform=T.Resize((8, 8)), on_error="skip")
    assert len(dataset.__getitems__([1, 2, 3])) == 2
    assert len(dataset[1]) == 2
    with pytest.raises(LoaderError, match=r"002\.jpg.* asked for alone.*substitute"):
        dataset[2]
    with pytest.raises(LoaderError, match="leaves nothing of the batch"):
        dataset.__getitems__([2, 2])


def test_wrong_arguments_are_refused(folder):
    for seed in (-1, 1.5, True, 1 << 64):
        with pytest.raises(LoaderError, match="seed"):
            Dataset(folder, seed=seed)
    with pytest.raises(LoaderError, match=r"^Dataset: threads must be a whole number"):
        Dataset(folder, threads=0)
    with pytest.raises(LoaderError, match=r"^Dataset: on_error must be one of"):
        Dataset(folder, on_error="ignore")
    with pytest.raises(LoaderError, match=r"^DataLoader: threads must be a whole number"):
        DataLoader(Dataset(folder), threads=0)
    with pytest.raises(LoaderError, match=r"set_epoch: epoch must be .* got -1"):
        Dataset(folder).set_epoch(-1)


def test_another_transform_is_not_taken_without_effect(folder):
    """timm's create_loader sets the transform of whatever dataset it is given."""
    dataset = Dataset(folder, transform=RANDOM)
    assert dataset.transform is RANDOM
    with pytest.raises(LoaderError, match="cannot be replaced"):
        dataset.transform = T.Resize(8)


def test_repr_says_what_it_is(folder):
    assert "23 images in 3 classes" in repr(Dataset(folder))
    assert "draws from torch's generator" in repr(Dataset(folder))
    assert "seed=3" in repr(Dataset(folder, seed=3))


NAMES = {"image": "pixel_values", "label": "labels"}


def test_keys_have_other_names(folder):
    plain = Dataset(folder, transform=RANDOM, seed=5)
    dataset = Dataset(folder, transform=RANDOM, seed=5, columns=["name"], as_dict=NAMES)
    image, label = plain[3]
    assert list(dataset[3]) == ["pixel_values", "labels", "name"]
    assert same(dataset[3]["pixel_values"], image)
    assert dataset[3]["labels"] == label

    batch = next(iter(DataLoader(dataset, 4)))
    together = default_collate(dataset.__getitems__(range(4)))
    assert same(batch, together)
    assert list(batch) == ["pixel_values", "labels", "name"]
    called = next(iter(DataLoader(dataset, 4, collate_fn=lambda samples: samples)))
    assert same(called, dataset.__getitems__(range(4)))


def test_views_have_other_names(folder):
    two = T.MultiView([T.Resize((8, 8)), T.Resize((6, 6))])
    sample = Dataset(folder, transform=two, as_dict={"image": "views"})[0]
    assert [tuple(view.shape) for view in sample["views"]] == [(3, 8, 8), (3, 6, 6)]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ({"picture": "pixel_values"}, r"no 'picture' to be renamed. There are image, label;"),
        ({"image": "label"}, r"two keys of a batch would be called 'label'"),
        ({}, r"as_dict must be True, False or a dictionary"),
        ({"image": 3}, r"as_dict must be True, False or a dictionary"),
        ("labels", r"as_dict must be True, False or a dictionary"),
    ],
)
def test_names_that_cannot_be_given(folder, names, told):
    with pytest.raises(LoaderError, match=told):
        Dataset(folder, as_dict=names)


def test_another_transform_needs_another_dataset(folder):
    dataset = Dataset(folder, seed=5, as_dict=NAMES)
    dataset.set_epoch(2)
    before = dataset[3]
    other = dataset.with_transform(RANDOM)
    assert same(other[3], Dataset(folder, transform=RANDOM, seed=5, as_dict=NAMES)[3])
    assert same(dataset[3], before)
    assert (dataset.epoch, other.epoch) == (2, 0)
    with pytest.raises(LoaderError, match=r"Use dataset.with_transform"):
        dataset.transform = RANDOM


def test_flat_targets_are_for_batches(folder):
    """They would be cut into samples by boxes, not by images."""
    with pytest.raises(LoaderError, match=r"targets='yolo' puts the boxes of a whole batch"):
        Dataset(folder, targets="yolo")


def test_torchs_collate_function_need_not_copy(folder):
    """It gives the batch that the samples lie in, and a copy of them if they were changed."""
    dataset = Dataset(folder, transform=T.Resize((8, 9)))
    samples = dataset.__getitems__([3, 1, 4])
    images, labels = torch.utils.data.default_collate(samples)
    assert images.data_ptr() == samples[0][0].data_ptr()
    expected = torch.utils.data.default_collate([tuple(sample) for sample in samples])
    assert torch.equal(images, expected[0])
    assert torch.equal(labels, expected[1])
    assert labels.dtype == expected[1].dtype

    changed = dataset.__getitems__([3, 1, 4])
    changed[1] = (torch.zeros_like(changed[1][0]), 7)
    del changed[2]
    images, labels = torch.utils.data.default_collate(changed)
    assert images.shape == (2, 3, 8, 9)
    assert not images[1].any()
    assert labels.tolist() == [samples[0][1], 7]


@pytest.mark.parametrize("as_dict", [False, True])
@pytest.mark.parametrize("views", [None, T.MultiView([T.RandomResizedCrop(9), T.Resize(8)])])
def test_torchs_collate_function_refuses_several_sizes(folder, as_dict, views):
    """A list in the place of a tensor would only be noticed by the model."""
    samples = Dataset(folder, transform=views, as_dict=as_dict).__getitems__(range(23))
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        default_collate(samples)
