"""Lightning's Trainer with a data module of ours, with our DataLoader and with a Loader."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import LoaderError
from penstock import transforms as T

torch = pytest.importorskip("torch", reason="torch is not installed")
lightning = pytest.importorskip("lightning", reason="Lightning is not installed")

from lightning_training import (  # noqa: E402 (needs torch)
    KINDS,
    SEED,
    files_in,
    fit,
    make_data,
    make_loader,
    make_model,
    make_trainer,
    same,
    samples_of,
    save_at,
)
from penstock.lightning import DataModule  # noqa: E402 (needs Lightning)
from penstock.lightning.base import find_lightning  # noqa: E402 (the same)
from penstock.torch import DataLoader, Dataset  # noqa: E402 (needs torch)

pytestmark = pytest.mark.filterwarnings("ignore")
TO_FLOAT = T.ToDtype("float32", scale=True)


@pytest.fixture(scope="module")
def folder(make_folder):
    """18 images: five batches of four, the last one shorter."""
    return make_folder(images=18, seed=3)


def test_it_is_a_data_module(folder):
    module = make_data(folder)
    assert isinstance(module, lightning.LightningDataModule)
    loader = module.train_dataloader()
    assert isinstance(loader, DataLoader)
    assert isinstance(loader, torch.utils.data.DataLoader)
    assert len(loader) == 5


@pytest.mark.parametrize("kind", KINDS)
def test_every_sample_comes_once_in_an_epoch(folder, tmp_path, kind):
    trained = fit(lightning, kind, folder, tmp_path).trained
    first, second = samples_of(trained, 0), samples_of(trained, 1)
    assert sorted(first) == sorted(second) == list(range(18))
    assert first != second
    images = [{int(torch.sum(i * 1e4)) for e, _, b in trained if e == epoch for i in b}
              for epoch in (0, 1)]  # fmt: skip
    assert not images[0] & images[1], "drawn anew"


@pytest.mark.parametrize("kind", KINDS)
def test_pixels_are_those_of_torchvisions_loader(folder, tmp_path, torchvision, kind):
    """In training and in validation, against ImageFolder with v2 transforms on Pillow images."""
    v2 = torchvision.transforms.v2
    theirs = torchvision.datasets.ImageFolder(
        folder,
        v2.Compose(
            [v2.Resize(20), v2.CenterCrop(16), v2.PILToTensor(), v2.ToDtype(torch.float32, True)]
        ),
    )
    ours = T.Compose([T.Resize(20), T.CenterCrop(16), TO_FLOAT])
    seen = []

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3 * 16 * 16, 3)

        def training_step(self, batch, index):
            seen.append(batch)
            return self.layer(batch[0].flatten(1)).mean()

        def validation_step(self, batch, index):
            seen.append(batch)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    def run(*loaders, **more):
        seen.clear()
        trainer = make_trainer(lightning, tmp_path, max_epochs=1, num_sanity_val_steps=0)
        trainer.fit(Model(), *loaders, **more)
        return list(seen)

    expected = run(*[torch.utils.data.DataLoader(theirs, batch_size=4) for _ in range(2)])
    if kind == "module":
        module = DataModule(
            folder, folder, batch_size=4, transform=ours, val_transform=ours, shuffle=False
        )
        got = run(datamodule=module)
    elif kind == "torch":
        dataset = Dataset(folder, transform=ours)
        got = run(*[DataLoader(dataset, batch_size=4) for _ in range(2)])
    else:
        import penstock as ps

        got = run(*[ps.Loader(folder, transform=ours, batch_size=4) for _ in range(2)])
    assert len(got) == len(expected) == 10
    for (images, labels), (their_images, their_labels) in zip(got, expected, strict=True):
        assert torch.equal(images, their_images)
        assert torch.equal(labels, their_labels)


@pytest.mark.parametrize("kind", KINDS)
def test_the_sanity_check_shifts_nothing(folder, tmp_path, kind):
    """Validation draws at random here, so that another epoch would show."""
    data = {"validates": True}
    with_check, without = (
        fit(lightning, kind, folder, tmp_path, data=data, num_sanity_val_steps=steps)
        for steps in (2, 0)
    )
    assert same(with_check.trained, without.trained)
    assert same(with_check.validated, without.validated)
    assert len(without.validated) == 10
    assert not torch.equal(without.validated[0][2], without.validated[5][2]), "another epoch"


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_in_the_middle_of_an_epoch_goes_on(folder, tmp_path, kind, shuffle, workers):
    if kind == "loader" and workers:
        pytest.skip("a Loader has no num_workers")
    data = {"shuffle": shuffle, **({"num_workers": workers} if workers else {})}
    path = tmp_path / "a.ckpt"
    for step in (2, 7):
        save = save_at(lightning, path, step=step)
        whole = fit(lightning, kind, folder, tmp_path, data=data, callbacks=[save]).trained
        after = fit(lightning, kind, folder, tmp_path, data=data, resume=path).trained
        assert len(whole) == 10
        assert same(after, whole[step:])


@pytest.mark.parametrize("limit", [1.0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_at_the_end_of_an_epoch_goes_on(folder, tmp_path, kind, limit):
    """Also where the Trainer cut the epoch short: the rest of it does not come later.

    From such a checkpoint Lightning itself loads no loader's state, so that a generator of torch's
    would begin anew; a data module and a Loader have no need of it.
    """
    path = tmp_path / "a.ckpt"
    options = {"limit_train_batches": limit, "max_epochs": 3, "data": {"shuffle": kind != "torch"}}
    save = save_at(lightning, path, epoch=0)
    whole = fit(lightning, kind, folder, tmp_path, callbacks=[save], **options).trained
    after = fit(lightning, kind, folder, tmp_path, resume=path, **options).trained
    count = 5 if limit == 1.0 else 3
    assert len(whole) == 3 * count
    assert same(after, whole[count:])


@pytest.mark.parametrize("kind", KINDS)
def test_loaders_that_are_made_anew_every_epoch_run_the_right_one(folder, tmp_path, kind):
    """And each epoch is another one."""
    data = {"shuffle": kind != "torch"}  # torch's order follows from a generator, made anew, too
    reloaded = fit(
        lightning, kind, folder, tmp_path, data=data, reload_dataloaders_every_n_epochs=1
    )
    kept = fit(lightning, kind, folder, tmp_path, data=data)
    assert same(reloaded.trained, kept.trained)
    assert not torch.equal(kept.trained[0][2], kept.trained[5][2])


@pytest.mark.parametrize("kind", ["torch", "loader"])
def test_two_loaders_go_on_together(folder, make_folder, tmp_path, kind):
    """The shorter one is run through twice in each epoch, and is saved in its second run."""
    small = make_folder(images=11, seed=4)
    path = tmp_path / "a.ckpt"

    def run(resume=None, **options):
        model = make_model(lightning)
        trainer = make_trainer(lightning, tmp_path, **options)
        loaders = [make_loader(kind, folder), make_loader(kind, small)]
        trainer.fit(model, train_dataloaders=loaders, ckpt_path=resume)
        return model.trained

    whole = run(callbacks=[save_at(lightning, path, step=4)])
    assert len(whole) == 20
    assert same(run(resume=path), whole[8:])
    first_run = [sample for _, samples, _ in whole[1:6:2] for sample in samples]
    assert sorted(first_run) == list(range(11))
    images = [float(image.sum()) for _, _, images in whole[1::2] for image in images]
    assert len(set(images)) == len(images), "no epoch of the shorter one comes twice"


def test_predictions_come_in_order(folder, tmp_path):
    files = files_in(folder)
    module = DataModule(
        predict=files, batch_size=4, labels=range(18), val_transform=T.Compose([T.Resize((8, 8))])
    )
    found = make_trainer(lightning, tmp_path).predict(make_model(lightning), datamodule=module)
    assert torch.cat(found).tolist() == list(range(18))


def test_testing_a_checkpoint_does_not_move_the_next_training(folder, tmp_path):
    path = tmp_path / "a.ckpt"
    save = save_at(lightning, path, step=2)
    whole = fit(lightning, "module", folder, tmp_path, callbacks=[save]).trained
    module = DataModule(
        files_in(folder), test=files_in(folder), batch_size=4, labels=range(18), seed=SEED,
        transform=RANDOM_CROP, val_transform=RANDOM_CROP,
    )  # fmt: skip
    model = make_model(lightning)
    make_trainer(lightning, tmp_path).test(model, datamodule=module, ckpt_path=path)
    make_trainer(lightning, tmp_path).fit(model, datamodule=module)
    assert [samples for _, samples, _ in model.trained] == [samples for _, samples, _ in whole]


RANDOM_CROP = T.Compose([T.RandomResizedCrop(8), TO_FLOAT])


def test_it_is_saved_and_goes_on_without_a_trainer(folder):
    module = make_data(folder)
    iterator = iter(module.train_dataloader())
    next(iterator)
    state, rest = module.state_dict(), list(iterator)
    other = make_data(folder)
    other.load_state_dict(state)
    assert other.state_dict() == state
    came = list(other.train_dataloader())
    assert [labels.tolist() for _, labels in came] == [labels.tolist() for _, labels in rest]
    assert all(torch.equal(a, b) for (a, _), (b, _) in zip(came, rest, strict=True))
    assert len(list(other.train_dataloader())) == 5, "once"


def test_only_training_is_shuffled_mixed_and_cut(folder):
    module = make_data(
        folder, validates=True, drop_last=True, batch_transform=T.CutMix(num_classes=18)
    )
    train, val = module.train_dataloader(), module.val_dataloader()
    assert (len(train), len(val)) == (4, 5)
    assert next(iter(train))[1].shape == (4, 18)
    assert torch.cat([labels for _, labels in val]).tolist() == list(range(18))


def test_data_sets_are_taken_as_they_are(folder):
    dataset = Dataset(folder, transform=RANDOM_CROP, seed=SEED)
    part = torch.utils.data.Subset(dataset, range(6))
    module = DataModule(part, dataset, batch_size=4)
    assert sum(len(labels) for _, labels in module.train_dataloader()) == 6
    assert module.dataset("val") is dataset
    assert module.classes == ("class_0", "class_1", "class_2")


def test_loaders_of_a_subclass_come_first(folder):
    class Own(DataModule):
        def train_dataloader(self):
            return [self.loader("train"), self.loader("train")]

    module = Own(folder, batch_size=4, transform=RANDOM_CROP)
    assert len(module.train_dataloader()) == 2


def test_lightning_finds_no_loader_where_there_is_no_data(folder, tmp_path):
    module = make_data(folder)
    with pytest.raises(Exception, match="val_dataloader"):
        make_trainer(lightning, tmp_path).validate(make_model(lightning), datamodule=module)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"val": None, "train": None}, "no data"),
        ({"seed": None}, "seed must be a whole number, got None"),
        ({"sampler": [1, 2]}, "no option 'sampler'.*override train_dataloader"),
        ({"val_transform": None}, "none for val. Give val_transform="),
        ({"train": "dataset"}, "train is a Dataset, .* got transform= as well"),
        ({"train": "dataset", "transform": None, "dtype": "uint8"}, "got dtype= as well"),
    ],
)
def test_what_would_be_ignored_or_wrong_is_refused(folder, options, message):
    given = {
        "train": folder,
        "val": folder,
        "batch_size": 4,
        "transform": RANDOM_CROP,
        "val_transform": RANDOM_CROP,
        **options,
    }
    if given["train"] == "dataset":
        given["train"] = Dataset(folder)
    with pytest.raises(LoaderError, match=message):
        DataModule(**given)


def test_stages_are_named(folder):
    module = make_data(folder)
    with pytest.raises(LoaderError, match=r"no 'test' data; there is train. Give .*test="):
        module.dataset("test")
    with pytest.raises(LoaderError, match=r"'tset' is none of train, val, test, predict"):
        module.dataset("tset")


def test_overfitting_is_refused_for_a_loader_and_done_for_others(folder, tmp_path):
    """It needs samplers that Lightning can replace; a Loader has an order of its own."""
    trained = fit(lightning, "torch", folder, tmp_path, overfit_batches=2).trained
    assert samples_of(trained, 0) == samples_of(trained, 1) == list(range(8))
    trained = fit(lightning, "module", folder, tmp_path, overfit_batches=2).trained
    assert samples_of(trained, 0) == samples_of(trained, 1) == list(range(8))
    with pytest.raises(ValueError, match="needs to subclass"):
        fit(lightning, "loader", folder, tmp_path, overfit_batches=2)


@pytest.mark.slow  # importing it takes longer than all the rest
def test_the_other_package_of_lightning_is_taken_where_it_was_imported(folder, tmp_path):
    pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
    script = (
        "import sys, pytorch_lightning\n"
        "from lightning_training import fit, samples_of\n"
        "from penstock.lightning import DataModule\n"
        "assert issubclass(DataModule, pytorch_lightning.LightningDataModule)\n"
        "trained = fit(pytorch_lightning, 'module', *sys.argv[1:]).trained\n"
        "assert sorted(samples_of(trained, 1)) == list(range(18))\n"
        "assert 'lightning.pytorch' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, folder, tmp_path],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_lightning_is_needed(monkeypatch):
    from penstock.lightning import base

    monkeypatch.setattr(base, "find_spec", lambda _: None)
    for module in ("lightning.pytorch", "pytorch_lightning"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(LoaderError, match="neither lightning nor pytorch_lightning"):
        base.find_lightning()


def test_without_lightning_it_says_what_to_install(monkeypatch):
    for name in ("lightning", "lightning.pytorch", "pytorch_lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(LoaderError, match="neither lightning nor pytorch_lightning is installed"):
        find_lightning()
