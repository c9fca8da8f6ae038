"""penstock.timm: timm's loaders by timm's arguments, with the same values."""

import inspect
import random

import numpy as np
import PIL.Image
import pytest

from folders import make_image
from penstock import LoaderError, SourceError, pack
from penstock import transforms as T
from penstock.errors import TranslationError

torch = pytest.importorskip("torch")
timm_data = pytest.importorskip("timm.data", reason="timm is not installed: see requirements/")

from timm.data import loader as timm_loader  # noqa: E402 (optional)

import penstock.timm as ours  # noqa: E402 (the same)
from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)

CPU = torch.device("cpu")
SMALL = {"input_size": (3, 32, 32), "batch_size": 4, "num_workers": 0, "device": CPU}
# A crop of the whole of a square image, and no other change.
STILL = {"scale": (1, 1), "ratio": (1, 1), "hflip": 0, "color_jitter": None, "is_training": True}


@pytest.fixture(scope="module")
def squares(tmp_path_factory):
    root = tmp_path_factory.mktemp("squares")
    for number in range(24):
        (root / f"class_{number % 3}").mkdir(exist_ok=True)
        image = make_image(np.random.default_rng(number), 40 + number, 40 + number)
        image.save(root / f"class_{number % 3}" / f"{number}.jpg")
    return root


def both(folder, **given):
    """The same loader by both."""
    options = {**SMALL, **given}
    return (
        timm_data.create_loader(timm_data.ImageDataset(str(folder)), **options),
        ours.create_loader(timm_data.ImageDataset(str(folder)), **options),
    )


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (timm draws from it)
    torch.manual_seed(seed)


def assert_same_epochs(theirs, mine, epochs=2):
    assert len(mine) == len(theirs)
    expected, came = [], []
    for loader, batches in ((theirs, expected), (mine, came)):
        seed_all(3)
        for _ in range(epochs):
            batches += list(loader)
    assert len(came) == epochs * len(theirs)
    for one, other in zip(came, expected, strict=True):
        for value, wanted in zip(one, other, strict=True):
            assert value.dtype == wanted.dtype
            assert torch.equal(value, wanted)


def test_the_arguments_are_timms():
    theirs = inspect.signature(timm_data.create_loader).parameters
    mine = inspect.signature(ours.create_loader).parameters
    assert list(mine)[: len(theirs)] == list(theirs)
    for name, parameter in theirs.items():
        assert mine[name].default == parameter.default
        assert mine[name].kind == parameter.kind
    assert {n for n in mine if n not in theirs} == {"threads", "on_error"}


@pytest.mark.parametrize("use_prefetcher", [True, False])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"crop_pct": 1.0, "interpolation": "bicubic"},
        {"crop_mode": "squash", "interpolation": "lanczos"},
        {"crop_mode": "border", "crop_border_pixels": 2},
        {"input_size": (3, 32, 48)},
        {"input_size": 24, "mean": (0.5, 0.4, 0.3), "std": (0.2, 0.3, 0.4)},
    ],
)
def test_validation_gives_the_same_bits(folder, given, use_prefetcher):
    theirs, mine = both(folder, use_prefetcher=use_prefetcher, **given)
    assert_same_epochs(theirs, mine)


@pytest.mark.parametrize("given", [{"img_dtype": torch.bfloat16}, {"fp16": True}])
def test_other_types_are_computed_by_timm_itself(folder, given):
    assert_same_epochs(*both(folder, **given))


def test_training_without_augmentation_gives_the_same_bits_in_the_same_order(folder):
    """The order is torch's, so the generator must be left as timm's loader leaves it."""
    theirs, mine = both(folder, is_training=True, no_aug=True, re_prob=0.5)
    assert_same_epochs(theirs, mine, epochs=3)
    assert mine.drop_last
    assert mine.batch_size == 4


@pytest.mark.parametrize("mode", ["const", "rand", "pixel"])
def test_erasing_on_the_device_is_timms(squares, mode):
    """With workers, timm's crops draw elsewhere, so erasing has Python's generator for itself."""
    splits = 2 if mode == "rand" else 0
    given = {"re_prob": 0.7, "re_mode": mode, "re_count": 2, "re_split": splits == 2}
    _, untouched = both(squares, **STILL)
    _, mine = both(squares, **STILL, **given)
    erase = timm_data.random_erasing.RandomErasing(
        0.7, mode=mode, max_count=2, num_splits=splits, device=CPU
    )
    seed_all(3)
    plain = list(untouched)
    seed_all(3)
    came = list(mine)
    assert not torch.equal(came[0][0], plain[0][0])
    if mode == "const":
        random.seed(3)
        for (erased, _), (images, _) in zip(came, plain, strict=True):
            assert torch.equal(erased, erase(images.clone()))
    for (erased, _), (images, _) in zip(came, plain, strict=True):
        spared = len(images) // 2 if splits else 0
        assert torch.equal(erased[:spared], images[:spared])
        changed = (erased != images).any(1)
        assert (changed.float().mean((1, 2)) < 0.7).all()
    assert repr(mine.random_erasing) == repr(erase)


@pytest.mark.parametrize("mode", ["batch", "pair", "elem", "half"])
def test_mixing_while_collating_is_timms(squares, mode):
    def collate():
        return timm_data.FastCollateMixup(0.8, 1.0, mode=mode, num_classes=3)

    theirs, _ = both(squares, **STILL, collate_fn=collate())
    _, mine = both(squares, **STILL, collate_fn=collate())
    assert mine.mixup_enabled
    assert_same_epochs(theirs, mine)
    for loader in (theirs, mine):
        loader.mixup_enabled = False
    assert not mine.mixup_enabled
    assert_same_epochs(theirs, mine)
    _, targets = next(iter(mine))
    assert torch.equal(targets.max(1).values, torch.full((len(targets),), 0.9 + 0.1 / 3))


def test_mixing_in_the_loop_is_timms(squares):
    """Without the prefetcher, train.py calls Mixup on the batches."""
    results = []
    for loader in both(squares, **STILL, use_prefetcher=False):
        seed_all(3)
        mixup = timm_data.Mixup(0.8, 1.0, num_classes=3)
        results.append([mixup(*batch) for batch in loader])
    for one, other in zip(*results, strict=True):
        assert all(map(torch.equal, one, other))


@pytest.mark.parametrize(
    "given",
    [
        {"auto_augment": "rand-m9-mstd0.5-inc1", "interpolation": "random", "re_prob": 0.3},
        {"auto_augment": "original", "vflip": 0.5},
        {"color_jitter": (0.4, 0.4, 0.4, 0.1), "color_jitter_prob": 0.8},
        {"grayscale_prob": 0.5, "gaussian_blur_prob": 0.5, "color_jitter": None},
        {"train_crop_mode": "rkrr", "use_prefetcher": False, "re_prob": 0.5},
    ],
)
def test_draws_repeat_by_torchs_seed_and_differ_between_epochs(folder, given):
    loader = ours.create_loader(
        timm_data.ImageDataset(str(folder)), **SMALL, is_training=True, **given
    )
    epochs = []
    for _ in range(2):
        seed_all(7)
        epochs += [[torch.cat([images for images, _ in loader]) for _ in range(2)]]
    assert torch.equal(epochs[0][0], epochs[1][0])
    assert torch.equal(epochs[0][1], epochs[1][1])
    assert not torch.equal(epochs[0][0], epochs[0][1])
    assert epochs[0][0].isfinite().all()


def test_the_parts_are_those_that_training_scripts_look_at(folder):
    loader = ours.create_loader(str(folder), **{**SMALL, "num_workers": 3}, is_training=True)
    assert isinstance(loader, timm_loader.PrefetchLoader)
    assert isinstance(loader.loader, DataLoader)
    assert loader.loader.num_workers == 3
    assert isinstance(loader.dataset, Dataset)
    assert isinstance(loader.sampler, torch.utils.data.RandomSampler)
    assert loader.batch_sampler.batch_size == 4
    assert loader.mixup_enabled is False
    assert len(loader) == len(loader.dataset) // 4
    loader.dataset.set_epoch(4)
    loader.close()
    assert len(list(loader)) == len(loader)


def test_a_training_as_timms_script_has_it(squares):
    """Two epochs, mixing off in the second, validation after each; from a list of arguments."""
    torch.manual_seed(0)
    train = ours.create_loader(
        ours.create_dataset("", root=str(squares), is_training=True, seed=3, class_map=""),
        **SMALL,
        is_training=True,
        auto_augment="rand-m9-mstd0.5-inc1",
        collate_fn=timm_data.FastCollateMixup(0.2, num_classes=3),
        use_multi_epochs_loader=True,
        worker_seeding="part",
        batch_choice_seed=3,
    )
    evaluate = ours.create_loader(str(squares), **SMALL)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 3))
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    classes = []
    for epoch in (0, 1):
        train.dataset.set_epoch(epoch)
        if epoch == 1 and train.mixup_enabled:
            train.mixup_enabled = False
        for images, targets in train:
            loss = torch.nn.functional.cross_entropy(model(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            classes.append((targets > 0.04).sum(1))
        with torch.no_grad():
            seen = [model(images).shape[0] for images, _ in evaluate]
        assert sum(seen) == 24
    assert len(classes) == 2 * len(train)
    assert torch.cat(classes[: len(train)]).max() == 2, "mixed"
    assert torch.cat(classes[len(train) :]).max() == 1, "not any more"


@pytest.fixture
def ranks(monkeypatch):
    """Say which of two processes this is."""

    def say(rank):
        monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
        monkeypatch.setattr(torch.distributed, "get_rank", lambda _group=None: rank)
        monkeypatch.setattr(torch.distributed, "get_world_size", lambda _group=None: 2)

    return say


@pytest.mark.parametrize("is_training", [True, False])
def test_ranks_take_their_share_as_with_timm(folder, ranks, is_training):
    names = {True: "DistributedSampler", False: "OrderedDistributedSampler"}
    shares = []
    for rank in (0, 1):
        ranks(rank)
        theirs, mine = both(folder, distributed=True, is_training=is_training, no_aug=True)
        assert type(mine.sampler).__name__ == names[is_training]
        for epoch in (0, 3):
            if is_training:
                theirs.sampler.set_epoch(epoch)
                mine.sampler.set_epoch(epoch)
            assert_same_epochs(theirs, mine, epochs=1)
        shares.append(set(mine.sampler))
    assert shares[0] | shares[1] == set(range(23))
    assert len(shares[0] & shares[1]) == 1, "23 samples for two: one is padding"


def test_ranks_that_repeat_a_sample_augment_it_differently(folder, ranks):
    """Also if every process has the same seed."""
    images = []
    for rank in (0, 1):
        ranks(rank)
        dataset = Dataset([next(folder.rglob("*.jpg"))] * 512, labels=[0] * 512)
        seed_all(3)
        loader = ours.create_loader(
            dataset, **SMALL, is_training=True, distributed=True, num_aug_repeats=3
        )
        assert type(loader.sampler).__name__ == "RepeatAugSampler"
        assert loader.sampler.num_repeats == 3
        images.append((list(loader.sampler), next(iter(loader))[0]))
    assert images[0][0][:2] == [images[0][0][0]] * 2 or images[0][0][0] == images[1][0][0]
    assert not torch.equal(images[0][1], images[1][1])


@pytest.fixture(scope="module")
def packed(tmp_path_factory, squares):
    root = tmp_path_factory.mktemp("packed")
    for name in ("train", "val"):
        pack(squares, root / f"{name}.pen")
    return root


def test_packed_files_are_found_by_their_split(squares, packed):
    dataset = ours.create_dataset("", root=str(packed), split="validation", class_map="")
    assert isinstance(dataset, Dataset)
    assert dataset.source.describe() == Dataset(packed / "val.pen").source.describe()
    assert isinstance(ours.create_dataset("", packed / "train.pen"), Dataset)
    one = {int(b.sum()) for _, b in ours.create_loader(dataset, **SMALL)}
    assert one == {int(b.sum()) for _, b in ours.create_loader(packed / "val.pen", **SMALL)}

    _, expected = both(squares)
    images = torch.cat([images for images, _ in ours.create_loader(dataset, **SMALL)])
    theirs = torch.cat([images for images, _ in expected])
    assert sorted(images.sum((1, 2, 3)).tolist()) == sorted(theirs.sum((1, 2, 3)).tolist())


def test_other_data_sets_are_timms_own(squares):
    for name, root in (("", squares), ("torch/image_folder", squares)):
        mine = ours.create_dataset(name, root=str(root), split="train")
        theirs = timm_data.create_dataset(name, root=str(root), split="train")
        assert type(mine) is type(theirs)
        expected = timm_data.create_loader(theirs, **SMALL)
        assert_same_epochs(expected, ours.create_loader(mine, **SMALL), epochs=1)
        assert mine.transform is None, "the user's own stays as it is"


def test_a_path_that_is_not_there_is_named(tmp_path):
    """timm has an assertion without words for it."""
    with pytest.raises(SourceError, match=r"nowhere: no such file or folder. Check the path"):
        ours.create_dataset("", root=tmp_path / "nowhere", split="train")


def test_a_folder_goes_before_a_packed_file(tmp_path, squares, packed):
    (tmp_path / "train").symlink_to(squares)
    (tmp_path / "train.pen").symlink_to(packed / "train.pen")
    dataset = ours.create_dataset("", root=str(tmp_path), split="train")
    assert isinstance(dataset, timm_data.ImageDataset)


def test_class_numbers_that_are_not_timms_are_refused(tmp_path):
    for name in ("class10", "class2"):
        (tmp_path / "images" / name).mkdir(parents=True)
        PIL.Image.new("RGB", (8, 8)).save(tmp_path / "images" / name / "a.jpg")
    pack(tmp_path / "images", tmp_path / "train.pen")
    with pytest.raises(LoaderError, match=r"class 0 is 'class10'; timm would number 'class2' so"):
        ours.create_dataset("", root=str(tmp_path), split="train")
    theirs = timm_data.ImageDataset(str(tmp_path / "images"))
    labels = [label for _, label in ours.create_loader(theirs, **SMALL)]
    assert labels[0].tolist() == [1, 0] or labels[0].tolist() == [0, 1]
    assert ours.create_loader(theirs, **SMALL).dataset.classes == ("class2", "class10")


@pytest.mark.parametrize(
    "given", [{"class_map": "map.txt"}, {"load_bytes": True}, {"input_img_mode": "L"}]
)
def test_what_only_folders_take_is_refused_for_packed_files(packed, given):
    with pytest.raises(LoaderError, match=f"create_dataset: {next(iter(given))}="):
        ours.create_dataset("", root=str(packed), split="train", **given)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"num_aug_splits": 2}, LoaderError, r"create_loader: num_aug_splits=2: clean and"),
        ({"num_aug_repeats": 3}, LoaderError, r"num_aug_repeats=3 .* distributed is False"),
        ({"tf_preprocessing": True}, LoaderError, r"tf_preprocessing=True: TensorFlow"),
        ({"input_size_choices": [32, 48]}, LoaderError, r"input_size_choices=\[32, 48\]: batches"),
        ({"worker_seeding": len}, LoaderError, r"worker_seeding=.* torch.manual_seed"),
        ({"input_size": (1, 32, 32)}, LoaderError, r"input_size=\(1, 32, 32\) .* 1 channels"),
        ({"auto_augment": "3a"}, TranslationError, r"\n- auto_augment: AutoAugment\("),
        ({"auto_augment": "augmix-m3"}, TranslationError, r"\n- auto_augment: AugMixAugment"),
        (
            {"re_prob": 0.5, "re_mode": "rand", "use_prefetcher": False},
            TranslationError,
            r"\n- re_mode, re_count: RandomErasing.* mode 'rand'",
        ),
        (
            {"re_prob": 0.5, "re_count": 2, "use_prefetcher": False},
            TranslationError,
            r"\n- re_mode, re_count: RandomErasing.* 1 to 2 rectangles",
        ),
    ],
)
def test_what_cannot_be_done_exactly_is_refused_by_name(folder, given, error, told):
    with pytest.raises(error, match=told):
        ours.create_loader(str(folder), **{**SMALL, "is_training": True, **given})


class Changing(torch.utils.data.Dataset):
    def __init__(self, folder):
        self.samples = sorted(folder.rglob("*.jpg"))
        self.transform = None

    def __getitem__(self, index):
        image = PIL.Image.open(self.samples[index]).convert("RGB").transpose(0)
        return self.transform(image), 0

    def __len__(self):
        return len(self.samples)


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda f: Dataset(f, transform=T.Resize(8)), LoaderError, "has a transform"),
        (lambda f: Dataset(f, seed=3), LoaderError, "has seed=3"),
        (lambda f: Dataset(f, as_dict=True), LoaderError, "not pairs of an image and a class"),
        (lambda f: Dataset(f, columns=["name"]), LoaderError, "not pairs of an image and a class"),
        (lambda f: Dataset(sorted(f.rglob("*.jpg"))), LoaderError, "not pairs of an image"),
        (Changing, TranslationError, "dataset Changing: "),
        (
            lambda f: timm_data.ImageDataset(str(f), input_img_mode="L"),
            TranslationError,
            "input_img_mode is 'L'",
        ),
        (
            lambda f: timm_data.ImageDataset(str(f), load_bytes=True),
            TranslationError,
            "load_bytes is given",
        ),
        (
            lambda f: torch.utils.data.Subset(timm_data.ImageDataset(str(f)), [1]),
            TranslationError,
            "go through more than its `transform`, or not through that",
        ),
        (
            lambda f: timm_data.IterableImageDataset(str(f), reader=object()),
            TranslationError,
            "IterableImageDataset is iterated",
        ),
        (lambda f: f / "missing.pen", (SourceError, LoaderError, OSError), "missing.pen"),
    ],
)
def test_data_sets_that_cannot_be_taken(folder, make, error, told):
    with pytest.raises(error, match=told):
        ours.create_loader(make(folder), **SMALL)


def test_bad_files(tmp_path):
    for number in range(4):
        (tmp_path / "a").mkdir(exist_ok=True)
        PIL.Image.new("RGB", (9, 9), (number, 9, 9)).save(tmp_path / "a" / f"{number}.png")
    (tmp_path / "a" / "2.png").write_bytes(b"no image")
    with pytest.raises(Exception, match=r"2\.png"):
        list(ours.create_loader(str(tmp_path), **SMALL))
    mine = ours.create_loader(str(tmp_path), **SMALL, on_error="substitute")
    theirs = timm_data.create_loader(timm_data.ImageDataset(str(tmp_path)), **SMALL)
    assert_same_epochs(theirs, mine)
    with pytest.raises(LoaderError, match=r"Give it to the penstock.torch.Dataset"):
        ours.create_loader(Dataset(tmp_path), **SMALL, on_error="substitute")
