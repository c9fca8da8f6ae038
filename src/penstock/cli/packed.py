"""The verbs about a packed data set: `unpack`, `verify` and `inspect`."""

from __future__ import annotations

import argparse

from penstock.cli.shared import Verb, add_limits, add_threads, tell

EXIT_DAMAGED = 1


def add_unpack_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `unpack`."""
    _add_packed(verb)
    verb.add_argument("target", help="the folder or tar file to write")
    verb.add_argument(
        "--format",
        choices=("folder", "tar"),
        help="a folder, or a WebDataset tar (default: a tar if the target's name ends in .tar)",
    )
    add_threads(verb)


def add_verify_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    _add_packed(verb)
    verb.add_argument("--deep", action="store_true", help="also decode every image")
    verb.add_argument(
        "--originals",
        action="store_true",
        help="also rebuild every original file and compare it with its checksum, as before you "
        "delete them; includes --deep",
    )
    add_threads(verb)


def add_inspect_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `inspect`."""
    _add_packed(verb)
    verb.add_argument("--sheet", metavar="PNG", help="write a contact sheet, with boxes")


def _add_packed(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("packed", help="a .pen file or a folder of shards, also in a store: s3://...")
    add_limits(verb)


def run_unpack(args: argparse.Namespace) -> int:
    """Unpack, and print how many files are identical to the originals."""
    from penstock.packing.unpack import unpack

    unpacked = unpack(
        args.packed,
        args.target,
        format=args.format,
        threads=args.threads,
        progress=False if args.json else None,
    )
    written = (
        f"wrote {unpacked.files:,} files to {args.target}: {unpacked.identical:,} identical byte "
        f"for byte, {unpacked.pixels:,} with identical pixels, {unpacked.lossy:,} as re-encoded "
        "when packing"
    )
    lines = [written]
    if unpacked.repeated:
        lines.append(f"not written again: {unpacked.repeated:,} that are listed more than once")
    tell(args, unpacked.to_dict(), lines)
    return 0


def run_verify(args: argparse.Namespace) -> int:
    """Verify, and print what is wrong."""
    from penstock.packing.verify import verify

    report = verify(
        args.packed,
        deep=args.deep,
        originals=args.originals,
        threads=args.threads,
        progress=False if args.json else None,
    )
    more = ", every image decodes" if report.deep else ""
    more += ", every file that unpack promises is the original" if report.originals else ""
    intact = f"{args.packed}: {report.samples:,} samples, every checksum matches{more}"
    tell(args, report.to_dict(), [intact] if report.intact else report.problems)
    return 0 if report.intact else EXIT_DAMAGED


def run_inspect(args: argparse.Namespace) -> int:
    """Inspect, and write the contact sheet if asked for."""
    from penstock.packing.inspect import inspect, make_contact_sheet

    inspection = inspect(args.packed)
    if args.sheet:
        make_contact_sheet(args.packed, args.sheet)
    tell(
        args,
        inspection.to_dict(),
        [*inspection.lines(), *([f"wrote {args.sheet}"] if args.sheet else [])],
    )
    return 0


VERBS = (
    Verb(
        "unpack",
        "restore the original files of a packed data set",
        "Restores the files that a packed data set was made from: byte for byte where "
        "the pack kept what that takes (penstock inspect says so), otherwise with identical "
        "pixels. A lossy pack gives the changed images.",
        add_unpack_options,
        run_unpack,
    ),
    Verb(
        "verify",
        "check every byte of a packed data set",
        "Checks every byte of a packed data set against its checksums; with --deep, that every "
        "image and mask decodes; with --originals, that unpack gives back the original files. "
        f"Exits with {EXIT_DAMAGED} if anything is wrong.",
        add_verify_options,
        run_verify,
    ),
    Verb(
        "inspect",
        "say what is inside a packed data set",
        "Says what is inside a packed data set: samples, how they are stored, sizes, "
        "columns, what can be restored, odd files.",
        add_inspect_options,
        run_inspect,
    ),
)
