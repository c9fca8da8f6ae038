"""The loader is torch's own kind: its order, its random numbers, its batches; made natively."""

import copy
import gc
import pickle
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest

from layout_samples import LAYOUTS
from penstock import Loader, LoaderError, open_image_folder, pack
from penstock import transforms as T

torch = pytest.importorskip("torch")

from torch.utils import data as torch_data  # noqa: E402 (optional)
from torch.utils.data import (  # noqa: E402 (the same)
    BatchSampler,
    RandomSampler,
    Subset,
    WeightedRandomSampler,
    default_collate,
)
from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (the same)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)

RANDOM = T.Compose(
    [T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToDtype("float32", scale=True)]
)
MANY_SIZES = T.Compose([T.RandomHorizontalFlip(0.5), T.RandomShortestSize([24, 32, 48])])


@pytest.fixture
def dataset(folder):
    return Dataset(folder, transform=RANDOM, seed=5)


def same(one, other):
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    return one == other


def epochs_of(loader, count=3):
    """All batches of some epochs, and how torch's generator stands after each."""
    torch.manual_seed(0)
    epochs = []
    for epoch in range(count):
        if type(loader) is TorchLoader:  # ours counts by itself
            loader.dataset.set_epoch(epoch)
        epochs.append((list(loader), torch.get_rng_state()))
    return epochs


def generator():
    return torch.Generator().manual_seed(9)


@pytest.mark.parametrize(
    "options",
    [
        dict,
        lambda: {"shuffle": True},
        lambda: {"shuffle": True, "drop_last": True},
        lambda: {"shuffle": True, "generator": generator()},
        lambda: {"shuffle": True, "num_workers": 2},
        lambda: {"shuffle": True, "num_workers": 1, "persistent_workers": True},
        lambda: {"sampler": RandomSampler(range(23), num_samples=11, generator=generator())},
        lambda: {"sampler": [3, 1, 2, -1]},
        lambda: {"collate_fn": lambda samples: [label for _, label in samples]},
    ],
)
def test_order_and_random_numbers_are_torchs(dataset, options):
    """The same batches, epoch after epoch, and the same draws from torch's generator."""
    theirs = epochs_of(TorchLoader(dataset, batch_size=4, **options()))
    ours = epochs_of(DataLoader(dataset, batch_size=4, **options()))
    assert same([batches for batches, _ in ours], [batches for batches, _ in theirs])
    assert same([state for _, state in ours], [state for _, state in theirs])


def test_it_is_torchs_own_kind(dataset):
    loader = DataLoader(dataset, 4, shuffle=True, num_workers=2, drop_last=True)
    theirs = TorchLoader(dataset, 4, shuffle=True, num_workers=2, drop_last=True)
    assert isinstance(loader, TorchLoader)
    assert isinstance(loader.sampler, RandomSampler)
    assert isinstance(loader.batch_sampler, BatchSampler)
    assert loader.batch_sampler.sampler is loader.sampler
    names = [
        *("batch_size", "num_workers", "collate_fn", "drop_last", "generator", "pin_memory"),
        *("prefetch_factor", "persistent_workers", "timeout", "worker_init_fn"),
        *("multiprocessing_context", "dataset"),
    ]
    assert {n: getattr(loader, n) for n in names} == {n: getattr(theirs, n) for n in names}
    assert len(loader) == len(theirs) == 5


def test_no_process_is_started_and_no_warning_given(dataset):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader = DataLoader(
            dataset,
            4,
            num_workers=64,
            persistent_workers=True,
            worker_init_fn=lambda _: pytest.fail("there are no workers"),
            multiprocessing_context="spawn",
            timeout=5,
        )
        next(iter(loader))
    assert torch.multiprocessing.active_children() == []


def test_draws_without_a_seed_follow_torchs(folder):
    """Repeated by torch.manual_seed, whatever the order and the sizes of batches."""
    dataset = Dataset(folder, transform=RANDOM)
    loader = DataLoader(dataset, 23)
    torch.manual_seed(2)
    (first,), (second,) = list(loader), list(loader)
    torch.manual_seed(2)
    assert same(list(loader), [first])
    assert not same(first, second)
    torch.manual_seed(2)
    backwards = DataLoader(dataset, 7, sampler=range(22, -1, -1))
    images = torch.cat([images for images, _ in backwards])
    assert same(images.flip(0), first[0])


def test_persistent_workers_draw_anew_in_every_epoch(folder):
    """torch draws no new seed for them, and neither do we."""
    loader = DataLoader(
        Dataset(folder, transform=RANDOM), 23, num_workers=1, persistent_workers=True
    )
    first, second, third = list(loader), list(loader), list(loader)
    assert not same(first, second)
    assert not same(second, third)


def test_a_schedule_over_the_training_is_followed(folder):
    transform = T.Compose([T.Resize((24, 24)), T.PopulationBasedAugment(epochs=4)])
    torch.manual_seed(0)
    loader = DataLoader(Dataset(folder, transform=transform), 23)
    loader.set_epoch(3)
    late = list(loader)
    torch.manual_seed(0)
    loader.set_epoch(0)
    assert not same(list(loader), late)


@pytest.mark.parametrize("epoch", [0, 4])
def test_draws_with_a_seed_are_a_loaders(folder, epoch):
    ours = DataLoader(Dataset(folder, transform=RANDOM), 4, seed=3)
    loader = Loader(folder, transform=RANDOM, batch_size=4, seed=3)
    ours.set_epoch(epoch)
    loader.set_epoch(epoch)
    for _ in range(2):
        assert same(list(ours), [list(batch) for batch in loader])
    assert ours.epoch == loader.epoch == epoch + 2


def test_a_sample_that_comes_again_is_drawn_anew(folder):
    loader = DataLoader(Dataset(folder, transform=RANDOM, seed=2), 1, sampler=[4, 4])
    expected = Loader(folder, transform=RANDOM, seed=2, indices=[4, 4], batch_size=1)
    first, second = loader
    assert same([first, second], [list(batch) for batch in expected])
    assert not same(first, second)


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
        assert same(batch, default_collate(dataset.__getitems__(indices)))


def test_detection_batches_are_a_loaders(tmp_path):
    path = LAYOUTS["coco"][0](tmp_path / "data")
    for targets in ("list", "padded"):
        options = {"transform": MANY_SIZES, "seed": 4, "targets": targets}
        expected = Loader(path, batch_size=3, **options)
        ours = DataLoader(Dataset(path, **options), 3)
        assert same(list(ours), [list(batch) for batch in expected])


def test_a_collate_function_gets_samples_of_any_size(tmp_path, folder):
    path = LAYOUTS["coco"][0](tmp_path / "data")
    dataset = Dataset(path, transform=MANY_SIZES, seed=4)
    loader = DataLoader(dataset, 3, collate_fn=lambda samples: tuple(zip(*samples, strict=True)))
    images, targets = next(iter(loader))
    assert same(list(zip(images, targets, strict=True)), dataset.__getitems__(range(3)))
    sizes = DataLoader(Dataset(folder), 4, collate_fn=lambda batch: [i.shape for i, _ in batch])
    assert len({shape for batch in sizes for shape in batch}) > 1
    with pytest.raises(LoaderError, match="a batch needs one size"):
        list(DataLoader(Dataset(folder), 4))


def test_single_samples(dataset):
    ours, theirs = DataLoader(dataset, batch_size=None), TorchLoader(dataset, batch_size=None)
    assert same(list(ours), list(theirs))
    assert len(ours) == 23
    named = DataLoader(dataset, batch_size=None, collate_fn=lambda sample: sample[1])
    assert list(named) == dataset.labels.tolist()


def test_subsets(dataset):
    inner = Subset(dataset, range(20, 0, -1))
    outer = Subset(inner, [3, 0, 19])
    for subset in (inner, outer, torch_data.random_split(dataset, [20, 3])[1]):
        ours, theirs = DataLoader(subset, 2, shuffle=True), TorchLoader(subset, 2, shuffle=True)
        torch.manual_seed(1)
        expected = list(theirs)
        torch.manual_seed(1)
        assert same(list(ours), expected)


def test_replacements_come_from_the_subset(make_folder):
    root = make_folder(images=6, classes=1)
    (root / "class_0" / "002.jpg").write_bytes(b"no image")
    dataset = Dataset(root, transform=T.Resize((8, 8)), on_error="substitute")
    (images, _) = next(iter(DataLoader(Subset(dataset, [0, 2]), 2)))
    assert same(images[0], images[1])


def test_bad_files_are_left_out_of_batches(make_folder):
    root = make_folder(images=6, classes=1)
    (root / "class_0" / "002.jpg").write_bytes(b"no image")
    loader = DataLoader(Dataset(root, transform=T.Resize((8, 8)), on_error="skip"), 3)
    assert [len(labels) for _, labels in loader] == [2, 3]
    assert loader.ledger.counts() == {"skipped": 1}


@pytest.mark.parametrize("form", [str, open_image_folder, lambda f: sorted(f.rglob("*.jpg"))])
def test_data_sets_may_be_given_as_to_a_loader(make_folder, form):
    root = make_folder(images=4, sides=(40, 41))
    loader = DataLoader(form(root), 2, seed=1, threads=1)
    assert isinstance(loader.dataset, Dataset)
    assert loader.dataset.seed == 1
    assert len(list(loader)) == 2


class Other(torch_data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index


class OwnSubset(Subset):
    def __getitem__(self, index):
        return 0

    def __getitems__(self, indices):
        return [0 for _ in indices]


def test_other_datasets_are_refused(dataset):
    others = [Other(), OwnSubset(dataset, [1]), torch_data.ConcatDataset([dataset]), 5]
    for other in others:
        with pytest.raises(LoaderError, match=r"cannot be made natively.*penstock\.accelerate"):
            DataLoader(other)


def test_mixing_is_a_loaders(folder):
    transform = T.Compose([RANDOM])
    mixing = T.CutMix(num_classes=3)
    ours = DataLoader(Dataset(folder, transform=transform), 4, seed=3, batch_transform=mixing)
    loader = Loader(folder, transform=transform, batch_size=4, seed=3, batch_transform=mixing)
    assert same(list(ours), [list(batch) for batch in loader])
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


def test_samplers_of_all_kinds(dataset):
    weights = torch.ones(23)
    for sampler in (WeightedRandomSampler(weights, 9), np.arange(9), torch.arange(9)):
        assert sum(len(labels) for _, labels in DataLoader(dataset, 4, sampler=sampler)) == 9
    batches = [[1, 2, 3], [4], [5, 6]]
    loader = DataLoader(dataset, batch_sampler=batches)
    assert [len(labels) for _, labels in loader] == [3, 1, 2]
    assert loader.batch_size is None


def test_what_a_sampler_does_wrong_comes_in_its_turn(dataset):
    def failing():
        yield from range(6)
        raise ZeroDivisionError

    came = []
    with pytest.raises(ZeroDivisionError):
        came.extend(DataLoader(dataset, 2, sampler=failing()))
    assert len(came) == 3
    loader = DataLoader(dataset, batch_sampler=[[1], [23]])
    iterator = iter(loader)
    assert len(next(iterator)) == 2
    with pytest.raises(IndexError, match="lists sample 23 of 23"):
        next(iterator)
    for wrong, message in (([[]], "without samples"), ([["a"]], "must list whole numbers")):
        with pytest.raises(LoaderError, match=message):
            next(iter(DataLoader(dataset, batch_sampler=wrong)))


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


def threads_since(before):
    """Names of our threads that have begun since, and do not end."""
    begun = [t for t in threading.enumerate() if t.name.startswith("penstock-")]
    left = [thread for thread in begun if thread not in before]
    for thread in left:
        thread.join(10)
    return [t.name for t in left if t.is_alive()]


def test_leaving_early_and_going_away(dataset):
    before = threading.enumerate()
    loader = DataLoader(dataset, 2)
    for _ in loader:
        break
    assert len(list(loader)) == 12
    first, second = iter(loader), iter(loader)
    assert len(list(zip(first, second, strict=True))) == 12
    del loader, first, second
    gc.collect()
    assert threads_since(before) == []


def test_closing(dataset):
    before = threading.enumerate()
    loader = DataLoader(dataset, 2)
    iterator = iter(loader)
    next(iterator)
    loader.close()
    assert threads_since(before) == []
    with pytest.raises(LoaderError, match="closed"):
        list(iterator)
    assert len(list(loader)) == 12


def test_an_exception_in_the_loop_or_in_collate_leaves_it_usable(dataset):
    loader = DataLoader(dataset, 2, collate_fn=lambda samples: 1 / (samples[0][1] - 1))
    with pytest.raises(ZeroDivisionError):
        list(loader)
    loader.collate_fn = len
    assert sum(loader) == 23


@pytest.mark.parametrize("carry", [lambda d: pickle.loads(pickle.dumps(d)), copy.deepcopy])  # noqa: S301 (our own bytes)
def test_a_loader_can_be_carried_elsewhere(dataset, carry):
    """Before it was iterated: torchdata, once imported, keeps iterators in torch's own samplers."""
    loader = DataLoader(dataset, 4, shuffle=True, batch_transform=T.CutMix(num_classes=3), seed=1)
    other = carry(loader)
    torch.manual_seed(1)
    expected = list(loader)
    torch.manual_seed(1)
    assert same(list(other), expected)


def test_a_forked_child_works_by_itself_and_exits_are_clean(folder):
    script = f"""
    import os, warnings
    warnings.simplefilter("ignore")
    from penstock import transforms as T
    from penstock.torch import DataLoader, Dataset
    loader = DataLoader(Dataset({str(folder)!r}, transform=T.RandomResizedCrop(16), seed=1), 4)
    it = iter(loader)
    next(it)
    child = os.fork()
    if child == 0:
        os._exit(sum(len(labels) for _, labels in loader))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 23
    assert sum(len(labels) for _, labels in it) == 19
    next(iter(loader))  # and leave in the middle
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_set_epoch_tells_the_samplers(dataset):
    class Told(RandomSampler):
        epoch = None

        def set_epoch(self, epoch):
            self.epoch = epoch

    sampler = Told(dataset)
    loader = DataLoader(dataset, 4, sampler=sampler)
    loader.set_epoch(3)
    assert (sampler.epoch, loader.epoch) == (3, 3)
    with pytest.raises(LoaderError, match="set_epoch: epoch must be"):
        loader.set_epoch(-1)


def test_repr_says_what_it_is(dataset):
    said = repr(DataLoader(dataset, 4, shuffle=True, threads=3))
    assert "batch_size=4, RandomSampler, threads=3, draws from seed=5" in said
