"""Models to train by name, and one step of each kind: classification and detection.

They are built without weights, which change nothing about their speed, so nothing is downloaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from penstock.errors import AnalysisError
from penstock.watching.loader_facts import is_list_of_images

_CLASSES = 1000
_DETECTION, _OTHERS = "torchvision.models.detection", ("segmentation", "video", "optical_flow")
_DETECTED_CLASSES = 91  # of torchvision's detection models, the background included
# Corners of made-up boxes, as shares of width and height: about as many as photos of COCO have.
_BOXES = (
    (0.05, 0.05, 0.35, 0.45),
    (0.40, 0.10, 0.95, 0.60),
    (0.10, 0.55, 0.30, 0.95),
    (0.45, 0.70, 0.60, 0.85),
    (0.65, 0.65, 0.90, 0.95),
)
_KEYPOINTS = 17  # of a person, in COCO
_OWN_STEP = "Give a step of your own: analyze(loader, step=...) or --step."


def make_model(name: str) -> Any:
    """Make a model by its name in torchvision or timm, or by `module:callable`."""
    module, _, attribute = name.partition(":")
    if attribute:
        return _by_path(module, attribute)()
    made = _from_torchvision(name)
    if made is None:
        made = _from_timm(name)
    if made is None:
        raise AnalysisError(
            f"model {name!r}: neither torchvision nor timm has it here. Name one of theirs, or "
            "give module:callable for one of your own."
        )
    return made


def _by_path(module: str, attribute: str) -> Callable[..., Any]:
    try:
        made: Callable[..., Any] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise AnalysisError(f"model {module}:{attribute}: {error}.") from error
    return made


def _from_torchvision(name: str) -> Any:
    """Return a model of torchvision's; None if it is not there or does not have it."""
    try:
        build = import_module("torchvision.models").get_model_builder(name)
    except (ImportError, RuntimeError, ValueError):
        return None
    family = build.__module__
    if family.startswith(tuple(f"torchvision.models.{other}" for other in _OTHERS)):
        raise AnalysisError(
            f"model {name!r}: a step is known for models that classify or detect. {_OWN_STEP}"
        )
    if family.startswith(_DETECTION):
        return build(weights=None, weights_backbone=None)
    return build(weights=None)


def _from_timm(name: str) -> Any:
    try:
        return import_module("timm").create_model(name, pretrained=False, num_classes=_CLASSES)
    except (ImportError, RuntimeError, ValueError):
        return None


def is_detector(model: Any) -> bool:
    """Tell whether a model is one of torchvision's for detection, or derived from one."""
    return any(kind.__module__.startswith(_DETECTION) for kind in type(model).__mro__)


def classification_loss(model: Any, device: Any, batch: Any) -> Any:
    """Copy a batch to the device and return the loss; labels that are no classes are made up."""
    torch = sys.modules["torch"]
    images, labels = images_and_labels(batch)
    images = _as_floats(images.to(device, non_blocking=True))
    labels = labels.to(device, non_blocking=True) % _CLASSES
    return torch.nn.functional.cross_entropy(model(images), labels)


def detection_loss(model: Any, device: Any, batch: Any) -> Any:
    """Copy a batch to the device and return the sum of its losses; targets may be made up."""
    images, targets = _split(batch)
    listed = _listed_images(images)
    if not _are_targets(targets, len(listed)):
        targets = [made_up_targets(model, image) for image in listed]
    placed = [_as_floats(image.to(device, non_blocking=True)) for image in listed]
    wanted = [
        {name: value.to(device, non_blocking=True) for name, value in target.items()}
        for target in targets
    ]
    try:
        losses = model(placed, wanted)
    except RuntimeError as error:
        if "custom C++ ops" not in str(error):
            raise
        raise AnalysisError(
            f"model {type(model).__name__}: it needs the compiled part of torchvision, which does "
            "not load beside this torch. Install versions of both that belong together."
        ) from error
    return sum(losses.values())


def images_to_copy(batch: Any) -> list[Any]:
    """Return what of a batch goes to the device: one tensor, or one per image."""
    images, _ = _split(batch)
    if isinstance(images, (tuple, list)):
        return _listed_images(images)
    return [images_and_labels(batch)[0]]


def images_and_labels(batch: Any) -> tuple[Any, Any]:
    """Return the images of a batch in four dimensions, and whole numbers as their labels."""
    torch = sys.modules["torch"]
    images, labels = _split(batch)
    images = torch.as_tensor(images)
    if images.ndim != 4:
        raise AnalysisError(
            f"the model takes batches of images in four dimensions, got {tuple(images.shape)}. "
            + _OWN_STEP
        )
    if not isinstance(labels, torch.Tensor) or labels.ndim != 1 or labels.is_floating_point():
        labels = torch.zeros(len(images), dtype=torch.int64)
    return images, labels


def _split(batch: Any) -> tuple[Any, Any]:
    """Return the first two parts of a batch; the second is None if there is only one."""
    if isinstance(batch, Mapping):
        batch = tuple(batch.values())
    if isinstance(batch, list) and batch and is_list_of_images(batch):
        return batch, None  # images of different sizes, and nothing else
    if not isinstance(batch, (tuple, list)):
        return batch, None
    return batch[0], batch[1] if len(batch) > 1 else None


def _listed_images(images: Any) -> list[Any]:
    """Return the images one by one, as detection models take them."""
    torch = sys.modules["torch"]
    listed = [torch.as_tensor(image) for image in images]
    if not listed or any(image.ndim != 3 for image in listed):
        shape = tuple(getattr(images, "shape", ())) or f"a {type(images).__name__}"
        raise AnalysisError(
            f"the model takes images in three dimensions, alone or in a batch, got {shape}. "
            + _OWN_STEP
        )
    return listed


def _as_floats(images: Any) -> Any:
    return images if images.is_floating_point() else images.float().div_(255)


def _are_targets(targets: Any, images: int) -> bool:
    """Tell whether targets are as torchvision's detection models take them."""
    return (
        isinstance(targets, Sequence)
        and len(targets) == images
        and all(isinstance(one, Mapping) and {"boxes", "labels"} <= one.keys() for one in targets)
    )


def made_up_targets(model: Any, image: Any) -> dict[str, Any]:
    """Return boxes and whatever else the model learns from, the same for every image."""
    torch = sys.modules["torch"]
    height, width = image.shape[-2:]
    boxes = torch.tensor(_BOXES) * torch.tensor([width, height, width, height])
    labels = torch.arange(1, len(_BOXES) + 1) % _DETECTED_CLASSES
    targets = {"boxes": boxes, "labels": labels}
    heads = getattr(model, "roi_heads", None)
    if getattr(heads, "mask_head", None) is not None:
        masks = torch.zeros(len(boxes), height, width, dtype=torch.uint8)
        for mask, (left, top, right, bottom) in zip(masks, boxes.int().tolist(), strict=True):
            mask[top : bottom + 1, left : right + 1] = 1
        targets["masks"] = masks
    if getattr(heads, "keypoint_head", None) is not None:
        centres = (boxes[:, :2] + boxes[:, 2:]) / 2
        points = torch.cat([centres, torch.ones(len(boxes), 1)], dim=1)
        targets["keypoints"] = points[:, None].repeat(1, _KEYPOINTS, 1)
        targets["labels"] = torch.ones_like(labels)  # only persons have any
    return targets
