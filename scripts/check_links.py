"""Check that every relative link and heading anchor in the Markdown files leads somewhere.

Links to the web are left alone, so the check works offline and never fails for someone else.

Usage: python scripts/check_links.py [FOLDER]
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

SKIPPED_FOLDERS = {".git", ".venv", "build", "dist", "node_modules"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def markdown_files(root: Path) -> Iterator[Path]:
    """Yield the Markdown files under `root`, without those of tools and build products."""
    for path in sorted(root.rglob("*.md")):
        if not SKIPPED_FOLDERS.intersection(path.relative_to(root).parts):
            yield path


def anchors_of(path: Path) -> set[str]:
    """Return the anchors a Markdown viewer gives to the headings of a file."""
    prose = FENCE.sub("", path.read_text(encoding="utf-8"))
    words = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in HEADING.findall(prose))
    return {re.sub(r"\s", "-", heading.strip()) for heading in words}


def broken_links(path: Path, root: Path) -> Iterator[str]:
    """Yield one sentence for each link of a file that leads nowhere."""
    prose = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target in LINK.findall(prose):
        if ELSEWHERE.match(target):
            continue
        file_part, _, anchor = target.partition("#")
        goal = (path.parent / file_part).resolve() if file_part else path
        where = path.relative_to(root)
        if not goal.exists():
            yield f"{where}: links to {target}, but there is no such file."
        elif anchor and goal.suffix == ".md" and anchor not in anchors_of(goal):
            yield f"{where}: links to {target}, but that file has no such heading."


def main() -> int:
    """Print every broken link; return 1 if there is one."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    files = list(markdown_files(root))
    broken = [sentence for path in files for sentence in broken_links(path, root)]
    for sentence in broken:
        print(sentence, file=sys.stderr)
    print(f"links: {len(files)} files, {len(broken)} broken links")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
