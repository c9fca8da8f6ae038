"""Lightning's data module, over the data sets of a training."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

from torch.utils import data as torch_data

from penstock.errors import LoaderError
from penstock.lightning.base import find_lightning
from penstock.lightning.shares import EvenShare, OwnShare
from penstock.loading.ranks import find_ranks
from penstock.torch import DataLoader, Dataset

_STAGES = ("train", "val", "test", "predict")
_OPENED_FOR = {
    "fit": ("train", "val"),
    "validate": ("val",),
    "test": ("test",),
    "predict": ("predict",),
}
_OF_LOADERS = frozenset(
    ("collate_fn", "num_workers", "persistent_workers", "pin_memory", "prefetch_factor", "threads")
)
_OF_DATASETS = frozenset(inspect.signature(Dataset).parameters) - {
    *("data", "transform", "seed", "threads"),
}

_LightningDataModule: Any = find_lightning().LightningDataModule


class DataModule(_LightningDataModule):  # type: ignore[misc]  # known only when it is imported
    """A LightningDataModule whose loaders are of `penstock.torch.DataLoader`'s kind.

    `train`, `val`, `test` and `predict` are whatever `penstock.Loader` reads: a packed file, a
    folder, a list of files. Or data sets: a `penstock.torch.Dataset`, or a `Subset` of one; these
    have their transforms already.

    Several processes share each data set by themselves, whatever the Trainer's
    `use_distributed_sampler` says. A checkpoint that was saved in the middle of an epoch goes on
    with the batches that had not come yet (docs/frameworks/lightning.md).

    - `batch_size`: of one process, as everywhere in Lightning.
    - `transform`: for training.
    - `val_transform`: for the three others.
    - `shuffle`, `drop_last`, `batch_transform`: for training only.
    - `seed`: order and draws follow from it and the epoch, on every process and after resuming.
    - `options`: further arguments of `penstock.torch.Dataset`, such as `targets`; and of
      `penstock.torch.DataLoader`: `collate_fn`, `num_workers`, `persistent_workers`, `pin_memory`,
      `prefetch_factor` and `threads`.
    """

    def __init__(
        self,
        train: Any = None,
        val: Any = None,
        test: Any = None,
        predict: Any = None,
        *,
        batch_size: int,
        transform: Any = None,
        val_transform: Any = None,
        shuffle: bool = True,
        drop_last: bool = False,
        batch_transform: Any = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        super().__init__()
        data = zip(_STAGES, (train, val, test, predict), strict=True)
        self._data = {stage: given for stage, given in data if given is not None}
        self._transforms = {"train": transform, **dict.fromkeys(_STAGES[1:], val_transform)}
        self._batch_size = batch_size
        self._seed = seed
        self._training = {"drop_last": drop_last, "batch_transform": batch_transform}
        self._shuffle = shuffle
        self._options = options
        self._check()
        self._datasets: dict[str, torch_data.Dataset[Any]] = {}
        self._loaders: dict[str, DataLoader] = {}
        self._pending: Mapping[str, Any] | None = None  # where training goes on
        self._offer_loaders()

    def dataset(self, stage: str) -> Any:
        """Return the data set of "train", "val", "test" or "predict", opened when first asked."""
        if stage not in self._data:
            raise LoaderError(
                f"DataModule: there is no {stage!r} data; there is {', '.join(self._data)}. Give "
                f"DataModule({stage}=...)."
                if stage in _STAGES
                else f"DataModule: {stage!r} is none of {', '.join(_STAGES)}."
            )
        if stage not in self._datasets:
            data = self._data[stage]
            if not isinstance(data, torch_data.Dataset):
                options = {k: v for k, v in self._options.items() if k in _OF_DATASETS}
                transform = self._transforms[stage]
                data = Dataset(data, transform=transform, seed=self._seed, **options)
            self._datasets[stage] = data
        return self._datasets[stage]

    def loader(self, stage: str) -> DataLoader:
        """Return a new loader over the share of this process, as `train_dataloader` does."""
        dataset, is_training = self.dataset(stage), stage == "train"
        training = self._training if is_training else {}
        sampler: EvenShare
        if stage == "predict":
            sampler = OwnShare(dataset, **self._ranks())
        else:
            sampler = EvenShare(
                dataset,
                shuffle=self._shuffle and is_training,
                seed=self._seed,
                drop_last=bool(training.get("drop_last")),
                **self._ranks(),
            )
        made = DataLoader(
            dataset,
            batch_size=self._batch_size,  # by name: Lightning may take the loader apart
            sampler=sampler,
            seed=self._seed,
            **training,
            **{k: v for k, v in self._options.items() if k in _OF_LOADERS},
        )
        if is_training and self._pending is not None:
            made.load_state_dict(self._pending)
            self._pending = None
        self._loaders[stage] = made
        return made

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels, in the order of their numbers, if they are known."""
        dataset = self.dataset(next(iter(self._data)))
        while isinstance(dataset, torch_data.Subset):
            dataset = dataset.dataset
        classes: tuple[str, ...] | None = dataset.classes
        return classes

    def setup(self, stage: str) -> None:
        """Open the data sets; Lightning calls it in every process."""
        for name in _OPENED_FOR[stage]:
            if name in self._data:
                self.dataset(name)

    def teardown(self, stage: str) -> None:
        """Stop the threads of loaders; Lightning calls it at the end."""
        for name in _OPENED_FOR[stage]:
            if name in self._loaders:
                self._loaders.pop(name).close()

    def state_dict(self) -> dict[str, Any]:
        """Where the training's loader stands; Lightning saves it in checkpoints."""
        loader = getattr(self.trainer, "train_dataloader", None)  # maybe made anew of ours
        if not isinstance(loader, DataLoader):
            loader = self._loaders.get("train")
        state = self._pending if loader is None else loader.state_dict()
        return {} if state is None else {"train": state}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Make the next loader for training go on from there.

        Testing a model of a checkpoint is no reason for a later training to go on from it.
        """
        if self.trainer is None or self.trainer.state.fn == "fit":
            self._pending = state_dict.get("train")

    def _ranks(self) -> Mapping[str, int]:
        """Which share is that of this process: the Trainer knows, if there is one."""
        if self.trainer is None:
            found = find_ranks(None, None, now=True)
            return {"num_replicas": found.world_size, "rank": found.rank}
        shared: Mapping[str, int] | None = self.trainer.distributed_sampler_kwargs
        return shared or {"num_replicas": 1, "rank": 0}

    def _offer_loaders(self) -> None:
        """Have a method for each loader that there is, since Lightning runs what it finds.

        Those of a subclass come first.
        """
        for stage in self._data:
            name = f"{stage}_dataloader"
            if getattr(type(self), name) is getattr(_LightningDataModule, name):
                setattr(self, name, partial(self.loader, stage))

    def _check(self) -> None:
        if not self._data:
            raise LoaderError("DataModule: no data. Give train=, val=, test= or predict=.")
        if isinstance(self._seed, bool) or not isinstance(self._seed, int):
            raise LoaderError(
                f"DataModule: seed must be a whole number, got {self._seed!r}. All processes, and "
                "those that go on from a checkpoint, must agree on it."
            )
        for name in self._options:
            if name not in _OF_DATASETS | _OF_LOADERS:
                raise LoaderError(
                    f"DataModule: there is no option {name!r}. For another sampler or loader, "
                    "override train_dataloader in a subclass, and return a "
                    "penstock.torch.DataLoader."
                )
        self._check_transforms()

    def _check_transforms(self) -> None:
        """Raise if a transform would be ignored, or one for training be the only one."""
        for stage, data in self._data.items():
            argument = "transform" if stage == "train" else "val_transform"
            given = self._transforms[stage] is not None
            if isinstance(data, torch_data.Dataset):
                unused = sorted(_OF_DATASETS & self._options.keys())
                if given or unused:
                    raise LoaderError(
                        f"DataModule: {stage} is a {type(data).__name__}, which has its transform "
                        f"and options already; got {argument if given else unused[0]}= as well. "
                        "Leave it out, or give the data itself, such as its path."
                    )
            elif not given and stage != "train" and self._transforms["train"] is not None:
                raise LoaderError(
                    f"DataModule: transform= is for training, and there is none for {stage}. Give "
                    "val_transform=, the transform without randomness."
                )
