"""What the scripts share: a small set of photos, made once, and how long to train."""

from __future__ import annotations

from pathlib import Path

from penstock.demo.sample_set import RECIPE, make_sample_set
from penstock.user_cache import user_cache_folder

IMAGES = 128


def photo_folder() -> Path:
    """A folder with photo-like JPEGs in classes."""
    folder = user_cache_folder() / "sample-sets" / f"{IMAGES}-images-recipe-{RECIPE}"
    return make_sample_set(folder, images=IMAGES, progress=False)


def photo_paths() -> list[str]:
    return sorted(str(path) for path in photo_folder().rglob("*.jpg"))
