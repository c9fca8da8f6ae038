"""The image files to measure with: real photos where there are some, else the sample set."""

from __future__ import annotations

import os
from itertools import cycle, islice
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
IMAGE_SUFFIXES = {".jpeg", ".jpg"}


def shared_data_folder() -> Path | None:
    """Return the folder of test data: $PENSTOCK_TEST_DATA, or ../shared/data beside the checkout.

    None where neither is there. A folder that is named but missing is a mistake worth stopping for.
    """
    named = os.environ.get("PENSTOCK_TEST_DATA")
    folder = Path(named) if named else CHECKOUT.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    if named:
        raise FileNotFoundError(
            f"PENSTOCK_TEST_DATA: {named} is not a folder. Correct or unset it."
        )
    return None


def default_folder(photos: str = "in1k") -> Path:
    """Return this folder of real photos, or make the sample set and return its folder."""
    shared = shared_data_folder()
    if shared is not None and (shared / photos).is_dir():
        return shared / photos

    from penstock.demo.sample_set import make_sample_set

    return Path(make_sample_set(CHECKOUT / "build" / "sample_set"))


def image_paths(folder: Path, count: int) -> tuple[str, ...]:
    """Return `count` paths of the JPEG files under `folder`, repeated as often as it takes."""
    found = sorted(str(path) for path in folder.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES)
    if not found:
        raise FileNotFoundError(
            f"{folder}: no .jpg or .jpeg files in it. Name another with --data."
        )
    return tuple(islice(cycle(found), count))
