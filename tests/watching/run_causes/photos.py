"""What the scripts share: a small set of photos, made once."""

from __future__ import annotations

from pathlib import Path

from penstock.demo.sample_set import cached_folder, make_sample_set

IMAGES = 128


def photo_folder() -> Path:
    """A folder with photo-like JPEGs in classes."""
    return make_sample_set(cached_folder(IMAGES), images=IMAGES, progress=False)
