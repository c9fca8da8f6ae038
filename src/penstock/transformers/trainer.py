"""Hugging Face's Trainer over a `penstock.torch.Dataset`, with batches that are prepared ahead."""

from __future__ import annotations

from typing import Any

import transformers
from transformers.trainer_utils import RemoveColumnsCollator

from penstock.data.columns import LABEL
from penstock.errors import LoaderError
from penstock.loading.deliver import IMAGE, ColumnDelivery
from penstock.torch.data_loader import DataLoader
from penstock.torch.dataset import Dataset
from penstock.torch.indices import unwrap
from penstock.torch.prepared import put_inside

# These the Trainer's default collate function calls "labels".
_RENAMED_BY_TRAINER = ("label", "label_ids")


class TellEpochs(transformers.TrainerCallback):
    """Tells the training's `penstock.torch.Dataset` which epoch begins.

    Accelerate does so in some cases only, so a Dataset with a `seed` needs it in a Trainer of
    transformers' own: `Trainer(..., callbacks=[TellEpochs()])`. The one here has it already.
    """

    def on_epoch_begin(
        self,
        args: Any,
        state: Any,
        control: Any,
        train_dataloader: Any = None,
        **others: Any,
    ) -> None:
        """Set the epoch of the Dataset."""
        del args, control, others
        dataset = _ours(getattr(train_dataloader, "dataset", None))
        if dataset is not None:
            dataset.set_epoch(int(state.epoch or 0))


class NativeBatches:
    """Makes the loaders of a Trainer work natively: `class Mine(NativeBatches, MyTrainer)`.

    Samplers, batch sizes, shares of processes and collate functions are those that the Trainer
    chooses. In a loader over a `penstock.torch.Dataset`, batches are prepared ahead by threads
    instead of worker processes; loaders over anything else stay as they are.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.add_callback(TellEpochs())  # type: ignore[attr-defined]  # the Trainer's

    def get_train_dataloader(self) -> Any:
        """Return the Trainer's loader, working natively."""
        return _native(super().get_train_dataloader())  # type: ignore[misc]  # the Trainer's

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        """Return the Trainer's loader, working natively."""
        return _native(super().get_eval_dataloader(eval_dataset))  # type: ignore[misc]  # the same

    def get_test_dataloader(self, test_dataset: Any) -> Any:
        """Return the Trainer's loader, working natively."""
        return _native(super().get_test_dataloader(test_dataset))  # type: ignore[misc]  # the same


class Trainer(NativeBatches, transformers.Trainer):
    """transformers' Trainer, whose batches of a `penstock.torch.Dataset` are made natively."""


def _ours(dataset: Any) -> Dataset | None:
    try:
        return unwrap(dataset)[0]
    except LoaderError:
        return None


def _native(loader: Any) -> Any:
    dataset = _ours(loader.dataset)
    is_native = isinstance(getattr(loader, "base_dataloader", None), DataLoader)
    if dataset is None or is_native:  # a loader for evaluation may be kept, and come again
        return loader
    if not hasattr(loader, "base_dataloader"):
        raise LoaderError(
            f"Trainer: its loader is a {type(loader).__name__}, which Accelerate has not prepared. "
            "Return what get_train_dataloader of transformers' Trainer returns, or leave out "
            "NativeBatches."
        )
    collate = loader.collate_fn
    _check_names(collate, dataset)
    return put_inside(loader, None if _is_default(collate, dataset) else collate)


def _check_names(collate: Any, dataset: Dataset) -> None:
    """Refuse samples of which a collate function of the Trainer's would make nothing."""
    how = "Give Dataset(..., as_dict={'image': 'pixel_values', 'label': 'labels'}), with the names "
    how += "that the model's forward takes."
    inner = collate.data_collator if isinstance(collate, RemoveColumnsCollator) else collate
    delivery = dataset.work.delivery
    if not isinstance(delivery, ColumnDelivery) or delivery.renamed is None:
        if inner is transformers.default_data_collator:
            raise LoaderError(
                "Trainer: samples of the Dataset are tuples, and the Trainer's collate function "
                f"needs dictionaries. {how} Or give a data_collator."
            )
        return
    image = dataset.names.get(IMAGE, IMAGE)
    if isinstance(collate, RemoveColumnsCollator) and image not in collate.signature_columns:
        raise LoaderError(
            f"Trainer: images are called {image!r} in the samples, and would be left out, since "
            f"the model takes {', '.join(collate.signature_columns)}. {how} Or set "
            "remove_unused_columns=False."
        )


def _is_default(collate: Any, dataset: Dataset) -> bool:
    """Whether a collate function of the Trainer's makes what our batches are anyway."""
    delivery = dataset.work.delivery
    if not isinstance(delivery, ColumnDelivery) or delivery.targets or dataset.work.output.views:
        return False
    if not dataset.names or not set(delivery.columns) <= {LABEL}:
        return False
    keys = {dataset.names.get(name, name) for name in (IMAGE, *delivery.columns)}
    if keys & set(_RENAMED_BY_TRAINER):
        return False
    if isinstance(collate, RemoveColumnsCollator):
        if not keys <= set(collate.signature_columns):
            return False
        collate = collate.data_collator
    return collate is transformers.default_data_collator
