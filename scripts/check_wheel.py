"""Check that a wheel holds what users need and nothing of the checkout beside it.

Usage: python scripts/check_wheel.py FILE.whl
"""

import re
import sys
import zipfile
from pathlib import Path

REQUIRED = (
    r"penstock/__init__\.py",
    r"penstock/_core\..*\.(so|pyd)",
    r"penstock/_core\.pyi",
    r"penstock/py\.typed",
    r"penstock-[^/]*\.dist-info/entry_points\.txt",
    r"penstock-[^/]*\.dist-info/licenses/LICENSE",
)
ALLOWED_TOP = re.compile(r"(penstock|penstock-[^/]*\.dist-info)/")
SIZE_LIMIT_BYTES = 20_000_000


def problems_of(wheel: Path) -> list[str]:
    """Return one sentence for each thing that is missing, or that should not be there."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    found = [
        f"{wheel.name}: nothing in it matches {pattern}."
        for pattern in REQUIRED
        if not any(re.fullmatch(pattern, name) for name in names)
    ]
    found += [
        f"{wheel.name}: {name} does not belong in the wheel; see wheel.packages in pyproject.toml."
        for name in names
        if not ALLOWED_TOP.match(name)
    ]
    size_bytes = wheel.stat().st_size
    if size_bytes > SIZE_LIMIT_BYTES:
        found.append(f"{wheel.name}: {size_bytes:,} bytes, more than {SIZE_LIMIT_BYTES:,}.")
    return found


def main() -> int:
    """Print every problem; return 1 if there is one."""
    wheel = Path(sys.argv[1])
    problems = problems_of(wheel)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, holds what it should")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
