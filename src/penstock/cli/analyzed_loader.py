"""The loader that `penstock analyze` is about: made from a data set, or the user's own."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from penstock.cli.arguments import open_given
from penstock.errors import AnalysisError

if TYPE_CHECKING:
    from penstock.analysis.user_code import UserCode

CROP_PX = 224
BATCH_SIZE = 64


def is_object(data: str) -> bool:
    """Tell MODULE:OBJECT from a folder or file, whatever its name."""
    return ":" in data and not os.path.exists(data)


def open_loader(args: argparse.Namespace) -> tuple[Any, UserCode | None]:
    """Return the loader, and the user's code that makes it where that is a file's."""
    if is_object(args.data):
        return _users_own(args)
    from penstock.loading.loader import Loader

    loader = Loader(
        open_given(args, args.data),
        batch_size=args.batch_size or BATCH_SIZE,
        transform=_transform(args.transform),
        shuffle=True,
        threads=args.threads,
        on_error=args.on_error or "raise",
    )
    return loader, None


def _users_own(args: argparse.Namespace) -> tuple[Any, UserCode | None]:
    from penstock.analysis.user_code import read_user_code
    from penstock.cli.user_object import file_of, load_object
    from penstock.loading.loader import Loader

    for option in ("batch_size", "threads", "transform", "on_error", "kind", "split"):
        if getattr(args, option) is not None:
            raise AnalysisError(
                f"--{option.replace('_', '-')}: {args.data} is a loader with its own. Leave the "
                "option out, or name a data set."
            )
    loader = load_object(args.data)
    torch_data = sys.modules.get("torch.utils.data")
    known = (Loader,) if torch_data is None else (Loader, torch_data.DataLoader)
    if not isinstance(loader, known):
        raise AnalysisError(
            f"{args.data}: is a {type(loader).__name__}. Name a torch DataLoader, a penstock "
            "Loader, or a function without arguments that makes one."
        )
    file = file_of(args.data)
    name = args.data.rpartition(":")[2].split(".", maxsplit=1)[0]
    return loader, None if file is None else read_user_code(file, name)


def open_step(name: str | None) -> Any:
    """Return the user's training step; None if none is named."""
    if name is None:
        return None
    from penstock.cli.user_object import load_as_is

    step = load_as_is(name)
    if isinstance(step, type) or not callable(step):
        raise AnalysisError(
            f"--step {name}: is a {type(step).__name__}. Name a function that is called with "
            "each batch."
        )
    return step


def _transform(name: str | None) -> Any:
    from penstock import transforms as T

    if name is None:
        return T.Compose(
            [
                T.RandomResizedCrop(CROP_PX),
                T.RandomHorizontalFlip(),
                T.RandAugment(),
                T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            ]
        )
    from penstock.cli.user_object import load_object

    return load_object(name)
