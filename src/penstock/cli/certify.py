"""`penstock certify`: are the images of two pipelines the same, and if not, how far apart?"""

from __future__ import annotations

import argparse
import os
from typing import Any

from penstock.cli.shared import Verb, add_limits, count, say, tell, whole
from penstock.cli.user_object import is_object, load_as_is, load_several
from penstock.errors import CertifyError, TransformError
from penstock.showing.presets import PRESETS

EXIT_DIFFERENT = 1
ALL = "all"
MATCHES = ("name", "position")


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the arguments of `certify`."""
    side = (
        "FILE.py:NAME or PACKAGE.MODULE:NAME (a loader, a Dataset, an iterable of batches, or a "
        "function that makes one), a data set in any layout that pack reads, or a certificate"
    )
    verb.add_argument("a", metavar="A", help=side)
    verb.add_argument(
        "b", metavar="B", nargs="?", help="the other side, likewise; without it, --save A alone"
    )
    for letter, of in (("", "a side that is a data set"), ("-b", "B, if it is another one")):
        group = verb.add_mutually_exclusive_group()
        group.add_argument(
            f"--preset{letter}",
            choices=PRESETS,
            metavar="NAME",
            help=f"the pipeline of {of}, by name: {', '.join(PRESETS)}",
        )
        group.add_argument(
            f"--transform{letter}",
            metavar="PLACE",
            help=f"the pipeline of {of}: FILE.py:NAME or PACKAGE.MODULE:NAME",
        )
    verb.add_argument(
        "--images",
        type=_count_or_all,
        metavar="N",
        help="compare the first N images of each side, or 'all' (default: those of a certificate, "
        "or 256)",
    )
    verb.add_argument(
        "--batch-size",
        type=count,
        metavar="N",
        help="images in a batch of a side that is a data set (default: 32)",
    )
    for name, meaning in (
        ("seed", "seed of torch, NumPy and random before each side"),
        ("epoch", "epoch that loaders and samplers are told"),
    ):
        verb.add_argument(
            f"--{name}",
            type=whole,
            metavar="N",
            help=f"{meaning} (default: that of a certificate, or 0)",
        )
    verb.add_argument(
        "--tolerance",
        type=_number,
        metavar="X",
        help="exit with 0 if no value differs by more than X (default: all must be equal)",
    )
    verb.add_argument(
        "--peak",
        type=_number,
        metavar="X",
        help="the range of float values, which PSNR is relative to (default: that of the images "
        "that differ)",
    )
    verb.add_argument(
        "--match",
        choices=MATCHES,
        help="how images find their partners (default: by name where both sides know names)",
    )
    verb.add_argument(
        "--no-labels", action="store_true", help="leave out what goes with the images"
    )
    verb.add_argument("--html", metavar="FILE", help="write a report with the worst images")
    verb.add_argument("--save", metavar="JSON", help="write the certificate of A")
    verb.add_argument(
        "--pixels", metavar="NPZ", help="write the pixels of A, beside the certificate of --save"
    )
    add_limits(verb)


def run(args: argparse.Namespace) -> int:
    """Compare, write what was asked for, and print the verdict."""
    _check(args)
    options: dict[str, Any] = {
        "images": args.images,
        "seed": args.seed,
        "epoch": args.epoch,
        "labels": not args.no_labels,
        "pixels": args.pixels,
        "progress": False if args.json else None,
    }
    if args.batch_size is not None:
        options["batch_size"] = args.batch_size
    return _certify_one(args, options) if args.b is None else _certify_both(args, options)


def _certify_one(args: argparse.Namespace, options: dict[str, Any]) -> int:
    from penstock.certifying.certify import make_certificate

    objects = {args.a: load_as_is(args.a)} if is_object(args.a) else {}
    certificate = make_certificate(_subject(args, "a", objects), **options)
    certificate.save(args.save)
    told = {
        "certificate": args.save,
        "images": len(certificate.images),
        "content": certificate.content,
        "reproducible": certificate.reproducible,
    }
    lines = [
        f"wrote {args.save}: {len(certificate.images):,} images of {certificate.subject}",
        *([f"wrote {args.pixels}: their pixels"] if args.pixels else []),
        f"content  {certificate.content}",
    ]
    if certificate.reproducible is False:
        lines.append(
            "It gives something else the second time it is run from the same seed: others cannot "
            "expect these hashes."
        )
    tell(args, told, lines)
    return 0


def _certify_both(args: argparse.Namespace, options: dict[str, Any]) -> int:
    from penstock.certifying.certify import certify

    named = [side for side in (args.a, args.b) if is_object(side)]
    objects = dict(zip(named, load_several(named), strict=True))
    found = certify(
        _subject(args, "a", objects),
        _subject(args, "b", objects),
        tolerance=args.tolerance,
        match=args.match,
        peak=args.peak,
        **options,
    )
    tell(args, found.to_dict(), found.lines())
    if args.save:
        found.save(args.save)
    if args.html:
        found.to_html(args.html)
    if not args.json:
        written = (
            ("certificate of A", args.save),
            ("pixels of A", args.pixels),
            ("report", args.html),
        )
        say(f"wrote {place}: the {what}" for what, place in written if place)
    return 0 if found.passed else EXIT_DIFFERENT


def _subject(args: argparse.Namespace, side: str, objects: dict[str, Any]) -> Any:
    """Return a side with the name that the user gave it."""
    from penstock.certifying.certificate import is_certificate
    from penstock.certifying.subjects import Subject

    given: str = getattr(args, side)
    letter = side.upper()
    if given in objects:
        return Subject(objects[given], given, letter)
    if is_certificate(given):
        return Subject(given, given, letter)
    own = side == "b" and (args.preset_b or args.transform_b)
    preset = args.preset_b if own else args.preset
    place = args.transform_b if own else args.transform
    if preset is not None:
        from penstock.showing.presets import make_preset

        return Subject(given, given, letter, make_preset(preset), f"preset {preset}")
    return Subject(given, given, letter, None if place is None else _transform(place), place)


def _transform(place: str) -> Any:
    from penstock.planner.plan import as_written
    from penstock.translation.transforms.translate import translate

    found = load_as_is(place)
    try:
        as_written(translate(found).transform)
    except TransformError as error:
        raise TransformError(f"{place}: {error}") from None
    return found


def _check(args: argparse.Namespace) -> None:
    """Refuse what contradicts itself, before anything runs."""
    if args.b is None:
        for_two = ("html", "tolerance", "match", "peak", "preset_b", "transform_b")
        needless = [name for name in for_two if getattr(args, name) is not None]
        if needless:
            option = needless[0].replace("_", "-")
            raise CertifyError(f"--{option}: needs two sides to compare. Name a second one.")
        if args.save is None:
            raise CertifyError(
                f"{args.a}: there is no second side to compare with. Name one, or write a "
                "certificate of this one with --save."
            )
    if args.pixels is not None:
        if args.save is None:
            raise CertifyError("--pixels: goes with a certificate. Add --save.")
        folders = {os.path.dirname(os.path.abspath(path)) for path in (args.pixels, args.save)}
        if len(folders) > 1:
            raise CertifyError(
                f"--pixels {args.pixels}: must be in the folder of the certificate, {args.save}."
            )
    for path in (args.save, args.html):
        folder = None if path is None else os.path.dirname(os.path.abspath(path))
        if folder is not None and not os.path.isdir(folder):
            raise CertifyError(f"{path}: there is no folder {folder}. Make it, or name another.")
    _check_pipelines(args)


def _check_pipelines(args: argparse.Namespace) -> None:
    from penstock.certifying.certificate import is_certificate

    def is_data(given: str | None) -> bool:
        return given is not None and not is_object(given) and not is_certificate(given)

    if args.save is not None and not is_object(args.a) and is_certificate(args.a):
        raise CertifyError(f"--save: A, {args.a}, is a certificate already.")
    for letter, is_used in (("", is_data(args.a) or is_data(args.b)), ("_b", is_data(args.b))):
        for name in (f"preset{letter}", f"transform{letter}"):
            if getattr(args, name) is not None and not is_used:
                raise CertifyError(
                    f"--{name.replace('_', '-')}: is for a data set, but "
                    f"{args.b if letter else 'neither side'} is {'none' if letter else 'one'}. "
                    "Leave it out."
                )


def _count_or_all(text: str) -> int | str:
    return ALL if text == ALL else count(text)


def _number(text: str) -> float:
    try:
        given = float(text)
    except ValueError:
        given = -1.0
    if not 0 <= given < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of 0 or more, got {text!r}")
    return given


VERBS = (
    Verb(
        "certify",
        "compare the images of two pipelines, bit for bit",
        "Runs two pipelines, loaders or data sets from one seed and compares their images one by "
        "one: equal, or how far apart and where. Certificates compare versions and machines. "
        f"Exits with {EXIT_DIFFERENT} if anything differs (or exceeds --tolerance).",
        add_options,
        run,
    ),
)
