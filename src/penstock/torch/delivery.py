"""What a DataLoader makes of a batch: torch's own form, or that of the user's collate function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import default_collate

from penstock.errors import LoaderError
from penstock.loading.batch import Batch
from penstock.loading.deliver import Delivery
from penstock.loading.work import Work
from penstock.torch.samples import as_torch_batches, split_samples


@dataclass(frozen=True, slots=True)
class TorchDelivery:
    """Hands a batch over as torch's DataLoader would."""

    inner: Delivery
    image_key: str  # in dictionaries
    collate: Callable[[Any], Any] | None  # None: a batch as it is
    has_views: bool
    single: bool  # whether samples come alone
    pin: bool

    def deliver(self, batch: Batch) -> Any:
        """Return the batch, or the sample; None if every sample was left out."""
        delivered = self.inner.deliver(batch)
        if delivered is None:
            return None
        formed: Any
        if self.single or self.collate is not None:
            formed = split_samples(delivered, self.image_key, has_views=self.has_views)
            if self.single:
                (formed,) = formed
            if self.collate is not None:
                formed = self.collate(formed)
        else:
            formed = as_torch_batches(delivered)
        return pinned(formed) if self.pin else formed


def open_delivery(
    work: Work, image_key: str, collate: Any, *, single: bool, pin: bool
) -> tuple[TorchDelivery, bool]:
    """Return what hands batches over, and whether images of several sizes are an error."""
    is_ours = not single and (collate is default_collate or isinstance(collate, OnlyOurs))
    given = None if is_ours else collate
    has_views = bool(work.output.views)
    delivery = TorchDelivery(work.delivery, image_key, given, has_views, single, pin)
    return delivery, is_ours and not work.beside.sizes_may_differ


def pinned(thing: Any) -> Any:
    """Return the same in page-locked memory; what lies there already is not copied."""
    if isinstance(thing, torch.Tensor):
        return thing.pin_memory()
    if callable(getattr(thing, "pin_memory", None)):  # a batch of the user's own kind
        return thing.pin_memory()
    if isinstance(thing, dict):
        return type(thing)({name: pinned(value) for name, value in thing.items()})
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return type(thing)(*map(pinned, thing))
    if isinstance(thing, (list, tuple)):
        return type(thing)(map(pinned, thing))
    return thing


@dataclass(frozen=True, slots=True)
class OnlyOurs:
    """Stands for the collate function of a loader with a `batch_transform`.

    Batches are mixed before they are collated, so there is nothing to call. Frameworks that build
    another loader of the parts of ours would leave the mixing out without a word.
    """

    batch_transform: Any

    def __call__(self, samples: Any) -> Any:  # noqa: ARG002 (as it is called)
        """Refuse."""
        raise LoaderError(
            f"DataLoader: {self.batch_transform!r} mixes batches of penstock.torch.DataLoader, but "
            "another loader was made of its parts, and would leave that out. After Accelerate's "
            "prepare, call penstock.torch.keep_native(prepared, loader); or leave out "
            "batch_transform, and mix in the training loop."
        )
