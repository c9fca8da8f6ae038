"""Names of the same files that begin at different folders.

One side may call a file `cat/1.jpg` and the other `/data/train/cat/1.jpg`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

MOST_TRIED = 50  # names, in search of one that both sides have


def find_roots(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """Return what the names of each side begin with that the other side leaves out.

    Both are nothing where names are in common already, or none can be found to be.
    """
    if not a or not b or set(a) & set(b):
        return "", ""
    if (root := _root_before(a, b)) is not None:
        return root, ""
    if (root := _root_before(b, a)) is not None:
        return "", root
    roots = _common_folder(a), _common_folder(b)
    short_a, short_b = (
        {name.removeprefix(root) for name in names}
        for names, root in zip((a, b), roots, strict=True)
    )
    return roots if short_a & short_b else ("", "")


def _common_folder(names: Sequence[str]) -> str:
    """Return the folder that all names are in, if they are absolute; of others, nothing."""
    if not all(name.startswith("/") for name in names):
        return ""
    folder = os.path.commonpath([os.path.dirname(name) for name in names])
    return folder.rstrip("/") + "/"


def _root_before(long: Sequence[str], short: Sequence[str]) -> str | None:
    """Return the folder that long names have before short ones; None unless there is just one."""
    for name in short[:MOST_TRIED]:
        roots = {one.removesuffix(name) for one in long if one.endswith(f"/{name}")}
        if len(roots) == 1:
            return roots.pop()
    return None
