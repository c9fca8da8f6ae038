"""The `penstock` command: reads the verb, runs it, turns errors into exit codes.

Verbs import what they need when they run, so that `penstock --help` is instant.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from penstock._version import __version__
from penstock.cli import (
    analyze,
    bench,
    certify,
    demo,
    experiment,
    explain,
    pack,
    packed,
    plan,
    profile,
    run,
    show,
)
from penstock.cli.shared import complain
from penstock.errors import PenstockError
from penstock.limits import limits_from_text, using
from penstock.printable import in_encoding, printable_lines

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130  # as shells report a program that Ctrl-C ended
EXIT_BROKEN_PIPE = 141

VERBS = tuple(
    verb
    for module in (
        *(demo, analyze, run, profile, explain, plan, show, certify, pack, packed),
        *(experiment, bench),
    )
    for verb in module.VERBS
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = _parser()
    args = parser.parse_args(arguments)
    if args.verb is None:
        parser.print_help(sys.stderr)
        return EXIT_ERROR
    with _interruptions_noted() as came:
        try:
            with using(limits_from_text(getattr(args, "limit", []))):
                code: int = args.run(args)
            sys.stdout.flush()
        except PenstockError as error:
            complain(str(error))
            return EXIT_ERROR
        except (KeyboardInterrupt, ImportError) as error:
            if isinstance(error, ImportError) and not came:
                raise
            complain("interrupted")
            return EXIT_INTERRUPTED
        except BrokenPipeError:
            # The reader, such as `head`, has seen enough. Python would complain again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return EXIT_BROKEN_PIPE
    return code


@contextmanager
def _interruptions_noted() -> Iterator[list[int]]:
    """Give a list to which each Ctrl-C in the block is added.

    Libraries in C that are being imported, NumPy for one, make an ImportError of it.
    """
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or before is not signal.default_int_handler:
        yield came
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


class _Parser(argparse.ArgumentParser):
    """Refuses arguments safely: a shell's `*` may have brought any file's name."""

    def error(self, message: str) -> NoReturn:
        super().error(in_encoding(printable_lines(message), sys.stderr.encoding))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="penstock", description="Feeds images to models in training, fast and bit-exact."
    )
    parser.add_argument("--version", action="version", version=f"penstock {__version__}")
    verbs: Any = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print the result as JSON")
    for verb in VERBS:
        parents = [shared] if verb.json else []
        options = verbs.add_parser(
            verb.name, help=verb.help, description=verb.description, parents=parents
        )
        verb.add_options(options)
        options.set_defaults(run=verb.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
