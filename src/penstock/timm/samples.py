"""Whatever timm's `create_loader` is given as a dataset, as a Dataset of ours with a transform."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from timm.data.dataset_factory import create_dataset as create_timm_dataset

from penstock.errors import LoaderError, TranslationError
from penstock.loading.deliver import LabelDelivery
from penstock.torch.dataset import Dataset
from penstock.translation.datasets.contents import IMAGE, LABEL, DatasetContents
from penstock.translation.datasets.read_dataset import read_dataset
from penstock.translation.tracing.values import UnfollowableError

_OTHERWISE = "Give timm's ImageDataset of a folder, or make the loader with timm.data.create_loader"
# By which arguments of create_loader a step of timm's transform was asked for.
_ASKED_BY = {
    "AugMixAugment": "auto_augment",
    "AutoAugment": "auto_augment",
    "RandAugment": "auto_augment",
    "RandomErasing": "re_mode, re_count",
    "ColorJitter": "color_jitter",
    "GaussianBlur": "gaussian_blur_prob",
    "RandomApply": "color_jitter_prob, gaussian_blur_prob",
    "RandomGrayscale": "grayscale_prob",
    "RandomResizedCropAndInterpolation": "scale, ratio, interpolation",
    "ResizeKeepRatio": "crop_mode, train_crop_mode, interpolation",
    "Resize": "crop_pct, interpolation",
    "CenterCropOrPad": "crop_mode, train_crop_mode",
    "Normalize": "mean, std",
}


def open_samples(given: Any, transform: Any, *, threads: int | None, on_error: str) -> Dataset:
    """Return a Dataset of `(image, label)` with the transform that timm has made."""
    if isinstance(given, Dataset):
        if on_error != "raise":
            raise LoaderError(
                f"create_loader: on_error={on_error!r} is for files that it opens itself. Give it "
                "to the penstock.torch.Dataset."
            )
        return _with_transform(given, transform)
    if isinstance(given, (str, os.PathLike)):
        if not os.path.isdir(given):
            return _with_transform(Dataset(given, threads=threads, on_error=on_error), transform)
        given = create_timm_dataset("", root=os.fspath(given), search_split=False)
    source = _read_contents(given, transform).source()
    with _naming_arguments():
        return Dataset(source, transform=transform, threads=threads, on_error=on_error)


def _with_transform(given: Dataset, transform: Any) -> Dataset:
    if given.transform is not None:
        raise LoaderError(
            "create_loader: the penstock.torch.Dataset has a transform, and the arguments of "
            "create_loader ask for another. Make the Dataset without one."
        )
    if given.seed is not None:
        raise LoaderError(
            f"create_loader: the penstock.torch.Dataset has seed={given.seed}, but a timm training "
            "draws from torch's generator. Make the Dataset without one, and call "
            "torch.manual_seed(...)."
        )
    with _naming_arguments():
        samples = given.with_transform(transform)
    work = samples.work
    labels = work.beside.labels()
    are_pairs = isinstance(work.delivery, LabelDelivery) and labels is not None
    if not are_pairs or labels is None or labels.shape or labels.dtype != np.int64:
        raise LoaderError(
            f"create_loader: samples of {samples.source.describe()} are not pairs of an image and "
            "a class number. Use targets='labels', and leave out columns and as_dict."
        )
    return samples


def _read_contents(dataset: Any, transform: Any) -> DatasetContents:
    """Return the files and labels of a dataset of timm's or torchvision's.

    timm sets the dataset's `transform`. Here a copy gets it, and it is looked up that its images
    go through that and nothing else.
    """
    name = type(dataset).__qualname__
    changed = copy.copy(dataset)
    changed.transform = transform
    try:
        contents = read_dataset(changed)
    except UnfollowableError as error:
        raise _unread(name, str(error)) from error
    if len(contents.steps) != 1 or contents.steps[0] is not transform:
        raise _unread(name, "its images go through more than its `transform`, or not through that")
    if contents.modes != ("RGB",):
        modes = ", ".join(map(repr, contents.modes)) or "None"
        raise _unread(name, f"its input_img_mode is {modes}; known is 'RGB'")
    if contents.nesting != (IMAGE, LABEL) or contents.labels.dtype != np.int64:
        raise _unread(name, "its samples are not pairs of an image and a class number")
    if not contents.paths:
        raise LoaderError(f"create_loader: {name} is empty.")
    return contents


def _unread(name: str, reason: str) -> TranslationError:
    return TranslationError(f"create_loader: dataset {name}: {reason}. {_OTHERWISE}.", (reason,))


@contextmanager
def _naming_arguments() -> Iterator[None]:
    """Say by which arguments a step was asked for that has no equivalent."""
    try:
        yield
    except TranslationError as error:
        reasons = tuple(map(_with_argument, error.reasons))
        listed = "".join(f"\n- {reason}" for reason in reasons)
        raise TranslationError(
            f"create_loader: what these arguments ask for has no exact equivalent:{listed}\n"
            "Change them, or make the loader with timm.data.create_loader.",
            reasons,
        ) from error


def _with_argument(reason: str) -> str:
    step = reason.partition(":")[0].partition("(")[0]
    return f"{_ASKED_BY[step]}: {reason}" if step in _ASKED_BY else reason
