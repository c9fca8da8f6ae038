"""`penstock pack`: a data set into one packed file."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from penstock.cli.shared import (
    Verb,
    add_labels,
    add_layout,
    add_limits,
    add_threads,
    count,
    open_labelled,
    tell,
)
from penstock.errors import SourceError

if TYPE_CHECKING:
    from penstock.packing.items import PackSource
    from penstock.sources import Source


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `pack`."""
    verb.add_argument(
        "source",
        help="the data set: a folder of class folders, COCO, VOC, YOLO, WebDataset or ImageNet "
        "tar, Parquet, TFRecord, RecordIO, LMDB, HDF5; or its address in a store, such as "
        "s3://bucket/imagenet/train",
    )
    verb.add_argument(
        "target",
        help="the .pen file to write; with --shards, the folder. Or its address in a store: s3://, "
        "gs://, az://",
    )
    add_labels(verb)
    add_layout(verb)
    verb.add_argument(
        "--allow-empty", action="store_true", help="accept class folders without images"
    )
    verb.add_argument("--images", metavar="DIR", help="where the images of a COCO json are")
    verb.add_argument(
        "--masks", metavar="DIR", help="masks of the images in SOURCE, matched by their names"
    )
    verb.add_argument(
        "--shards", type=count, default=1, metavar="N", help="write N files into a folder"
    )
    verb.add_argument(
        "--engine",
        choices=("threads", "processes", "ray"),
        default="threads",
        help="who packs the shards: threads of this process, processes of this machine, or "
        "actors of a Ray cluster; the bytes are the same (default: %(default)s)",
    )
    verb.add_argument(
        "--workers",
        type=count,
        metavar="N",
        help="processes or actors; default: one for each core",
    )
    verb.add_argument(
        "--part",
        metavar="I/N",
        help="pack the I-th of N shares of the shards, for job arrays; the last one to end "
        "completes the data set",
    )
    verb.add_argument(
        "--staging",
        metavar="DIR",
        help="for stores: a folder for what is on its way, on each machine that packs (default: "
        "that of temporary files)",
    )
    verb.add_argument(
        "--staging-limit",
        metavar="SIZE",
        help="the most of a data set in a store that is copied here, if its layout cannot be read "
        "from there (default: 50 GB)",
    )
    verb.add_argument(
        "--resume", action="store_true", help="continue where an interrupted pack stopped"
    )
    verb.add_argument(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help="what to do with a file that is not an image: stop, or leave it out "
        "(default: %(default)s)",
    )
    verb.add_argument(
        "--short-side",
        type=count,
        metavar="N",
        help="LOSSY: scale down to a short side of N pixels",
    )
    verb.add_argument(
        "--quality", type=count, metavar="Q", help="LOSSY: re-encode as JPEGs of quality Q"
    )
    verb.add_argument(
        "--keep-jpeg",
        action="store_true",
        help="store JPEGs as they are: the container without the codec, slower to load",
    )
    add_threads(verb)
    add_limits(verb)


def run(args: argparse.Namespace) -> int:
    """Pack, and print what came of it."""
    from penstock.packing.pack import pack

    if args.short_side or args.quality:
        print(
            "penstock: --short-side and --quality are LOSSY: the originals cannot be restored "
            "from the packed file. Keep them.",
            file=sys.stderr,
        )
    source, labels = open_labelled(args, args.source)
    if args.allow_empty:
        source = _open_with_empty_classes(args)
    began_s = time.monotonic()
    summary = pack(
        source,
        args.target,
        labels=labels,
        kind=None if args.allow_empty else args.kind,
        split=args.split,
        images=args.images,
        masks=args.masks,
        shards=args.shards,
        resume=args.resume,
        on_error=args.on_error,
        short_side=args.short_side,
        quality=args.quality,
        keep_jpeg=args.keep_jpeg,
        threads=args.threads,
        engine=args.engine,
        workers=args.workers,
        part=args.part,
        staging=args.staging,
        staging_limit=args.staging_limit,
        progress=False if args.json else None,
    )
    took_s = time.monotonic() - began_s
    rate = "" if args.resume else f", {summary.samples / took_s:,.0f} images/s"
    tell(
        args, summary.to_dict(), [f"wrote {args.target} in {took_s:,.1f} s{rate}", *summary.lines()]
    )
    return 0


def _open_with_empty_classes(args: argparse.Namespace) -> Source | PackSource:
    from penstock.sources import open_image_folder

    if args.kind not in {None, "folder"} or args.labels is not None:
        raise SourceError("--allow-empty: is for a folder with a folder per class. Leave it out.")
    from penstock.storage import is_address, read_address

    if is_address(args.source):
        from penstock.packing.far_source import far_folder
        from penstock.packing.store_folder import list_store, open_store_folder

        return open_store_folder(
            list_store(far_folder(read_address(args.source))), allow_empty=True
        )
    return open_image_folder(args.source, allow_empty=True)


VERBS = (
    Verb(
        "pack",
        "write a data set as one packed file, losslessly",
        "Writes a data set as one packed file that loads many times faster. Lossless "
        "unless --short-side or --quality is given.",
        add_options,
        run,
    ),
)
