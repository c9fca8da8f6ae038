"""`penstock show --epoch N --step N`: one batch of a training, with what was drawn for it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from penstock.cli.shared import count, open_given, tell, whole
from penstock.cli.user_object import BATCH_SIZE, is_object, load_object, load_pipeline
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.loading.past_batch import PastBatch

# What a loader of the user's has its own of.
_OF_LOADERS = ("transform", "preset", "batch_size", "seed", "shuffle", "kind", "split", "labels")


def add_batch_options(verb: argparse.ArgumentParser) -> None:
    """Add what says which batch is meant."""
    group = verb.add_argument_group(
        "one batch of a training",
        "With --epoch and --step, the picture shows that batch of a Loader, with what each "
        "transform drew. The data may be FILE.py:LOADER, a loader of yours or a function that "
        "makes one; its own options count then.",
    )
    group.add_argument("--epoch", type=whole, metavar="N", help="the epoch, from 0")
    group.add_argument("--step", type=whole, metavar="N", help="the batch in the epoch, from 0")
    group.add_argument(
        "--batch-size", type=count, metavar="N", help=f"images in a batch (default: {BATCH_SIZE})"
    )
    group.add_argument(
        "--shuffle",
        action=argparse.BooleanOptionalAction,
        help="whether samples are shuffled (default: they are)",
    )
    group.add_argument("--rank", type=whole, metavar="N", help="whose batch, of several ranks")
    group.add_argument("--world-size", type=count, metavar="N", help="how many ranks there are")


def is_asked_for(args: argparse.Namespace) -> bool:
    """Whether one batch is meant; raises if that is not clear."""
    given = [args.epoch is not None, args.step is not None]
    if all(given):
        return True
    if any(given):
        raise PenstockError("show: --epoch and --step belong together. Give both, or neither.")
    for option in ("batch_size", "shuffle", "rank", "world_size"):
        if getattr(args, option) is not None:
            name = option.replace("_", "-")
            raise PenstockError(f"show: --{name} is for one batch. Add --epoch and --step.")
    if args.data is not None and is_object(args.data):
        raise PenstockError(
            f"show: {args.data} is an object, of which one batch can be shown. Add --epoch and "
            "--step, or name a data set."
        )
    return False


def show_batch(args: argparse.Namespace) -> int:
    """Draw the batch, and say where."""
    if (args.rank is None) != (args.world_size is None):
        raise PenstockError("show: --rank and --world-size belong together. Give both, or neither.")
    if args.epochs is not None or args.repeats is not None:
        name = "--epochs" if args.epochs is not None else "--repeats"
        raise PenstockError(f"show: {name} has no meaning for one batch. Leave it out.")
    past = _make(args)
    from penstock.showing.batch_sheet import draw_batch

    file = args.out or "batch.png"
    shown = draw_batch(past, file, args.images)
    images = f"{shown} image{'' if shown == 1 else 's'}"
    if shown < len(past):
        images = f"the first {shown} of {len(past)} images"
    lines = [f"wrote {file}: {past.where}, {images} (--json prints what was drawn)"]
    lines += [f"left out: {entry}" for entry in past.left_out]
    tell(args, {"file": file, "shown": shown, **past.to_dict()}, lines)
    return 0


def _make(args: argparse.Namespace) -> PastBatch:
    ranks = {"rank": args.rank, "world_size": args.world_size}
    if is_object(args.data):
        made: PastBatch = _users_own(args).batch_at(args.epoch, args.step, **ranks)
        return made
    from penstock.loading.loader import Loader

    loader = Loader(
        open_given(args, args.data),
        batch_size=args.batch_size or BATCH_SIZE,
        transform=load_pipeline(args),
        shuffle=args.shuffle is not False,
        seed=args.seed or 0,
        output="numpy",
        rank=args.rank or 0,
        world_size=args.world_size or 1,
    )
    return loader.batch_at(args.epoch, args.step)


def _users_own(args: argparse.Namespace) -> Any:
    for option in _OF_LOADERS:
        if getattr(args, option) is not None:
            raise PenstockError(
                f"--{option.replace('_', '-')}: {args.data} is a loader with its own. Leave the "
                "option out, or name a data set."
            )
    loader = load_object(args.data)
    if not callable(getattr(loader, "batch_at", None)):
        raise PenstockError(
            f"{args.data}: is of type {type(loader).__name__}, which cannot make a batch again. "
            "Name a penstock.Loader, a penstock.torch.DataLoader, what penstock.accelerate "
            "returns, or a function without arguments that makes one."
        )
    return loader
