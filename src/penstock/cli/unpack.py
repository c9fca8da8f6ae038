"""`penstock unpack`: the original files back."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from penstock.cli.arguments import add_limits, count
from penstock.printable import say

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 (has no public name)


def add_verb(verbs: Verbs, shared: argparse.ArgumentParser) -> None:
    """Add `unpack` to the verbs of the command line."""
    verb = verbs.add_parser(
        "unpack",
        parents=[shared],
        help="restore the original files of a packed data set",
        description="Restores the files that a packed data set was made from: byte for byte if the "
        "index says so, otherwise with identical pixels. A lossy pack gives its changed images.",
    )
    verb.add_argument("packed", help="a .pen file, or a folder of shards")
    verb.add_argument("target", help="the folder or tar file to write")
    verb.add_argument(
        "--format",
        choices=("folder", "tar"),
        help="a folder, or a WebDataset tar (default: a tar if the target's name ends in .tar)",
    )
    verb.add_argument(
        "--threads", type=count, metavar="N", help="threads to work with (default: all cores)"
    )
    add_limits(verb)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Unpack, and print how many files are identical to the originals."""
    from penstock.packing.unpack import unpack

    unpacked = unpack(
        args.packed,
        args.target,
        format=args.format,
        threads=args.threads,
        progress=False if args.json else None,
    )
    if args.json:
        print(json.dumps(unpacked.to_dict()))
    else:
        kinds = f"{unpacked.identical:,} identical byte for byte, {unpacked.pixels:,} with"
        lossy = f"{unpacked.lossy:,} as re-encoded when packing"
        files = f"{unpacked.files:,} files"
        lines = [f"wrote {files} to {args.target}: {kinds} identical pixels, {lossy}"]
        if unpacked.repeated:
            lines.append(f"not written again: {unpacked.repeated:,} that are listed more than once")
        say(lines)
    return 0
