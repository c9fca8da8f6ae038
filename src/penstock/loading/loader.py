"""The loader: a data set, transforms and a batch size in; batches out, the same ones every time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from penstock._core import active_isa
from penstock.data.open_data import Far
from penstock.data.remote import RemotePackedSource
from penstock.errors import LoaderError
from penstock.limits import Limits, limits_or_in_force
from penstock.loading.batch import images_in_part
from penstock.loading.coming import ComingBatches, ComingSamples
from penstock.loading.course import Course
from penstock.loading.epoch import Iteration
from penstock.loading.failures import Ledger
from penstock.loading.fetch import part_size_of
from penstock.loading.mix import open_mixer
from penstock.loading.options import BatchOptions, RunOptions, read_allow
from penstock.loading.past_batch import PastBatch
from penstock.loading.pipeline import ChosenRules, Pipeline
from penstock.loading.prepared_part import Preparer
from penstock.loading.random_access import RandomAccess
from penstock.loading.ranks import find_ranks, find_threads
from penstock.loading.read_ahead import choose_reading
from penstock.loading.reuse import ReuseCounts, open_reuse
from penstock.loading.sampling.bucket_epochs import BucketSelection
from penstock.loading.sampling.buckets import BucketBatches
from penstock.loading.sampling.facts import facts_of_source
from penstock.loading.sampling.sampling import Sampling
from penstock.loading.sampling.select import select
from penstock.loading.selection import EpochOrder
from penstock.loading.to_torch import PinnedMemory
from penstock.loading.work import Asked, open_work
from penstock.planner.cut import Cut
from penstock.planner.explain import Explanation
from penstock.planner.plan import Plan
from penstock.planner.reuse import Echo, Reuse
from penstock.planner.reuse_forecast import Forecast
from penstock.planner.rules.rule import Rule
from penstock.rng import check_epoch
from penstock.sources import Source
from penstock.storage.counts import IoCounts
from penstock.storage.options import StorageOptions
from penstock.transforms.targets import Targets
from penstock.transforms.values import Layout
from penstock.translation.transforms.lines import Translation

if TYPE_CHECKING:
    from typing_extensions import Self

HAS_NO_SAMPLES = (
    "Loader: it yields whole batches in an order of its own, and has no single samples. "
    "Iterate over it: use it instead of a torch DataLoader, not inside one. For inside there is "
    "penstock.torch.Dataset."
)
CANNOT_BE_COPIED = (
    "Loader: it cannot be pickled or copied, since its threads and memory belong to this "
    "process. Make a Loader with the same arguments where one is needed; its state_dict() "
    "can be pickled, and load_state_dict() goes on from there."
)


class Loader:
    """Feeds batches of images and labels to a training loop.

    `data` is a packed file (`.pen`) or a folder of its shards, also in a store
    ("s3://bucket/train.pen", docs/object-stores.md); a folder with a folder per class, or any other
    layout that `pack` reads (COCO, VOC, YOLO, tar, Parquet ...); a folder of images with `labels`
    (a CSV or TSV file, or a dictionary from path to label); a list of files with `labels` (one per
    file, or such a dictionary); a `datasets.Dataset` of Hugging Face's; or any `Source`,
    such as `open_data` and `from_hf` return to whoever must say what exactly is meant.

    Iterating yields `(images, labels)`, or images alone where the data set has no labels. Every
    iteration is a new epoch with its own order and draws; it begins with its first batch. With
    `MultiView`, images come as a list with one tensor per view (docs/multiview.md).

    The same `seed` gives the same batches for any number of `threads`, any `prefetch`, and after
    resuming from a `state_dict`. Images are bit-identical to torchvision v2 on Pillow images.

    A data set with boxes or keypoints yields `(images, targets)`, which follow the transforms:

    - `targets`: "list", one dictionary per sample as torchvision's detection models take them, and
      images of different sizes as a list; "padded", arrays over the batch; "yolo", one dictionary
      as trainers of YOLO take it (docs/frameworks/yolo.md); "labels", each image's own label
      instead; "none", images alone. None is "list" where there are boxes. Or `Targets` of your
      own, one row per sample.
    - `background`: in the labels of boxes 0 is the background, as torchvision's detection models
      have it, and classes have their data set's own numbers (COCO's category ids) or count from
      1; False counts classes from 0, for models without a background, as targets="yolo" always
      does. `classes` names either.
    - `columns`: names of columns to deliver, `(images, first, second, ...)`; "label" is one like
      the rest. In a data set with boxes they come after the targets, and a column that has a row
      for each box (such as "iscrowd") goes into the targets.
    - `as_dict`: batches are dictionaries: "image"; "label", "targets" or "masks"; the columns. A
      mapping gives keys other names: {"image": "pixel_values", "label": "labels"}.
    - `masks`: True delivers the masks of objects, which are left out by default. Or, for images in
      a folder or a list, the folder or list of their masks. A data set with a mask for each image
      and no boxes yields `(images, masks)`, int64 (batch, height, width).
    - `mask_fill`: the class number of pixels that come into such masks from outside.
    - `transform`: one of `penstock.transforms`; or torchvision's, timm's or Albumentations', which
      are translated into ours (see `translation`), or a TranslationError says why not.
    - `indices`: the positions of the samples that take part; each as often as it is listed.
    - `weights`: one per sample (or per index): an epoch draws samples by weight, with
      `replacement` or without, as torch's WeightedRandomSampler.
    - `sampling`: which samples an epoch has, where that is more: `BucketBatches`, `ClassBalanced`,
      `RepeatedAugmentation`, `Weighted` or `WindowShuffle` (docs/sampling.md).
    - `samples_per_epoch`: how many samples an epoch has; None takes as many as take part.
    - `batch_transform`: MixUp, CutMix or a RandomChoice of them; labels are then float32
      (batch, classes).
    - `dtype`: None takes what the transforms end in (uint8, or float32 after `Normalize`);
      another float type is rounded from float32.
    - `layout`: "chw", channels first, or "hwc".
    - `drop_last`: leave out a last batch that is shorter than `batch_size`.
    - `prefetch`: how many batches are prepared beyond the one that is asked for.
    - `output`: "torch", "numpy" or "jax"; None takes torch if it is installed.
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
      None asks torch.distributed, jax.distributed and the variables RANK and WORLD_SIZE, until
      the first batch settles it; `repr(loader)` says what was taken.
    - `threads`: None takes the cores that this process may use, divided by LOCAL_WORLD_SIZE.
    - `backend`: "native"; or with the same draws, slowly, "pillow", which gives the same bytes,
      "opencv" or "numpy", which come near them (docs/augmentations.md says how near).
    - `pixel_limit`: larger images are errors, against decompression bombs.
    - `limits`: the same for masks and whatever else is read (`penstock.Limits`, docs/limits.md).
    - `cache`, `cache_limit`: for data in a store, a folder that keeps what was read, and how many
      bytes it may ever take ("50 GB"). `storage`: how the store is asked (`StorageOptions`).
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
        as_dict: bool | Mapping[str, str] = False,
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
        sampling: Sampling | None = None,
        backend: str = "native",
        pixel_limit: int | None = None,
        limits: Limits | None = None,
        cache: str | os.PathLike[str] | None = None,
        cache_limit: int | str | None = None,
        storage: StorageOptions | None = None,
    ) -> None:
        active_isa()  # so that a wrong PENSTOCK_SIMD is an error here, not at the first file
        allowed = limits_or_in_force(limits)
        ranks = find_ranks(rank, world_size)
        batching = BatchOptions(batch_size, shuffle, seed, drop_last, ranks.rank, ranks.world_size)
        running = RunOptions(
            find_threads(ranks) if threads is None else threads,
            prefetch,
            backend,
            fidelity,
            on_error,
            allowed.pixels if pixel_limit is None else pixel_limit,
            plan,
            read_allow(allow),
        )
        asked = Asked(
            transform, targets, masks, mask_fill, background, columns, as_dict, dtype, layout
        )
        far = Far(cache, cache_limit, storage)
        work = open_work(data, labels, asked, running, output, allowed, far)
        beside, planned, delivery, out = work.beside, work.plan, work.delivery, work.output
        self._translation = work.translation
        selection, batching = select(
            facts_of_source(beside.source),
            batching,
            indices=indices,
            weights=weights,
            samples_per_epoch=samples_per_epoch,
            replacement=replacement,
            sampling=sampling,
            on_error=running.on_error,
        )
        choose_reading(beside.source, selection)
        if isinstance(sampling, BucketBatches):
            sampling.check_transforms(planned)
        reusing = open_reuse(reuse, planned, selection, seed, mixes=batch_transform is not None)
        if reusing is not None:
            planned = reusing.cut.plan
        pipeline = Pipeline(beside, planned, seed, running, out, selection, reusing, work.library)
        mixer = open_mixer(batch_transform, beside, delivery, out, running)
        self._course = Course(
            pipeline, batching, ranks, delivery, mixer, counts_cores=threads is None
        )

    @property
    def source(self) -> Source:
        """The data set."""
        return self._pipeline.source

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels delivered, in the order of their numbers, if they are known.

        With targets, these are the labels of boxes.
        """
        return self._pipeline.beside.classes

    @property
    def plan(self) -> Plan:
        """The steps as they are run."""
        return self._pipeline.plan

    def explain(self) -> Explanation:
        """Return what is done to images as written and as planned, with predicted costs.

        Print it, or ask its `rules` and `offers`. `penstock.explain(loader, measure=True)` measures
        the savings too.
        """
        return self._pipeline.explain(*self._together())

    @property
    def translation(self) -> Translation:
        """What became of each transform of torchvision's, timm's or Albumentations' given to it."""
        return self._translation

    @property
    def batch_size(self) -> int:
        """Images in a batch."""
        return self._course.batching.batch_size

    @property
    def threads(self) -> int:
        """Threads that decode and augment."""
        return self._pipeline.options.threads

    @property
    def prefetch(self) -> int:
        """Batches under way beyond the one asked for."""
        return self._pipeline.options.prefetch

    def describe_sampling(self) -> str:
        """Return what an epoch has of the data set; with BucketBatches, a line per bucket too."""
        self._course.ask_for_ranks()
        selection = self._pipeline.selection
        told = selection.describe() or f"all {len(selection):,} samples"
        rows = selection.rows() if isinstance(selection, BucketSelection) else []
        return "\n".join([told, *rows])

    # What frameworks look for in a torch DataLoader, as far as a Loader has it.

    @property
    def dataset(self) -> Source:
        """The data set; `source` by the name that torch's DataLoader has for it."""
        return self.source

    @property
    def sampler(self) -> ComingSamples:
        """The samples of this rank's coming epoch, in their order."""
        return ComingSamples(self._course)

    @property
    def batch_sampler(self) -> ComingBatches:
        """The same, batch by batch."""
        return ComingBatches(self._course)

    @property
    def drop_last(self) -> bool:
        """Whether a last batch that is shorter than `batch_size` is left out."""
        return self._course.batching.drop_last

    @property
    def num_workers(self) -> int:
        """Worker processes: there are none."""
        return 0

    @property
    def persistent_workers(self) -> bool:
        """Whether worker processes are kept: there are none."""
        return False

    @property
    def prefetch_factor(self) -> int:
        """Batches under way beyond the one asked for, as `prefetch`."""
        return self.prefetch

    @property
    def collate_fn(self) -> None:
        """A function that makes batches of samples: there is none."""
        return

    @property
    def generator(self) -> None:
        """A generator of torch's: there is none, order and draws come from the seed."""
        return

    @property
    def pin_memory(self) -> bool:
        """Whether images lie in page-locked memory: tensors do where there is a CUDA device."""
        is_torch = self._pipeline.output.library == "torch"
        return is_torch and PinnedMemory.where_wanted() is not None

    @property
    def ledger(self) -> Ledger:
        """Every file that was skipped, replaced or took the slow path, with the reason."""
        return self._course.ledger

    @property
    def io(self) -> IoCounts | None:
        """What was asked of the store that the data is in; None for data on this machine."""
        source = self.source
        return source.io if isinstance(source, RemotePackedSource) else None

    @property
    def reuse_counts(self) -> ReuseCounts | None:
        """How many first parts were used again, and what they take; None without `reuse`."""
        return None if self._pipeline.reusing is None else self._pipeline.reusing.store.counts()

    @property
    def reuse_cut(self) -> Cut | None:
        """Where the transforms are cut in two for `reuse`; None without."""
        return None if self._pipeline.reusing is None else self._pipeline.reusing.cut

    def reuse_forecast(self) -> Forecast | None:
        """Predict the speed, memory and diversity with `reuse`; None without it."""
        return self._pipeline.forecast(*self._together())

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration runs."""
        return self._course.epoch

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration run `epoch` from its start."""
        self._course.set_epoch(check_epoch("Loader", epoch))

    def __len__(self) -> int:
        """Batches in a whole epoch."""
        return self._course.batches()

    def __iter__(self) -> Iterator[Any]:
        return self.iteration()

    def iteration(self) -> Iteration:
        """Return the batches of the next epoch; for loaders that hold this one."""
        self._course.check_not_forked()
        return Iteration(self._course.begin_epoch)

    def follow_order(self, order: Callable[[int], EpochOrder]) -> None:
        """Take the samples of every epoch, of all ranks together, from `order(epoch)`."""
        self._course.follow(order)

    def random_access(self) -> RandomAccess:
        """Return the way to any samples, as this loader would deliver them in a batch.

        It is for data sources of other frameworks, which decide on order and batches themselves.
        """
        return RandomAccess(self._pipeline, self._course.delivery)

    def preparer(self, rules: ChosenRules, *, one_size: bool | None = None) -> Preparer:
        """Return what prepares any samples up to their last pass, with these rules.

        It is for processes that prepare parts of another loader's batches. `one_size` says whether
        images of different sizes are an error; None does as this loader.
        """
        return Preparer(self._pipeline, rules, one_size=one_size)

    def choose_rules(self) -> ChosenRules:
        """Look at some samples, and choose the rules that pay, for `preparer`."""
        return self._pipeline.choose_rules()

    def batch_at(
        self, epoch: int, step: int, *, rank: int | None = None, world_size: int | None = None
    ) -> PastBatch:
        """Make a batch again that was delivered before, or comes later: number `step` of `epoch`.

        Print the result to see which samples it has, and what each transform drew for them. Steps
        count from 0 at the beginning of the epoch, also if the loader went on from a state.
        `rank` and `world_size` look at the batches of other ranks. It takes as long as one batch,
        and nothing of the loader changes: any thread may ask while another one iterates.
        """
        return self._course.past_batch(epoch, step, rank, world_size)

    def state_dict(self) -> dict[str, int]:
        """Where the loader stands: after the batches delivered so far, in a few integers."""
        return self._course.state()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Make the next iteration go on from a `state_dict`, batch for batch.

        Batch size, threads and world size may differ from the loader that was saved; the samples
        that were consumed then are left out all the same. With `reuse`, another world size goes on
        only from the start of an epoch.
        """
        self._course.go_on_from(state)

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
        pipeline = self._pipeline
        options = replace(
            pipeline.options,
            threads=threads or pipeline.options.threads,
            fidelity=fidelity or pipeline.options.fidelity,
        )
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._course = self._course.anew(
            plan or pipeline.plan, options, batch_size or self.batch_size, rules
        )
        return other

    def close(self) -> None:
        """Stop the loader's threads now; iterating again starts new ones.

        Any thread may call it, as often as it likes. Whoever waits for a batch meanwhile gets a
        LoaderError.
        """
        self._course.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, index: Any) -> NoReturn:
        """Refuse to be used as a torch Dataset."""
        raise LoaderError(HAS_NO_SAMPLES)

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise LoaderError(CANNOT_BE_COPIED)

    def __repr__(self) -> str:
        share = self._course.describe_share()  # asked for first: threads may follow from it
        pipeline = self._pipeline
        chosen = pipeline.selection.describe()
        reuse = "" if pipeline.reusing is None else f"reuse={pipeline.reusing.asked!r}, "
        return (
            f"Loader({pipeline.source.describe()}, {f'{chosen}, ' if chosen else ''}{reuse}"
            f"batch_size={self.batch_size}, threads={self.threads}, "
            f"dtype={pipeline.output.element.name.lower()}, {share})"
        )

    @property
    def _pipeline(self) -> Pipeline:
        return self._course.pipeline

    def _together(self) -> tuple[int, float]:
        """This rank's samples in an epoch, each counted once, and how many are run together."""
        samples = len(self._course.share(len(self._pipeline.selection)))
        return samples, images_in_part(self.batch_size, part_size_of(self._pipeline.source))
