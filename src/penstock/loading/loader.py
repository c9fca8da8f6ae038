"""The loader: a data set, transforms and a batch size in; batches out, the same ones every time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from penstock._core import Format
from penstock.errors import LoaderError
from penstock.loading.backends import open_library
from penstock.loading.deliver import Delivery, LabelDelivery, TargetDelivery
from penstock.loading.epoch import Epoch, Progress
from penstock.loading.ledger import Ledger
from penstock.loading.library_carrier import LibraryCarrier
from penstock.loading.machine import Machine, check_not_forked
from penstock.loading.mix import Mixer, check_counts, check_mixing, mix_native
from penstock.loading.native import NativeCarrier
from penstock.loading.open_data import open_data
from penstock.loading.options import BatchOptions, OutputOptions, RunOptions
from penstock.loading.pillow_decode import DEFAULT_PIXEL_LIMIT
from penstock.loading.reference import Layout
from penstock.loading.reference_mix import mix_reference
from penstock.loading.sampler import Order, Shard
from penstock.loading.target_source import TargetSource, open_targets
from penstock.loading.to_torch import require_torch, torch_is_installed
from penstock.loading.work import Carrier
from penstock.pillow_order import check_installed_pillow
from penstock.planner.plan import Plan, as_written
from penstock.sources import Source
from penstock.transforms.batch_choice import read_batch_op
from penstock.transforms.final import FinalSpec
from penstock.transforms.targets import Targets
from penstock.transforms.values import Element, read_element
from penstock.usable_cores import usable_cores

_STATE_VERSION = 1


class Loader:
    """Feeds batches of images and labels to a training loop.

    `data` is a packed file (`.pen`) or a folder of its shards, a folder with a folder per class, a
    folder of images with `labels` (a CSV or TSV file), a list of files with `labels` (one a file),
    or any `Source`. Iterating yields `(images, labels)`; every iteration is a new epoch with its
    own order and draws.

    The same `seed` gives the same batches for any number of `threads`, any `prefetch`, and after
    resuming from a `state_dict`. Images are bit-identical to torchvision v2 on Pillow images.

    A data set with boxes or keypoints yields `(images, targets)`, which follow the transforms:

    - `targets`: "list", one dictionary a sample as torchvision's detection models take them, and
      images of different sizes as a list; "padded", arrays over the batch; "labels", none of it;
      None is "list" where there are boxes. Or `Targets` of your own, a row a sample.
    - `batch_transform`: MixUp, CutMix or a RandomChoice of them; labels are then float32
      (batch, classes).
    - `dtype`: None takes what the transforms end in (uint8, or float32 after `Normalize`);
      another float type is rounded to from float32.
    - `output`: "torch" or "numpy"; None takes torch if it is installed.
    - `fidelity`: "exact", or "fast" to let large photos be decoded at reduced size.
    - `on_error`: "raise"; "skip" leaves a bad file out of its batch, which is then shorter;
      "substitute" takes the next sample that can be read, with its label. See `ledger`.
    - `rank`, `world_size`: this process's share of every epoch, as torch's DistributedSampler.
    - `backend`: "native"; or with the same draws, slowly, "pillow", which gives the same bytes,
      "opencv" or "numpy", which come near them (docs/augmentations.md says how near).
    - `pixel_limit`: larger images are errors, against decompression bombs.
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Source,
        *,
        batch_size: int = 1,
        transform: Any = None,
        batch_transform: Any = None,
        labels: Any = None,
        targets: Targets | str | None = None,
        shuffle: bool = False,
        seed: int = 0,
        threads: int | None = None,
        drop_last: bool = False,
        prefetch: int = 2,
        dtype: Any = None,
        layout: Layout = "chw",
        output: str | None = None,
        fidelity: str = "exact",
        on_error: str = "raise",
        rank: int = 0,
        world_size: int = 1,
        backend: str = "native",
        pixel_limit: int = DEFAULT_PIXEL_LIMIT,
    ) -> None:
        self._batching = BatchOptions(batch_size, shuffle, seed, drop_last, rank, world_size)
        self._running = RunOptions(
            usable_cores() if threads is None else threads,
            prefetch,
            backend,
            fidelity,
            on_error,
            pixel_limit,
        )
        written = as_written(transform)
        element = _element(written.final, dtype)
        self._plan = replace(written, final=replace(written.final, element=element))
        self._output = OutputOptions(
            element, layout, output or ("torch" if torch_is_installed() else "numpy")
        )
        if self._output.library == "torch":
            require_torch()  # here, so that neither the error nor the import waits for a batch
        self._library = None if backend == "native" else open_library(backend)
        self._source = open_data(data, labels)
        self._target_source = _open_targets(self._source, targets)
        self._delivery = self._make_delivery(padded=targets == "padded")
        self._shard = Shard(len(self._source), rank, world_size, drop_last)
        self._mixer = self._make_mixer(batch_transform)
        self._ledger = Ledger(len(self._source), self._source.name)
        self._epoch = 0
        self._start = 0
        self._progress: Progress | None = None
        self._machine: Machine | None = None
        self._owner = os.getpid()

    @property
    def source(self) -> Source:
        """The data set."""
        return self._source

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Class names in the order of their labels, if the data set has classes."""
        return self._source.classes

    @property
    def plan(self) -> Plan:
        """The steps as they are run."""
        return self._plan

    @property
    def batch_size(self) -> int:
        """Images in a batch."""
        return self._batching.batch_size

    @property
    def threads(self) -> int:
        """Threads that decode and augment."""
        return self._running.threads

    @property
    def prefetch(self) -> int:
        """Batches under way beyond the one asked for."""
        return self._running.prefetch

    @property
    def ledger(self) -> Ledger:
        """Every file that was skipped, replaced or took the slow path, with the reason."""
        return self._ledger

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration runs."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration run `epoch` from its start."""
        if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
            raise LoaderError(
                f"Loader.set_epoch: epoch must be a whole number from 0, got {epoch!r}."
            )
        self._epoch, self._start, self._progress = epoch, 0, None

    def __len__(self) -> int:
        """Batches in a whole epoch."""
        samples, batch = len(self._shard), self._batching.batch_size
        return samples // batch if self._batching.drop_last else -(-samples // batch)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        check_not_forked(self._owner)
        if self._machine is None:
            self._machine = Machine(
                self._make_carrier(), self._output, self._running.prefetch, self._mixer
            )
        epoch = Epoch(
            number=self._epoch,
            order=Order(
                len(self._source), self._batching.seed, self._epoch, self._batching.shuffle
            ),
            shard=self._shard,
            start=self._start,
            batch_size=self._batching.batch_size,
            drop_last=self._batching.drop_last,
            prefetch=self._running.prefetch,
            machine=self._machine,
            delivery=self._delivery,
            one_size=self._target_source is None,
        )
        self._progress = epoch.progress
        self._epoch, self._start = self._epoch + 1, 0
        return epoch

    def state_dict(self) -> dict[str, int]:
        """Where the loader stands: after the batches delivered so far, in a few integers."""
        epoch, consumed = self._epoch, self._start
        if self._progress is not None and not self._progress.finished:
            epoch, consumed = self._progress.epoch, self._progress.consumed
        return {
            "version": _STATE_VERSION,
            "epoch": epoch,
            "consumed": consumed * self._batching.world_size,
            "seed": self._batching.seed,
            "shuffle": int(self._batching.shuffle),
            "length": len(self._source),
        }

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Make the next iteration go on from a `state_dict`, batch for batch.

        Batch size, threads and world size may differ from the loader that was saved; the samples
        that were consumed then are left out all the same.
        """
        if state.get("version") != _STATE_VERSION:
            raise LoaderError(
                f"Loader.load_state_dict: state version {state.get('version')!r}; "
                f"this version reads {_STATE_VERSION}."
            )
        mine = self.state_dict()
        for key in ("seed", "shuffle", "length"):
            if state.get(key) != mine[key]:
                raise LoaderError(
                    f"Loader.load_state_dict: the state was saved with {key}={state.get(key)!r}, "
                    f"this loader has {key}={mine[key]}; its batches would not go on from there."
                )
        self.set_epoch(int(state["epoch"]))
        self._start = -(-int(state["consumed"]) // self._batching.world_size)

    def replica(
        self,
        *,
        plan: Plan | None = None,
        threads: int | None = None,
        fidelity: str | None = None,
        batch_size: int | None = None,
    ) -> Loader:
        """Return a loader over the same data from its first epoch on, with threads of its own.

        What is given replaces this loader's; another plan must end in the same element type.
        """
        options = replace(
            self._running,
            threads=threads or self._running.threads,
            fidelity=fidelity or self._running.fidelity,
        )
        other = copy(self)
        other._batching = replace(  # noqa: SLF001 (one of ours)
            self._batching, batch_size=batch_size or self._batching.batch_size
        )
        other._begin_anew(plan or self._plan, options)  # noqa: SLF001 (one of ours)
        return other

    def close(self) -> None:
        """Stop the loader's threads now; iterating again starts new ones."""
        if self._machine is not None:
            self._machine.close()
            self._machine = None

    def __repr__(self) -> str:
        return (
            f"Loader({self._source.describe()}, batch_size={self._batching.batch_size}, "
            f"threads={self._running.threads}, dtype={self._output.element.name.lower()})"
        )

    def _begin_anew(self, plan: Plan, options: RunOptions) -> None:
        self._plan = plan
        self._running = options
        self._ledger = Ledger(len(self._source), self._source.name)
        self._machine = None
        self._owner = os.getpid()
        self.set_epoch(0)

    def _make_mixer(self, batch_transform: Any) -> Mixer | None:
        if batch_transform is None:
            return None
        op = read_batch_op(batch_transform)
        has_targets = self._target_source is not None
        check_mixing(op, self._source, self._output, has_targets=has_targets)
        check_counts(op, len(self._shard), self._batching, self._running.on_error)
        mix_images = mix_reference if self._running.backend == "pillow" else mix_native
        return Mixer(op, self._source, self._output, self._batching.seed, mix_images)

    def _make_delivery(self, *, padded: bool) -> Delivery:
        if self._target_source is None:
            return LabelDelivery(self._source.labels)
        return TargetDelivery(self._target_source.image_ids, padded)

    def _make_carrier(self) -> Carrier:
        final, options, seed = self._plan.final, self._running, self._batching.seed
        ends = (options, seed, self._ledger, self._target_source)
        if self._library is not None:
            layout = self._output.layout
            return LibraryCarrier(self._library, self._source, self._plan, layout, *ends)
        check_installed_pillow()
        image_format = Format(
            final.element,
            self._output.layout,
            final.scale,
            list(final.mean),
            list(final.std),
            final.divisor,
            list(final.gain),
        )
        return NativeCarrier(self._source, self._plan, image_format, *ends)


def _open_targets(source: Source, asked: Targets | str | None) -> TargetSource | None:
    if isinstance(asked, Targets):
        return open_targets(source, asked, wanted=True)
    if asked not in (None, "list", "padded", "labels"):
        raise LoaderError(
            f"Loader: targets must be 'list', 'padded', 'labels' or Targets, got {asked!r}."
        )
    return open_targets(source, None, wanted=None if asked is None else asked != "labels")


def _element(final: FinalSpec, dtype: Any) -> Element:
    """The element type of batches: the transforms' own unless `dtype` asks for another float."""
    if dtype is None:
        return final.element
    wanted = read_element("Loader", dtype)
    if wanted == final.element:
        return wanted
    name = wanted.name.lower()
    if final.element == Element.UINT8:
        raise LoaderError(
            f"Loader: dtype={name} but the transforms end in uint8 images; whether to scale them "
            f"to 0..1 is yours to say. Add ToDtype('{name}', scale=True) or Normalize(...)."
        )
    if wanted == Element.UINT8:
        raise LoaderError(
            f"Loader: dtype=uint8 but the transforms end in {final.element.name.lower()}. "
            "Leave out ToDtype and Normalize."
        )
    return wanted
