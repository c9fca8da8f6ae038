"""torchvision's own tests of its v2 transforms, run on penstock's.

    python -m tests.outside.run_torchvision --source PATH

PATH is torchvision's source: a checkout of https://github.com/pytorch/vision at the tag of the
installed torchvision, or an unpacked source archive. Ends with 1 if a test fails.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pytest

from penstock.demo.torchvision_import import import_torchvision

TESTS = Path("test", "test_transforms_v2.py")


def main() -> int:
    options = _parse_arguments()
    tests = options.source / TESTS
    if not tests.is_file():
        print(f"{options.source}: no {TESTS} in it. Give the top folder of torchvision's source.")
        return 2
    sys.dont_write_bytecode = True  # the source belongs to somebody else
    torchvision = import_torchvision()[1]
    from tests.outside.called import adapt_calls
    from tests.outside.functional import adapt_functions
    from tests.outside.judge import Judge
    from tests.outside.names import adapt

    if options.called:
        adapt_calls()
    else:
        adapt()
        adapt_functions()
    judge = Judge(called=options.called)
    ended = pytest.main(
        [
            str(tests),
            *("-q", "--no-header", "--rootdir", str(options.source)),
            *("-c", os.devnull, "-p", "no:cacheprovider"),
            *(("--tb=short",) if options.verbose else ("--no-summary",)),
            *(("-k", options.only) if options.only else ()),
        ],
        plugins=[judge],
    )
    print(f"\ntorchvision {torchvision.__version__}'s {TESTS.name} on penstock's transforms")
    print(f"{judge.passed:6,} passed")
    print(f"{len(judge.failed):6,} failed")
    for test in judge.failed:
        print(f"         {test}")
    print(f"{judge.skipped.total():6,} skipped, because of:")
    for reason, count in judge.skipped.most_common():
        print(f"{count:15,}  {reason}")
    return int(ended) or int(not judge.passed)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--source", type=Path, required=True, help="torchvision's source folder")
    parser.add_argument("--called", action="store_true", help="call transforms, as torchvision's")
    parser.add_argument("--only", metavar="WORDS", help="tests to run, as pytest's -k takes them")
    parser.add_argument("--verbose", action="store_true", help="show why a test fails")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
