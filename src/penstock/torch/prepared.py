"""Loaders that Accelerate has prepared, with our threads inside again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from penstock.errors import LoaderError
from penstock.torch.data_loader import DataLoader

PreparedT = TypeVar("PreparedT")


class _Inside(DataLoader):
    """Ours inside of what Accelerate returns, which counts the epochs of both."""

    outside: Any

    def __iter__(self) -> Any:
        if self._pending is None:
            self._epoch = int(self.outside.iteration)
        return super().__iter__()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next iteration go on from a `state_dict`, with the epochs that follow it."""
        super().load_state_dict(state)
        self.outside.iteration = self.epoch


def keep_native(prepared: PreparedT, loader: DataLoader) -> PreparedT:
    """Make a loader that Accelerate has prepared from `loader` work natively, and return it.

    `accelerator.prepare(loader)` puts a loader of torch's own inside what it returns. That gives
    right samples, since the Dataset makes them, but prepares none ahead. Here its place is taken by
    ours, with the share of the samples that Accelerate has chosen for this process and with all
    options of `loader`. Its epochs are those of `prepared`, which `prepared.set_epoch` sets.

    To save where it stands with the rest, call `accelerator.register_for_checkpointing(prepared)`.
    What `accelerate.skip_first_batches` returns is another loader, and needs `keep_native` again.
    """
    inner: Any = getattr(prepared, "base_dataloader", None)
    if inner is None:
        raise LoaderError(
            f"keep_native: a loader from Accelerate's prepare is needed, got a "
            f"{type(prepared).__name__}. A penstock.torch.DataLoader works natively by itself."
        )
    if hasattr(prepared, "slice_fn"):  # that of a DataLoaderDispatcher
        raise LoaderError(
            "keep_native: with dispatch_batches=True one process makes the batches of all, and "
            "Accelerate corrects the states of torch's loaders only for those that it reads ahead. "
            "Leave dispatch_batches out, so that each process makes its own; or use the prepared "
            "loader as it is."
        )
    if not isinstance(loader, DataLoader):
        raise LoaderError(
            f"keep_native: a penstock.torch.DataLoader is needed beside the prepared loader, got a "
            f"{type(loader).__name__}. Give the one that Accelerate has prepared."
        )
    if inner.dataset is not loader.dataset:
        raise LoaderError(
            "keep_native: the prepared loader has another dataset than the loader beside it. Give "
            "the one that Accelerate has prepared."
        )
    return put_inside(
        prepared,
        loader.collate_fn,
        like=loader,
        seed=loader.seed,
        threads=loader.threads,
        batch_transform=loader.batch_transform,
    )


def put_inside(
    prepared: PreparedT,
    collate_fn: Callable[[Any], Any] | None,
    *,
    like: DataLoader | None = None,
    **own_options: Any,
) -> PreparedT:
    """Put a loader of ours in the place of torch's own, which has a Dataset of ours.

    Its other options are those of `like`, else those of the one that it replaces.
    """
    outer: Any = prepared
    inner = outer.base_dataloader
    options = inner if like is None else like
    listed: dict[str, Any] = {"batch_sampler": inner.batch_sampler}
    if inner.batch_sampler is None:
        listed = {"batch_size": None, "sampler": inner.sampler}
    native = _Inside(
        inner.dataset,
        **listed,
        num_workers=options.num_workers,
        collate_fn=collate_fn,
        pin_memory=options.pin_memory,
        timeout=options.timeout,
        worker_init_fn=options.worker_init_fn,
        multiprocessing_context=options.multiprocessing_context,
        generator=inner.generator,
        prefetch_factor=options.prefetch_factor,
        persistent_workers=options.persistent_workers,
        **own_options,
    )
    native.outside = outer
    outer.base_dataloader = native
    outer.dl_state_dict = native.state_dict()
    return prepared
