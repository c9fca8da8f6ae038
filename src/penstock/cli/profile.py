"""`penstock profile`: what does each op, line and file of a Dataset or transform cost?"""

from __future__ import annotations

import argparse
from pathlib import Path

from penstock.cli.shared import Verb, count, tell
from penstock.errors import SourceError

SAMPLE_PHOTOS = 32
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".bmp"}


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `profile`."""
    verb.add_argument(
        "object",
        metavar="MODULE:OBJECT",
        help="a Dataset or a transform, such as train:dataset or train.py:make_transform",
    )
    verb.add_argument("--lines", action="store_true", help="also time your own code line by line")
    verb.add_argument(
        "--samples",
        type=count,
        default=200,
        metavar="N",
        help="how many samples of a Dataset, or photos for a transform, to time at most "
        "(default: %(default)s)",
    )
    verb.add_argument(
        "--images",
        type=Path,
        metavar="FOLDER",
        help="photos for a transform (default: generated photos)",
    )
    verb.add_argument(
        "--arrays", action="store_true", help="give a transform NumPy arrays, not Pillow images"
    )


def run(args: argparse.Namespace) -> int:
    """Profile, and print what was found."""
    from penstock.cli.user_object import load_object
    from penstock.costs.profile import profile_object

    profile = profile_object(
        load_object(args.object),
        lambda: _photos(args.images),
        samples=args.samples,
        by_line=args.lines,
        as_array=args.arrays,
    )
    tell(args, profile.to_dict(), profile.lines())
    return 0


def _photos(folder: Path | None) -> list[str]:
    if folder is None:
        from penstock.demo.sample_set import cached_folder, make_sample_set

        folder = make_sample_set(cached_folder(SAMPLE_PHOTOS), images=SAMPLE_PHOTOS, classes=8)
    photos = sorted(str(file) for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES)
    if not photos:
        raise SourceError(f"{folder}: there are no images. Give a folder with JPEG or PNG files.")
    return photos


VERBS = (
    Verb(
        "profile",
        "time a Dataset or a transform op by op",
        "Times a Dataset, or a transform of torchvision, Albumentations, penstock or "
        "your own, op by op on one core, and names the slowest files of a Dataset.",
        add_options,
        run,
    ),
)
