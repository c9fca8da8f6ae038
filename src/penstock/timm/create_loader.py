"""timm's `create_loader`, whose batches are made natively.

timm itself makes the transform from the arguments, normalises and erases on the device, and mixes;
ours is what lies between: files, pixels and batches. So the arguments mean what they mean there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from timm.data import loader as timm_loader
from timm.data.constants import IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD
from timm.data.distributed_sampler import OrderedDistributedSampler, RepeatAugSampler
from timm.data.transforms_factory import create_transform
from torch.utils.data import DistributedSampler

from penstock.errors import LoaderError
from penstock.timm.samples import open_samples
from penstock.torch.data_loader import DataLoader
from penstock.torch.dataset import Dataset, draw_key

_SEEDS = 1 << 63  # torch's generators take less


class PrefetchLoader(timm_loader.PrefetchLoader):
    """timm's own: takes uint8 batches to the device, and there normalises and erases.

    Iterating yields `(input, target)`; `loader` is the `penstock.torch.DataLoader` inside.
    """

    @property
    def batch_size(self) -> int | None:
        """Samples in a batch."""
        size: int | None = self.loader.batch_size
        return size

    @property
    def drop_last(self) -> bool:
        """Whether a last batch that is too short is left out."""
        return bool(self.loader.drop_last)

    def close(self) -> None:
        """Stop the threads now; iterating again starts new ones."""
        self.loader.close()


def create_loader(
    dataset: Any,
    input_size: int | tuple[int, int] | tuple[int, int, int],
    batch_size: int,
    is_training: bool = False,
    no_aug: bool = False,
    re_prob: float = 0.0,
    re_mode: str = "const",
    re_count: int = 1,
    re_split: bool = False,
    train_crop_mode: str | None = None,
    scale: tuple[float, float] | None = None,
    ratio: tuple[float, float] | None = None,
    hflip: float = 0.5,
    vflip: float = 0.0,
    color_jitter: Any = 0.4,
    color_jitter_prob: float | None = None,
    grayscale_prob: float = 0.0,
    gaussian_blur_prob: float = 0.0,
    auto_augment: str | None = None,
    num_aug_repeats: int = 0,
    num_aug_splits: int = 0,
    interpolation: str = "bilinear",
    mean: tuple[float, ...] = IMAGENET_DEFAULT_MEAN,
    std: tuple[float, ...] = IMAGENET_DEFAULT_STD,
    num_workers: int = 1,
    distributed: bool = False,
    crop_pct: float | None = None,
    crop_mode: str | None = None,
    crop_border_pixels: int | None = None,
    collate_fn: Callable[[Any], Any] | None = None,
    pin_memory: bool = False,
    fp16: bool = False,
    img_dtype: torch.dtype = torch.float32,
    device: torch.device = torch.device("cuda"),  # noqa: B008  as in timm; never changed
    use_prefetcher: bool = True,
    use_multi_epochs_loader: bool = False,  # noqa: ARG001  ours always keep on
    persistent_workers: bool = True,
    worker_seeding: Any = "all",
    tf_preprocessing: bool = False,
    input_size_choices: Sequence[Any] | None = None,
    batch_size_choices: Sequence[int] | None = None,  # noqa: ARG001  for input_size_choices only
    batch_choice_weights: Sequence[float] | None = None,  # noqa: ARG001  so are those after it
    batch_choice_seed: int = 0,  # noqa: ARG001
    batch_choice_schedule: str = "constant",  # noqa: ARG001
    batch_schedule_epochs: int | None = None,  # noqa: ARG001
    batch_schedule_spread: float = 0.65,  # noqa: ARG001
    batch_schedule_random_mix: float = 0.1,  # noqa: ARG001
    num_batches: int | None = None,  # noqa: ARG001
    *,
    threads: int | None = None,
    on_error: str = "raise",
) -> Any:
    """Return a loader as timm's `create_loader` does, by the same arguments.

    `dataset` is timm's `ImageDataset` over a folder, torchvision's `ImageFolder`, a
    `penstock.torch.Dataset` without a transform, or a path: a folder is read as timm reads it,
    anything else as `penstock.Loader` does. It is not changed; the loader has its own `dataset`.

    With `use_prefetcher` a `PrefetchLoader` comes back, else a `penstock.torch.DataLoader`. Pixels
    are timm's to the bit where nothing is random. Random draws have the same distributions, but
    are keyed by the seed that torch draws in each epoch, so `torch.manual_seed` repeats them.

    Of the arguments that are about worker processes, `num_workers` and `persistent_workers` only
    decide which seeds torch draws, since `threads` of this process do the work: None takes the
    cores that it may use. `on_error` says what becomes of a file that cannot be read: "raise", or
    "substitute" for the next sample instead, as timm does with files that cannot be opened.

    Raises TranslationError, LoaderError or TransformError where an argument asks for something
    that cannot be done exactly, with its name.
    """
    _refuse_others(
        num_aug_splits=num_aug_splits,
        tf_preprocessing=tf_preprocessing,
        input_size_choices=input_size_choices,
    )
    _check_seeding(worker_seeding)
    channels = _count_channels(input_size, mean)
    re_num_splits = 2 if re_split else 0
    transform = create_transform(
        input_size,
        is_training=is_training,
        no_aug=no_aug,
        train_crop_mode=train_crop_mode,
        scale=scale,
        ratio=ratio,
        hflip=hflip,
        vflip=vflip,
        color_jitter=color_jitter,
        color_jitter_prob=color_jitter_prob,
        grayscale_prob=grayscale_prob,
        gaussian_blur_prob=gaussian_blur_prob,
        auto_augment=auto_augment,
        interpolation=interpolation,
        mean=mean,
        std=std,
        crop_pct=crop_pct,
        crop_mode=crop_mode,
        crop_border_pixels=crop_border_pixels,
        re_prob=re_prob,
        re_mode=re_mode,
        re_count=re_count,
        re_num_splits=re_num_splits,
        use_prefetcher=use_prefetcher,
    )
    samples = open_samples(dataset, transform, threads=threads, on_error=on_error)
    sampler = _make_sampler(
        samples, num_aug_repeats, is_training=is_training, distributed=distributed
    )
    loader = DataLoader(
        samples,
        batch_size,
        shuffle=is_training and sampler is None,
        sampler=sampler,
        num_workers=num_workers,
        collate_fn=None if collate_fn is timm_loader.fast_collate else collate_fn,
        pin_memory=pin_memory,
        drop_last=is_training,
        generator=_draws_of_this_rank() if num_aug_repeats else None,
        persistent_workers=persistent_workers and num_workers > 0,
        threads=threads,
    )
    if not use_prefetcher:
        return loader
    return PrefetchLoader(
        loader,
        mean=mean,
        std=std,
        channels=channels,
        device=torch.device(device),
        fp16=fp16,
        img_dtype=img_dtype,
        re_prob=re_prob if is_training and not no_aug else 0.0,
        re_mode=re_mode,
        re_count=re_count,
        re_num_splits=re_num_splits,
    )


_WAYS_OUT = {
    "num_aug_splits": (
        "clean and augmented versions of a sample, side by side in a batch, are not made here. "
        "Leave it at 0, or make the loader with timm.data.create_loader"
    ),
    "tf_preprocessing": (
        "TensorFlow's resizing gives other pixels than Pillow's. Leave it out, or make the loader "
        "with timm.data.create_loader"
    ),
    "input_size_choices": (
        "batches of scheduled sizes are not made here. Leave it out, or make the loader with "
        "timm.data.create_loader"
    ),
}


def _refuse_others(**given: Any) -> None:
    for name, value in given.items():
        if value:
            raise LoaderError(f"create_loader: {name}={value!r}: {_WAYS_OUT[name]}.")


def _check_seeding(given: Any) -> None:
    if given not in ("all", "part"):
        raise LoaderError(
            f"create_loader: worker_seeding={given!r}: there are no worker processes to be seeded, "
            "and what is drawn follows torch's generator. Leave it out, and call "
            "torch.manual_seed(...)."
        )


def _count_channels(input_size: Any, mean: Sequence[float]) -> int:
    has_channels = isinstance(input_size, (tuple, list)) and len(input_size) == 3
    channels = int(input_size[0]) if has_channels else len(mean)
    if channels != 3:
        raise LoaderError(
            f"create_loader: input_size={input_size!r} and mean={tuple(mean)!r} ask for {channels} "
            "channels, and images have three here. Make the loader with timm.data.create_loader."
        )
    return channels


def _make_sampler(
    samples: Dataset, num_aug_repeats: int, *, is_training: bool, distributed: bool
) -> Any:
    """Return the sampler that timm takes; None for all samples in this process."""
    if not distributed:
        if num_aug_repeats:
            raise LoaderError(
                f"create_loader: num_aug_repeats={num_aug_repeats} shows a sample to several "
                "processes, but distributed is False. Set that, or leave num_aug_repeats at 0."
            )
        return None
    if not is_training:
        return OrderedDistributedSampler(samples)
    if num_aug_repeats:
        return RepeatAugSampler(samples, num_repeats=num_aug_repeats)
    return DistributedSampler(samples)


def _draws_of_this_rank() -> torch.Generator:
    """Return a generator that differs from rank to rank, also where all have the same seed.

    Draws are keyed by the sample, so ranks that repeat one would else augment it alike.
    """
    return torch.Generator().manual_seed((draw_key() + torch.distributed.get_rank()) % _SEEDS)
