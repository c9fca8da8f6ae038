"""Accelerate prepares our DataLoader: as it leaves it, and with our threads inside again."""

import pytest

import penstock as ps
from penstock import LoaderError
from penstock import transforms as T

torch = pytest.importorskip("torch", reason="torch is not installed")
accelerate = pytest.importorskip("accelerate", reason="Accelerate is not installed")

from accelerate import skip_first_batches  # noqa: E402 (optional)

from accelerate_training import make_accelerator, make_dataset, noted, prepare  # noqa: E402
from penstock.torch import DataLoader, keep_native  # noqa: E402 (needs torch)

HOW = pytest.mark.parametrize("native", [False, True], ids=["plain", "native"])


@pytest.fixture(scope="module")
def folder(make_folder):
    """11 images: six batches of two, the last one shorter."""
    return make_folder(images=11, seed=6)


def samples_of(batches):
    return [sample for samples, _ in batches for sample in samples]


def epoch_of(folder, epoch):
    """What a DataLoader gives without Accelerate, in the order of the data set."""
    loader = DataLoader(make_dataset(folder), batch_size=2)
    loader.set_epoch(epoch)
    return noted(loader)


@HOW
def test_epochs_are_those_of_the_loader(folder, native):
    prepared, _ = prepare(make_accelerator(), make_dataset(folder), native=native, shuffle=False)
    for epoch in range(3):
        assert noted(prepared) == epoch_of(folder, epoch)


@HOW
@pytest.mark.parametrize("seedable", [False, True])
def test_every_sample_comes_once_with_draws_of_its_own(folder, native, seedable):
    accelerator = make_accelerator(use_seedable_sampler=seedable)
    prepared, _ = prepare(accelerator, make_dataset(folder), native=native)
    first, second = noted(prepared), noted(prepared)
    assert sorted(samples_of(first)) == sorted(samples_of(second)) == list(range(11))
    assert samples_of(first) != samples_of(second)
    drawn = [{total for _, sums in epoch for total in sums} for epoch in (first, second)]
    assert not drawn[0] & drawn[1]


@HOW
def test_pixels_are_those_of_torchvisions_loader(folder, torchvision, native):
    v2 = torchvision.transforms.v2
    steps = [v2.Resize(20), v2.CenterCrop(16), v2.PILToTensor()]
    theirs = torchvision.datasets.ImageFolder(folder, v2.Compose(steps))
    ours = make_dataset(folder, T.Compose([T.Resize(20), T.CenterCrop(16)]))
    accelerator = make_accelerator()
    expected = accelerator.prepare(torch.utils.data.DataLoader(theirs, batch_size=4))
    prepared, _ = prepare(accelerator, ours, native=native, batch_size=4, shuffle=False)
    pairs = list(zip(prepared, expected, strict=True))
    assert len(pairs) == 3
    assert all(torch.equal(a, b) for (a, _), (b, _) in pairs)


@HOW
def test_set_epoch_is_followed(folder, native):
    prepared, _ = prepare(make_accelerator(), make_dataset(folder), native=native, shuffle=False)
    prepared.set_epoch(7)
    assert noted(prepared) == epoch_of(folder, 7)
    assert noted(prepared) == epoch_of(folder, 8)


@HOW
def test_an_epoch_that_was_left_is_begun_again(folder, native):
    """Accelerate counts an epoch when it is finished."""
    prepared, _ = prepare(make_accelerator(), make_dataset(folder), native=native, shuffle=False)
    list(prepared)
    for _ in prepared:
        break
    assert noted(prepared) == epoch_of(folder, 1)
    assert noted(prepared) == epoch_of(folder, 2)


@HOW
def test_first_batches_are_skipped(folder, native):
    """Without being read; in the epoch that the loader is in."""
    prepared, loader = prepare(
        make_accelerator(), make_dataset(folder), native=native, shuffle=False
    )
    list(prepared)
    rest = skip_first_batches(prepared, 4)
    if native:
        keep_native(rest, loader)
    assert noted(rest) == epoch_of(folder, 1)[4:]


@HOW
def test_metrics_are_gathered_once_per_sample(folder, native):
    accelerator = make_accelerator()
    prepared, _ = prepare(accelerator, make_dataset(folder), native=native, batch_size=4)
    gathered = [accelerator.gather_for_metrics(labels) for _, labels in prepared]
    assert sorted(torch.cat(gathered).tolist()) == list(range(11))


@HOW
@pytest.mark.parametrize("consumed", [2, 6, 8])
def test_a_saved_state_goes_on(folder, tmp_path, native, consumed):
    """In the middle of an epoch, at its end, and in the next one."""
    if not native:
        pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")
    options = {} if native else {"use_stateful_dataloader": True}

    def make():
        accelerator = make_accelerator(tmp_path, **options)
        prepared, _ = prepare(accelerator, make_dataset(folder), native=native, shuffle=native)
        return accelerator, prepared

    def run(prepared, epochs):
        for epoch in epochs:
            prepared.set_epoch(epoch)
            for batch in prepared:
                yield noted([batch])[0]

    torch.manual_seed(3)
    accelerator, prepared = make()
    whole = []
    for batch in run(prepared, range(3)):
        whole.append(batch)
        if len(whole) == consumed:
            accelerator.save_state(tmp_path / "state")
    assert len(whole) == 18
    torch.manual_seed(8)
    accelerator, prepared = make()
    accelerator.load_state(tmp_path / "state")
    # A loader of torchdata's that was saved at the end of an epoch first has nothing to give.
    after = list(run(prepared, range(consumed // 6, 3)))
    assert after == whole[consumed:]


def test_a_native_loader_goes_on_though_accelerate_counts_from_0_again(folder):
    def make():
        return prepare(make_accelerator(), make_dataset(folder), native=True, shuffle=False)[0]

    prepared = make()
    list(prepared)
    iterator = iter(prepared)
    next(iterator)
    state = prepared.state_dict()
    resumed = make()
    resumed.load_state_dict(state)
    assert noted(resumed) == epoch_of(folder, 1)[1:]
    assert noted(resumed) == epoch_of(folder, 2)


def test_options_of_the_loader_are_kept(folder):
    mixing = T.CutMix(num_classes=11)
    dataset = make_dataset(folder, seed=None)
    prepared, loader = prepare(
        make_accelerator(), dataset, native=True, seed=9, threads=1, batch_transform=mixing,
        batch_size=3, drop_last=True,
    )  # fmt: skip
    inner = prepared.base_dataloader
    assert isinstance(inner, DataLoader)
    assert (inner.seed, inner.threads, inner.batch_transform) == (9, 1, mixing)
    assert len(prepared) == len(loader) == 3
    assert next(iter(prepared))[1].shape == (3, 11)


def test_batches_that_one_process_makes_for_all_are_not_made_natively(folder):
    accelerator = make_accelerator(dispatch_batches=True)
    loader = DataLoader(make_dataset(folder), batch_size=2)
    prepared = accelerator.prepare(loader)
    with pytest.raises(LoaderError, match=r"dispatch_batches=True .* Leave dispatch_batches out"):
        keep_native(prepared, loader)
    assert noted(prepared) == epoch_of(folder, 0)


def test_a_loader_is_left_as_it_is(folder):
    loader = ps.Loader(folder, batch_size=2, transform=T.Resize((8, 8)))
    assert make_accelerator().prepare(loader) is loader


def test_a_loader_has_no_batches_that_accelerate_could_skip(folder):
    loader = ps.Loader(folder, batch_size=2, transform=T.Resize((8, 8)))
    with pytest.raises((ValueError, TypeError, LoaderError)):
        next(iter(skip_first_batches(loader, 2)))
