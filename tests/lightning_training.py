"""A Lightning training that notes what it is given, and the loaders that it can be given."""

import logging
import warnings
from pathlib import Path

import torch

import penstock as ps
from penstock import transforms as T
from penstock.torch import DataLoader, Dataset

RANDOM = T.Compose(
    [T.RandomResizedCrop(8), T.RandomHorizontalFlip(), T.ToDtype("float32", scale=True)]
)
KINDS = ("module", "torch", "loader")
SEED = 5


def files_in(folder):
    return sorted(Path(folder).rglob("*.jpg"))


def make_loader(kind, folder, *, batch_size=4, shuffle=True, **options):
    """A loader of ours over a folder, whose labels are the numbers of samples."""
    files = files_in(folder)
    if kind == "loader":
        return ps.Loader(
            files,
            labels=range(len(files)),
            transform=RANDOM,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=SEED,
            **options,
        )
    dataset = Dataset(files, labels=range(len(files)), transform=RANDOM, seed=SEED)
    generator = torch.Generator().manual_seed(SEED)
    return DataLoader(
        dataset, batch_size=batch_size, shuffle=shuffle, generator=generator, **options
    )


def make_model(lightning, folder=None, kind=None, **options):
    """A model with loaders of one kind; or without, for a data module."""

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3 * 8 * 8, 3)
            self.trained, self.validated = [], []

        def training_step(self, batch, index):
            batches = batch if isinstance(batch[0], (list, tuple)) else [batch]
            for images, labels in batches:
                self.trained.append((self.current_epoch, labels.tolist(), images.clone()))
            return self.layer(batches[0][0].flatten(1)).mean()

        def validation_step(self, batch, index):
            if not self.trainer.sanity_checking:
                images, labels = batch
                self.validated.append((self.current_epoch, labels.tolist(), images.clone()))

        def predict_step(self, batch, index):
            return batch[1]

        def test_step(self, batch, index):
            self.layer(batch[0].flatten(1))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    if kind in {"torch", "loader"}:
        _offer_loaders(Model, kind, folder, **options)
    return Model()


def _offer_loaders(model_class, kind, folder, *, validates=False, **options):
    model_class.train_dataloader = lambda _: make_loader(kind, folder, **options)
    if validates:
        model_class.val_dataloader = lambda _: make_loader(kind, folder, shuffle=False)


def make_data(folder, *, validates=False, batch_size=4, shuffle=True, **options):
    """The data module for `make_model`, or None where the model has loaders."""
    from penstock.lightning import DataModule

    files = files_in(folder)
    return DataModule(
        files,
        files if validates else None,
        batch_size=batch_size,
        transform=RANDOM,
        val_transform=RANDOM if validates else None,
        labels=range(len(files)),
        shuffle=shuffle,
        seed=SEED,
        **options,
    )


def make_trainer(lightning, folder, **options):
    """A Trainer that says and writes nothing."""
    logging.getLogger(lightning.__name__).setLevel(logging.ERROR)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    defaults = {
        "max_epochs": 2,
        "enable_checkpointing": False,
        "accelerator": "cpu",
        "devices": 1,
        "logger": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "default_root_dir": folder,
    }
    return lightning.Trainer(**{**defaults, **options})


def fit(lightning, kind, folder, target, *, resume=None, data=None, **options):
    """Return a model that was trained, with `data` for its loaders and `options` for Trainers."""
    given = data or {}
    validates = given.get("validates", False)
    model = make_model(lightning, folder, kind, **given)
    module = make_data(folder, **given) if kind == "module" else None
    trainer = make_trainer(lightning, target, limit_val_batches=1.0 * validates, **options)
    trainer.fit(model, datamodule=module, ckpt_path=resume)
    return model


def save_at(lightning, path, *, step=None, epoch=None):
    """A callback that saves a checkpoint after so many steps, or at the end of an epoch."""

    class Save(lightning.Callback):
        def on_train_batch_end(self, trainer, module, outputs, batch, index):
            if trainer.global_step == step:
                trainer.save_checkpoint(path)

        def on_train_epoch_end(self, trainer, module):
            if trainer.current_epoch == epoch:
                trainer.save_checkpoint(path)

    return Save()


def same(ours, theirs):
    """Whether two trainings were given the same samples with the same pixels, in the same order."""
    return len(ours) == len(theirs) and all(
        mine[:2] == other[:2] and torch.equal(mine[2], other[2])
        for mine, other in zip(ours, theirs, strict=True)
    )


def samples_of(given, epoch):
    """The samples of one epoch, in their order."""
    return [sample for when, samples, _ in given if when == epoch for sample in samples]
