"""Frameworks take loaders apart and build them anew; ours stay ours, with all their options."""

import inspect
import logging
import warnings

import pytest

from penstock import LoaderError
from penstock import transforms as T

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (optional)
from torch.utils.data import DistributedSampler, SequentialSampler  # noqa: E402 (the same)

from penstock.torch import DataLoader, Dataset, keep_native  # noqa: E402 (the same)

RANDOM = T.Compose(
    [T.RandomResizedCrop(16), T.RandomHorizontalFlip(), T.ToDtype("float32", scale=True)]
)


@pytest.fixture
def dataset(folder):
    return Dataset(folder, transform=RANDOM, seed=5)


def same(one, other):
    return len(one) == len(other) and all(
        torch.equal(a, b)
        for ours, theirs in zip(one, other, strict=True)
        for a, b in zip(ours, theirs, strict=True)
    )


def test_every_argument_of_torchs_loader_is_taken():
    theirs = inspect.signature(TorchLoader.__init__).parameters
    ours = inspect.signature(DataLoader.__init__).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, parameter in theirs.items():
        assert ours[name].default == parameter.default
        assert ours[name].kind == parameter.kind


def options(dataset):
    return {
        "dataset": dataset,
        "batch_size": 4,
        "num_workers": 2,
        "drop_last": True,
        "persistent_workers": True,
        "prefetch_factor": 3,
        "seed": 9,
        "threads": 1,
        "batch_transform": T.CutMix(num_classes=3),
    }


@pytest.mark.parametrize("in_hook", [False, True])
@pytest.mark.parametrize("module", ["lightning.fabric.utilities.data", "pytorch"])
def test_lightning_puts_in_its_sampler(dataset, module, in_hook):
    """In a hook of a LightningModule it notes the arguments; elsewhere it reads attributes."""
    fabric = pytest.importorskip("lightning.fabric.utilities.data")
    if module == "pytorch":
        data = pytest.importorskip("lightning.pytorch.utilities.data")
    else:
        data = fabric
    if in_hook:
        with fabric._replace_dunder_methods(TorchLoader, "dataset"):
            loader = DataLoader(**options(dataset))
    else:
        loader = DataLoader(**options(dataset))
    sampler = DistributedSampler(dataset, num_replicas=2, rank=1, shuffle=False)
    rebuilt = data._update_dataloader(loader, sampler)

    assert type(rebuilt) is DataLoader
    assert rebuilt.sampler is sampler
    wanted = {**options(dataset), "batch_transform": loader.batch_transform}
    assert {name: getattr(rebuilt, name) for name in wanted} == wanted
    by_hand = DataLoader(**options(dataset), sampler=sampler)
    assert same(list(rebuilt), list(by_hand))


def make_module(lightning, loader, seen):
    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3 * 16 * 16, 3)

        def training_step(self, batch, index):
            images, labels = batch
            seen.append((images, labels))
            return torch.nn.functional.cross_entropy(self.layer(images.flatten(1)), labels)

        def predict_step(self, batch, index):
            return batch[1]

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

        def train_dataloader(self):
            return loader()

        def predict_dataloader(self):
            return loader()

    return Module()


@pytest.fixture
def trainer(tmp_path):
    lightning = pytest.importorskip("lightning")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    return lambda **more: lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
        **{"enable_checkpointing": False, **more},
    )


@pytest.mark.filterwarnings("ignore")
def test_lightning_trains_and_predicts(dataset, trainer):
    import lightning

    seen = []
    module = make_module(lightning, lambda: DataLoader(dataset, batch_size=4, num_workers=2), seen)
    trainer(max_epochs=2).fit(module)
    direct = DataLoader(dataset, 4)
    assert same(seen, list(direct) + list(direct))
    predicted = trainer().predict(module)
    assert torch.cat(predicted).tolist() == dataset.labels.tolist()


@pytest.mark.filterwarnings("ignore")
def test_lightning_goes_on_in_the_middle_of_an_epoch(dataset, trainer, tmp_path):
    import lightning

    class Save(lightning.Callback):
        def on_train_batch_end(self, trainer, module, outputs, batch, index):
            if trainer.global_step == 2:
                trainer.save_checkpoint(tmp_path / "a.ckpt")

    def loader():
        return DataLoader(dataset, 4, shuffle=True, generator=torch.Generator().manual_seed(3))

    whole, after = [], []
    trainer(max_epochs=2, callbacks=[Save()]).fit(make_module(lightning, loader, whole))
    resumed = make_module(lightning, loader, after)
    trainer(max_epochs=2).fit(resumed, ckpt_path=tmp_path / "a.ckpt")

    assert len(whole) == 12
    assert same(after, whole[2:])


@pytest.fixture
def accelerator():
    accelerate = pytest.importorskip("accelerate")
    return accelerate.Accelerator(cpu=True)


def test_accelerate_prepares_it(dataset, accelerator):
    """A loader of torch's own is inside then; the Dataset gives the same samples."""
    prepared = accelerator.prepare(DataLoader(dataset, 4))
    assert isinstance(prepared, TorchLoader)
    direct = DataLoader(dataset, 4)
    assert same(list(prepared), list(direct))
    assert same(list(prepared), list(direct)), "Accelerate tells the dataset its epoch"


def test_accelerate_with_native_threads_inside(dataset, accelerator):
    mixing = T.CutMix(num_classes=3)
    loader = DataLoader(dataset, 4, seed=8, batch_transform=mixing, shuffle=True)
    alone = accelerator.prepare(loader)
    with pytest.raises(LoaderError, match=r"keep_native\(prepared, loader\)"):
        next(iter(alone))
    prepared = keep_native(accelerator.prepare(loader), loader)
    assert isinstance(prepared, DataLoader)
    assert prepared.total_batch_size == 4
    direct = DataLoader(dataset, 4, seed=8, batch_transform=mixing, shuffle=True)
    torch.manual_seed(3)
    expected = [list(direct), list(direct)]
    torch.manual_seed(3)
    came = [list(prepared), list(prepared)]
    assert all(map(same, came, expected))


def test_a_prepared_loader_goes_on_from_its_state(dataset, accelerator):
    def make():
        loader = DataLoader(dataset, 4, shuffle=True)
        return keep_native(accelerator.prepare(loader), loader)

    torch.manual_seed(1)
    prepared, rest, state = make(), [], None
    for number, batch in enumerate(prepared):
        if number == 1:
            state = prepared.state_dict()
        elif number > 1:
            rest.append(batch)
    other = make()
    other.load_state_dict(state)
    assert same(list(other), rest)
    assert len(rest) == 4


def test_the_epochs_of_a_prepared_loader_are_accelerates(dataset, accelerator):
    """Also those that were set, and those that come after a state that was loaded."""

    def make():
        loader = DataLoader(dataset, 4, seed=8)
        return keep_native(accelerator.prepare(loader), loader)

    def by_hand(epoch):
        direct = DataLoader(dataset, 4, seed=8)
        direct.set_epoch(epoch)
        return list(direct)

    prepared = make()
    prepared.set_epoch(3)
    state = None
    for number, batch in enumerate(prepared):
        assert same([batch], by_hand(3)[number : number + 1])
        state = prepared.state_dict() if number == 1 else state
    assert same(list(prepared), by_hand(4))
    resumed = make()
    resumed.load_state_dict(state)
    assert same(list(resumed), by_hand(3)[2:])
    assert same(list(resumed), by_hand(4))


def test_keep_native_refuses_what_it_cannot_keep(dataset, folder, accelerator):
    loader = DataLoader(dataset, 4)
    with pytest.raises(LoaderError, match="works natively by itself"):
        keep_native(loader, loader)
    other = accelerator.prepare(DataLoader(Dataset(folder), 4))
    with pytest.raises(LoaderError, match=r"a penstock\.torch\.DataLoader .* got a Dataset"):
        keep_native(other, dataset)
    with pytest.raises(LoaderError, match="another dataset"):
        keep_native(other, loader)


def test_it_is_told_when_all_ranks_get_the_same(dataset, monkeypatch):
    distributed = torch.distributed
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(distributed, "get_world_size", lambda: 2)
    loader = DataLoader(dataset, 4)
    with pytest.warns(UserWarning, match=r"rank 1 of 2, but SequentialSampler lists the same"):
        next(iter(loader))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(iter(loader))
        next(iter(DataLoader(dataset, 4, sampler=DistributedSampler(dataset, 2, 1))))
    assert isinstance(loader.sampler, SequentialSampler)


@pytest.mark.filterwarnings("ignore")
def test_a_trainer_of_transformers_takes_the_dataset(folder, tmp_path):
    transformers = pytest.importorskip("transformers")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3 * 16 * 16, 3)
            self.seen = []

        def forward(self, image, labels):
            self.seen.extend(labels.tolist())
            logits = self.layer(image.flatten(1))
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    model = Model()
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        per_device_train_batch_size=4,
        num_train_epochs=1,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    dataset = Dataset(folder, transform=RANDOM, as_dict=True)
    transformers.Trainer(model, arguments, train_dataset=dataset).train()
    assert sorted(model.seen) == sorted(dataset.labels.tolist())
