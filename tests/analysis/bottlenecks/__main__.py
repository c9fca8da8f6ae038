"""Runs every planted bottleneck some times and counts the right verdicts.

`python -m tests.analysis.bottlenecks --repeats 10`
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
NOT_SCRIPTS = {"planted.py", "__main__.py"}
WANTED = 0.9


def scripts() -> list[Path]:
    """The scripts, one a bottleneck."""
    return sorted(path for path in FOLDER.glob("*.py") if path.name not in NOT_SCRIPTS)


def run_script(script: Path) -> subprocess.CompletedProcess[str]:
    """Run one script in a process of its own."""
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )


def main() -> int:
    """Run all, print a table, and fail if one is right too rarely."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.bottlenecks")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--only", help="the name of one script")
    args = parser.parse_args()
    failed = False
    for script in scripts():
        if args.only not in {None, script.stem}:
            continue
        right = 0
        for _ in range(args.repeats):
            done = run_script(script)
            right += done.returncode == 0
            if done.returncode:
                print(done.stdout, done.stderr, file=sys.stderr)
        print(f"{script.stem:20} {right} of {args.repeats} right", flush=True)
        failed |= right < WANTED * args.repeats
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
