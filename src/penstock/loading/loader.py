"""The loader: a data set, transforms and a batch size in; batches out, the same ones every time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from penstock._core import Format, active_isa
from penstock.data.beside import open_beside
from penstock.data.column_source import ColumnSource
from penstock.data.open_data import open_loader_data
from penstock.errors import LoaderError
from penstock.limits import Limits, limits_or_in_force
from penstock.loading.deliver import delivery_of
from penstock.loading.epoch import Batching, Epoch, Iteration, Progress, Runtime, check_not_forked
from penstock.loading.failures import Failures, Ledger
from penstock.loading.library_runner import LibraryRunner
from penstock.loading.mix import open_mixer
from penstock.loading.native import NativeRunner
from penstock.loading.native_views import ViewRunner
from penstock.loading.options import (
    BatchOptions,
    OutputOptions,
    RunOptions,
    element_of_batches,
    read_allow,
)
from penstock.loading.planning import (
    PlanTask,
    choose_rules,
    choose_view_rules,
    explain,
    part_costs,
)
from penstock.loading.ranks import find_ranks, find_threads
from penstock.loading.reuse import ReuseCounts, check_ranks, open_reuse
from penstock.loading.runner import PartRunner, RunSetup
from penstock.loading.sampler import Shard
from penstock.loading.selection import EpochOrder, Selection, select
from penstock.loading.to_torch import require_torch, torch_is_installed
from penstock.planner.cut import Cut
from penstock.planner.explain import Explanation
from penstock.planner.pillow_order import check_installed_pillow
from penstock.planner.plan import Plan, as_written
from penstock.planner.reuse import Echo, Reuse
from penstock.planner.reuse_forecast import Forecast
from penstock.planner.rules.rule import Rule
from penstock.reference.libraries import open_library
from penstock.sources import Source
from penstock.transforms.targets import Targets
from penstock.transforms.values import FinalSpec, Layout
from penstock.translation.transforms.lines import Translation
from penstock.translation.transforms.translate import translate

_STATE_VERSION = 1
HAS_NO_SAMPLES = (
    "Loader: it yields whole batches in an order of its own, and has no single samples. "
    "Iterate over it: use it instead of a torch DataLoader, not inside one."
)
CANNOT_BE_COPIED = (
    "Loader: it cannot be pickled or copied, since its threads and memory belong to this "
    "process. Make a Loader with the same arguments where one is needed; its state_dict() "
    "can be pickled, and load_state_dict() goes on from there."
)


class Loader:
    """Feeds batches of images and labels to a training loop.

    `data` is a packed file (`.pen`) or a folder of its shards; a folder with a folder per class, or
    any other layout that `pack` reads (COCO, VOC, YOLO, tar, Parquet ...); a folder of images with
    `labels` (a CSV or TSV file, or a dictionary from path to label); a list of files with `labels`
    (one per file, or such a dictionary); or any `Source`, such as `open_data` returns to whoever
    must say which layout or split is meant.

    Iterating yields `(images, labels)`, or images alone where the data set has no labels. Every
    iteration is a new epoch with its own order and draws; it begins with its first batch. With
    `MultiView`, images come as a list with one tensor per view (docs/multiview.md).

    The same `seed` gives the same batches for any number of `threads`, any `prefetch`, and after
    resuming from a `state_dict`. Images are bit-identical to torchvision v2 on Pillow images.

    A data set with boxes or keypoints yields `(images, targets)`, which follow the transforms:

    - `targets`: "list", one dictionary per sample as torchvision's detection models take them, and
      images of different sizes as a list; "padded", arrays over the batch; "labels", each image's
      own label instead; "none", images alone. None is "list" where there are boxes. Or `Targets`
      of your own, one row per sample.
    - `background`: in the labels of boxes 0 is the background, as torchvision's detection models
      have it, and classes have their data set's own numbers (COCO's category ids) or count from
      1; False counts classes from 0, for models without a background. `classes` names either.
    - `columns`: names of columns to deliver, `(images, first, second, ...)`; "label" is one like
      the rest. In a data set with boxes they come after the targets, and a column that has a row
      for each box (such as "iscrowd") goes into the targets.
    - `as_dict`: batches are dictionaries: "image"; "label", "targets" or "masks"; the columns.
    - `masks`: True delivers the masks of objects, which are left out by default. Or, for images in
      a folder or a list, the folder or list of their masks. A data set with a mask for each image
      and no boxes yields `(images, masks)`, int64 (batch, height, width).
    - `mask_fill`: the class number of pixels that come into such masks from outside.
    - `transform`: one of `penstock.transforms`; or torchvision's, timm's or Albumentations', which
      are translated into ours (see `translation`), or a TranslationError says why not.
    - `indices`: the positions of the samples that take part; each as often as it is listed.
    - `weights`: one per sample (or per index): an epoch draws samples by weight, with
      `replacement` or without, as torch's WeightedRandomSampler.
    - `samples_per_epoch`: how many samples an epoch has; None takes as many as take part.
    - `batch_transform`: MixUp, CutMix or a RandomChoice of them; labels are then float32
      (batch, classes).
    - `dtype`: None takes what the transforms end in (uint8, or float32 after `Normalize`);
      another float type is rounded from float32.
    - `layout`: "chw", channels first, or "hwc".
    - `drop_last`: leave out a last batch that is shorter than `batch_size`.
    - `prefetch`: how many batches are prepared beyond the one that is asked for.
    - `output`: "torch" or "numpy"; None takes torch if it is installed.
    - `plan`: order and fuse the work as its costs suggest (see `explain` and docs/planner.md);
      False does what was written, in that order. Draws, boxes and masks are the same either way.
    - `fidelity`: "exact" plans change no byte; "fast" ones may change pixels within stated bounds,
      as by decoding large photos at reduced size.
    - `allow`: names of further rules that a plan may use, which `explain` offers with their saving.
    - `reuse`: `Reuse(...)` or `Echo(...)` does the first part of the transforms less often than the
      last part, and says what that costs in diversity (docs/reuse.md).
    - `on_error`: "raise"; "skip" leaves a bad file out of its batch, which is then shorter;
      "substitute" takes the next sample that can be read, with its label. See `ledger`.
    - `rank`, `world_size`: this process's share of every epoch, as torch's DistributedSampler.
      None asks torch.distributed, then the variables RANK and WORLD_SIZE, until the first batch
      settles it; `repr(loader)` says what was taken.
    - `threads`: None takes the cores that this process may use, divided by LOCAL_WORLD_SIZE.
    - `backend`: "native"; or with the same draws, slowly, "pillow", which gives the same bytes,
      "opencv" or "numpy", which come near them (docs/augmentations.md says how near).
    - `pixel_limit`: larger images are errors, against decompression bombs.
    - `limits`: the same for masks and whatever else is read (`penstock.Limits`, docs/limits.md).
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
        masks: Any = None,
        mask_fill: int = 0,
        background: bool = True,
        columns: Sequence[str] | None = None,
        as_dict: bool = False,
        shuffle: bool = False,
        seed: int = 0,
        threads: int | None = None,
        drop_last: bool = False,
        prefetch: int = 2,
        dtype: Any = None,
        layout: Layout = "chw",
        output: str | None = None,
        plan: bool = True,
        fidelity: str = "exact",
        allow: Iterable[str] = (),
        reuse: Reuse | Echo | None = None,
        on_error: str = "raise",
        rank: int | None = None,
        world_size: int | None = None,
        indices: Any = None,
        weights: Any = None,
        replacement: bool = True,
        samples_per_epoch: int | None = None,
        backend: str = "native",
        pixel_limit: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        active_isa()  # so that a wrong PENSTOCK_SIMD is an error here, not at the first file
        allowed = limits_or_in_force(limits)
        self._ranks = find_ranks(rank, world_size)
        self._counts_cores = threads is None
        self._batching = BatchOptions(
            batch_size, shuffle, seed, drop_last, self._ranks.rank, self._ranks.world_size
        )
        self._running = RunOptions(
            find_threads(self._ranks) if threads is None else threads,
            prefetch,
            backend,
            fidelity,
            on_error,
            allowed.pixels if pixel_limit is None else pixel_limit,
            plan,
            read_allow(allow),
        )
        translated = translate(transform)
        self._translation = translated.translation
        written = as_written(translated.transform)
        element = element_of_batches(written.final, dtype)
        self._plan = written.with_element(element)
        library = output or ("torch" if torch_is_installed() else "numpy")
        self._output = OutputOptions(element, layout, library, len(written.views))
        if self._output.library == "torch":
            require_torch()  # here, so that neither the error nor the import waits for a batch
        self._library = None if backend == "native" else open_library(backend)
        self._source = open_loader_data(data, labels, masks, allowed)
        self._beside = open_beside(
            self._source,
            targets=targets,
            masks=masks,
            mask_fill=mask_fill,
            background=background,
            columns=columns,
            limits=replace(allowed, pixels=self._running.pixel_limit),
        )
        if self._plan.views and self._beside.follows_images:
            raise LoaderError(
                "Loader: MultiView makes several images of a sample, and this data set has boxes, "
                "keypoints or masks, which cannot follow all of them. Use targets='labels' or "
                "targets='none' to leave those out."
            )
        self._delivery = delivery_of(self._beside, as_dict=as_dict)
        self._selection: Selection = select(
            len(self._source),
            indices=indices,
            weights=weights,
            samples_per_epoch=samples_per_epoch,
            replacement=replacement,
            shuffle=shuffle,
            seed=seed,
        )
        self._order: Callable[[int], EpochOrder] = self._selection.epoch
        self._reusing = open_reuse(
            reuse, self._plan, self._selection, seed, mixes=batch_transform is not None
        )
        if self._reusing is not None:
            self._plan = self._reusing.cut.plan
        self._shard = self._share(self._length())
        self._mixer = open_mixer(
            batch_transform,
            self._beside,
            self._delivery,
            self._output,
            self._batching,
            self._running,
            samples=len(self._shard),
        )
        self._ledger = Ledger(len(self._source), self._source.name)
        # Chosen when the first batch is asked for.
        self._rules: tuple[Rule, ...] | None = None
        self._view_rules: tuple[tuple[Rule, ...], ...] = ()
        self._epoch = 0
        self._start = 0
        self._ranks_of_start: int | None = None
        self._progress: Progress | None = None
        self._runtime: Runtime | None = None
        self._beginning = threading.RLock()
        self._owner = os.getpid()

    @property
    def source(self) -> Source:
        """The data set."""
        return self._source

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels delivered, in the order of their numbers, if they are known.

        With targets, these are the labels of boxes.
        """
        return self._beside.classes

    @property
    def plan(self) -> Plan:
        """The steps as they are run."""
        return self._plan

    def explain(self) -> Explanation:
        """Return what is done to images as written and as planned, with predicted costs.

        Print it, or ask its `rules` and `offers`. `penstock.explain(loader, measure=True)` measures
        the savings too.
        """
        if self._library is not None:
            raise LoaderError(
                f"Loader.explain: backend={self._running.backend!r} does what was written; only "
                "the native backend is planned."
            )
        explained, forecast = explain(self._plan_task()), self.reuse_forecast()
        return explained if forecast is None else replace(explained, reuse=tuple(forecast.lines()))

    @property
    def translation(self) -> Translation:
        """What became of each transform of torchvision's, timm's or Albumentations' given to it."""
        return self._translation

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
    def reuse_counts(self) -> ReuseCounts | None:
        """How many first parts were used again, and what they take; None without `reuse`."""
        return None if self._reusing is None else self._reusing.store.counts()

    @property
    def reuse_cut(self) -> Cut | None:
        """Where the transforms are cut in two for `reuse`; None without."""
        return None if self._reusing is None else self._reusing.cut

    def reuse_forecast(self) -> Forecast | None:
        """Predict the speed, memory and diversity with `reuse`; None without it."""
        reusing = self._reusing
        if reusing is None:
            return None
        costs, image_bytes = part_costs(self._plan_task(), reusing.plain)
        samples = len(self._share(len(self._selection)))
        return Forecast(reusing.asked, reusing.cut, samples, image_bytes, costs)

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
        self._ranks_of_start = None

    def __len__(self) -> int:
        """Batches in a whole epoch."""
        self._ask_for_ranks()
        samples, batch = len(self._shard), self._batching.batch_size
        return samples // batch if self._batching.drop_last else -(-samples // batch)

    def __iter__(self) -> Iterator[Any]:
        return self.iteration()

    def iteration(self) -> Iteration:
        """Return the batches of the next epoch; for loaders that hold this one."""
        check_not_forked(self._owner)
        return Iteration(self._begin_epoch)

    def follow_order(self, order: Callable[[int], EpochOrder]) -> None:
        """Take the samples of every epoch, of all ranks together, from `order(epoch)`."""
        self._order = order

    def state_dict(self) -> dict[str, int]:
        """Where the loader stands: after the batches delivered so far, in a few integers."""
        self._ask_for_ranks()
        epoch, consumed = self._epoch, self._start
        if self._progress is not None and not self._progress.finished:
            epoch, consumed = self._progress.epoch, self._progress.consumed
        state = {
            "version": _STATE_VERSION,
            "epoch": epoch,
            "consumed": consumed * self._batching.world_size,
            "seed": self._batching.seed,
            "shuffle": int(self._batching.shuffle),
            "length": len(self._source),
            "samples_per_epoch": len(self._selection),
            "selection": self._selection.fingerprint(),
        }
        if self._reusing is not None:
            state["reuse"] = self._reusing.asked.fingerprint()
            state["world_size"] = self._batching.world_size
        return state

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Make the next iteration go on from a `state_dict`, batch for batch.

        Batch size, threads and world size may differ from the loader that was saved; the samples
        that were consumed then are left out all the same. With `reuse`, another world size goes on
        only from the start of an epoch.
        """
        if state.get("version") != _STATE_VERSION:
            raise LoaderError(
                f"Loader.load_state_dict: state version {state.get('version')!r}; "
                f"this version reads {_STATE_VERSION}."
            )
        mine = self.state_dict()
        mine.setdefault("reuse", 0)
        all_samples = {"samples_per_epoch": mine["length"], "selection": 0, "reuse": 0}
        for key in ("seed", "shuffle", "length", *all_samples):
            if state.get(key, all_samples.get(key)) != mine[key]:
                raise LoaderError(
                    f"Loader.load_state_dict: the state was saved with {key}={state.get(key)!r}, "
                    f"this loader has {key}={mine[key]}; its batches would not go on from there."
                )
        self.set_epoch(int(state["epoch"]))
        self._ranks_of_start = state.get("world_size")
        self._start = -(-int(state["consumed"]) // self._batching.world_size)

    def replica(
        self,
        *,
        plan: Plan | None = None,
        threads: int | None = None,
        fidelity: str | None = None,
        batch_size: int | None = None,
        rules: tuple[Rule, ...] | None = None,
    ) -> Loader:
        """Return a loader over the same data from its first epoch on, with threads of its own.

        What is given replaces this loader's; another plan must end in the same element type.
        With `rules` nothing is chosen: the plan is done with these.
        """
        options = replace(
            self._running,
            threads=threads or self._running.threads,
            fidelity=fidelity or self._running.fidelity,
        )
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._batching = replace(
            self._batching, batch_size=batch_size or self._batching.batch_size
        )
        other._begin_anew(plan or self._plan, options, rules)
        return other

    def close(self) -> None:
        """Stop the loader's threads now; iterating again starts new ones.

        Any thread may call it, as often as it likes. Whoever waits for a batch meanwhile gets a
        LoaderError.
        """
        if os.getpid() != self._owner:
            return  # a forked child has no threads to stop, and the lock may never be free there
        with self._beginning:
            runtime = self._runtime
        if runtime is not None:
            runtime.close()
            with self._beginning:
                if self._runtime is runtime:
                    self._runtime = None

    def __getitem__(self, index: Any) -> NoReturn:
        """Refuse to be used as a torch Dataset."""
        raise LoaderError(HAS_NO_SAMPLES)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise LoaderError(CANNOT_BE_COPIED)

    def __repr__(self) -> str:
        self._ask_for_ranks()
        chosen = self._selection.describe()
        reuse = "" if self._reusing is None else f"reuse={self._reusing.asked!r}, "
        return (
            f"Loader({self._source.describe()}, {f'{chosen}, ' if chosen else ''}{reuse}"
            f"batch_size={self._batching.batch_size}, threads={self._running.threads}, "
            f"dtype={self._output.element.name.lower()}, {self._ranks.describe()})"
        )

    def _ask_for_ranks(self, *, now: bool = False) -> None:
        """Find out which share of the data is ours; it is fixed once an epoch has begun."""
        if self._ranks.was_given:
            return
        found = find_ranks(None, None, now=now)
        if found == self._ranks:
            return
        if self._runtime is not None:
            if now and (found.rank, found.world_size) != (self._ranks.rank, self._ranks.world_size):
                raise LoaderError(
                    f"This loader has begun as {self._ranks.describe()}, but is now "
                    f"{found.describe()}. Initialise torch.distributed before the first batch, "
                    "or make a new Loader."
                )
            return
        # A state that was loaded counts samples of all ranks together.
        self._start = -(-self._start * self._ranks.world_size // found.world_size)
        self._ranks = found
        self._batching = replace(self._batching, rank=found.rank, world_size=found.world_size)
        if self._counts_cores:
            self._running = replace(self._running, threads=find_threads(found))
        self._shard = self._share(self._length())
        if self._mixer is not None:
            self._mixer.check_counts(len(self._shard), self._batching, self._running.on_error)

    def _length(self) -> int:
        """Images in an epoch, of all ranks together."""
        length = len(self._selection)
        return length if self._reusing is None else self._reusing.length(length)

    def _share(self, samples: int) -> Shard:
        batching = self._batching
        return Shard(samples, batching.rank, batching.world_size, batching.drop_last)

    def _begin_epoch(self) -> Epoch:
        """Count an epoch and start its work; called for the first batch."""
        check_not_forked(self._owner)
        with self._beginning:
            self._ask_for_ranks(now=True)
            if self._runtime is not None and not self._runtime.closed:
                return self._start_epoch(self._runtime)
            self._runtime, source = None, self._source
            runtime = Runtime(
                self._make_runner(),
                self._output,
                self._running.prefetch,
                self._mixer,
                source.check_unchanged if isinstance(source, ColumnSource) else None,
            )
            try:
                epoch = self._start_epoch(runtime)
            except BaseException:
                runtime.close()
                raise
            self._runtime = runtime
            return epoch

    def _start_epoch(self, runtime: Runtime) -> Epoch:
        order = self._order(self._epoch)
        if self._reusing is not None:
            if self._start:
                check_ranks(self._ranks_of_start, self._batching.world_size)
            order = self._reusing.order(self._selection, order, self._epoch, self._batching)
        epoch = Epoch(
            number=self._epoch,
            order=order,
            shard=self._share(len(order)),
            start=self._start,
            batching=Batching(
                self._batching.batch_size,
                self._batching.drop_last,
                self._running.prefetch,
                self._delivery,
                one_size=not self._beside.follows_images,
            ),
            runtime=runtime,
        )
        self._progress = epoch.progress
        self._epoch, self._start = self._epoch + 1, 0
        return epoch

    def _plan_task(self) -> PlanTask:
        return PlanTask(
            self._source,
            self._beside.targets,
            self._plan,
            self._running,
            self._batching.seed,
            self._output.layout,
        )

    def _begin_anew(self, plan: Plan, options: RunOptions, rules: tuple[Rule, ...] | None) -> None:
        if self._reusing is not None:
            self._reusing = self._reusing.anew()
        self._plan = plan
        self._output = replace(self._output, views=len(plan.views))
        self._running = options
        self._rules = rules
        self._view_rules = () if rules is None else (rules,) * len(plan.views)
        self._ledger = Ledger(len(self._source), self._source.name)
        self._runtime = None
        self._beginning = threading.RLock()
        self._owner = os.getpid()
        self.set_epoch(0)

    def _make_runner(self) -> PartRunner:
        options = self._running
        allowed = self._selection.allowed()
        failures = Failures(options.on_error, self._source, self._ledger, allowed)
        seed = self._batching.seed
        setup = RunSetup(self._beside, self._plan, options, seed, failures, reusing=self._reusing)
        if self._library is not None:
            return LibraryRunner(setup, self._library, self._output.layout)
        task = self._plan_task()
        if self._rules is None:
            self._rules, self._view_rules = choose_rules(task), choose_view_rules(task)
        setup = replace(setup, rules=self._rules, view_rules=self._view_rules)
        check_installed_pillow()
        runner = ViewRunner if self._plan.views else NativeRunner
        finals = [view.final for view in self._plan.views or (self._plan,)]
        return runner(setup, [_format_of(final, self._output.layout) for final in finals])


def _format_of(final: FinalSpec, layout: Layout) -> Format:
    return Format(
        final.element,
        layout,
        final.scale,
        list(final.mean),
        list(final.std),
        final.divisor,
        list(final.gain),
    )
