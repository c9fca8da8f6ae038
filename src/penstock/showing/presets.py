"""Pipelines by name. Imports nothing heavy, so that the command line can list them."""

from __future__ import annotations

from typing import Any

# name: which function of penstock.transforms makes it, with which arguments
PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "classification": ("classification", {}),
    "classification_eval": ("classification_eval", {}),
    "randaugment": ("classification", {"auto_augment_policy": "ra"}),
    "trivialaugment": ("classification", {"auto_augment_policy": "ta_wide"}),
    "autoaugment": ("classification", {"auto_augment_policy": "imagenet"}),
    "augmix": ("classification", {"auto_augment_policy": "augmix"}),
    "hflip": ("detection", {"data_augmentation": "hflip"}),
    "lsj": ("detection", {"data_augmentation": "lsj"}),
    "multiscale": ("detection", {"data_augmentation": "multiscale"}),
    "ssd": ("detection", {"data_augmentation": "ssd"}),
    "ssdlite": ("detection", {"data_augmentation": "ssdlite"}),
}
DEFAULT = "randaugment"


def make_preset(name: str) -> Any:
    """One of PRESETS."""
    from penstock import transforms

    maker, arguments = PRESETS[name]
    return getattr(transforms, maker)(**arguments)
