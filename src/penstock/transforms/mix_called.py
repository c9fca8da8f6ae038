"""MixUp and CutMix when they are called: a batch of images and its labels, in any nesting."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from penstock._core import MixKind
from penstock.errors import TransformError
from penstock.transforms.batch_op import BatchOp, Mixing
from penstock.transforms.inputs import (
    EVERYTHING,
    IMAGE,
    PILLOW,
    TARGETS,
    TENSOR,
    TENSORS,
    VIDEO,
    chosen_kinds,
    find_labels,
    flatten,
    has_any,
    kind_of,
    plain,
    wrap_like,
)
from penstock.transforms.op import Key, Params
from penstock.transforms.torch_draws import get_torch


class CalledOnBatches(BatchOp):
    """What torchvision's two and timm's share: finding the labels, and checking both."""

    __slots__ = ()

    # Where the labels of a batch are: a function of it, or "default".
    labels_getter: Any = "default"

    def __call__(self, *inputs: Any, key: Key | None = None) -> Any:
        """Mix a batch: images and labels, in any nesting. Draws are from torch's generator."""
        if key is not None:
            raise TransformError(
                f"{type(self).__name__}: key is for single samples, and this mixes a batch. "
                "Leave it out."
            )
        sample = inputs if len(inputs) > 1 else inputs[0]
        values, rebuild = flatten(sample)
        if has_any(values, PILLOW | TARGETS):
            raise TransformError(
                f"{type(self).__name__}() does not support PIL images, bounding boxes, keypoints "
                "and masks. Give a batch of tensors."
            )
        labels = find_labels(self.labels_getter, sample)
        self._check_labels(labels)
        pairs = list(zip(values, chosen_kinds(values, EVERYTHING), strict=True))
        params = {"labels": labels, "batch_size": labels.shape[0]}
        params |= self.make_params([value for value, kind in pairs if kind])
        return rebuild(
            [
                self.transform(value, params) if kind or value is labels else value
                for value, kind in pairs
            ]
        )

    def transform(self, inpt: Any, params: Params) -> Any:
        """Mix labels, images and videos; leave the rest alone."""
        if inpt is params["labels"]:
            return self.mix_labels(inpt, params)
        kind = kind_of(inpt)
        if not kind & (TENSOR | IMAGE | VIDEO):
            return inpt
        axes = 5 if kind == VIDEO else 4
        if inpt.ndim != axes:
            raise TransformError(
                f"{type(self).__name__}: Expected a batched input with {axes} dims, but got "
                f"{inpt.ndim} dimensions instead."
            )
        if inpt.shape[0] != params["batch_size"]:
            raise TransformError(
                f"{type(self).__name__}: The batch size of the image or video does not match the "
                f"batch size of the labels: {inpt.shape[0]} != {params['batch_size']}."
            )
        return wrap_like(self.mix_images(plain(inpt), params), inpt)

    @abstractmethod
    def mix_labels(self, labels: Any, params: Params) -> Any:
        """Labels as probabilities, each mixed with its partner's."""

    @abstractmethod
    def mix_images(self, images: Any, params: Params) -> Any:
        """Images, each mixed with its partner."""

    def _check_labels(self, labels: Any) -> None:
        where = type(self).__name__
        if not kind_of(labels) & TENSORS:
            raise TransformError(
                f"{where}: The labels must be a tensor, but got {type(labels)} instead."
            )
        if labels.ndim not in (1, 2):
            raise TransformError(
                f"{where}: labels should be index based with shape (batch_size,) or probability "
                "based with shape (batch_size, num_classes), but got a tensor of shape "
                f"{tuple(labels.shape)} instead."
            )
        if labels.ndim == 1 and self.num_classes is None:
            raise TransformError(
                f"{where}: num_classes must be passed if the labels are index-based (1D)."
            )
        classes = labels.shape[-1]
        if labels.ndim == 2 and self.num_classes not in (None, classes):
            raise TransformError(
                f"{where}: When passing 2D labels, the number of elements in last dimension must "
                f"match num_classes: {classes} != {self.num_classes}. You can leave num_classes "
                "to None."
            )


def roll_labels(labels: Any, own: float, num_classes: int | None) -> Any:
    """Labels as probabilities; each keeps a share of its own, the rest is of the one before."""
    torch = get_torch()
    if labels.ndim == 1:
        labels = torch.nn.functional.one_hot(labels, num_classes=num_classes)
    if not labels.dtype.is_floating_point:
        labels = labels.float()
    return labels.roll(1, 0).mul_(1.0 - own).add_(labels.mul(own))


def mix_by_rows(images: Any, mixing: Mixing) -> Any:
    """Images, each mixed as its row says."""
    torch = get_torch()
    blended = np.flatnonzero(mixing.kind == int(MixKind.BLEND))
    if len(blended) and not images.dtype.is_floating_point:
        raise TransformError(
            f"MixUp.timm: images are {images.dtype}, and blending needs floating point. "
            'Put ToDtype("float32", scale=True) before it.'
        )
    mixed = images.clone()
    partner = torch.from_numpy(mixing.partner.copy())
    if len(blended):
        own, other = (
            torch.from_numpy(weights[blended]).to(images.dtype).reshape(-1, 1, 1, 1)
            for weights in (mixing.own, mixing.other)
        )
        mixed[blended] = images[blended] * own + images[partner[blended]] * other
    for row in np.flatnonzero(mixing.kind == int(MixKind.PASTE)).tolist():
        top, left, height, width = mixing.box[row].tolist()
        window = (..., slice(top, top + height), slice(left, left + width))
        mixed[row][window] = images[mixing.partner[row]][window]
    return mixed


def soften_by_rows(labels: Any, mixing: Mixing, num_classes: int | None) -> Any:
    """Labels as probabilities: smoothed, then each mixed with its partner's as its row says."""
    torch = get_torch()
    if labels.ndim == 1:
        labels = torch.nn.functional.one_hot(labels, num_classes=num_classes)
    off = mixing.smoothing / labels.shape[1]
    smooth = labels.float() * (1.0 - mixing.smoothing) + off
    own, other = (torch.from_numpy(part.copy())[:, None] for part in (mixing.own, mixing.other))
    return smooth * own + smooth[torch.from_numpy(mixing.partner.copy())] * other
