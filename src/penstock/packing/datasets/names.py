"""Names of samples as they came from a file, made safe to write a file to."""

from __future__ import annotations

import os
import re

from penstock.errors import SourceError

_DRIVE = re.compile(r"[A-Za-z]:")
_EXTENSION_OF = {
    b"\xff\xd8\xff": ".jpg",
    b"\x89PNG": ".png",
    b"GIF8": ".gif",
    b"BM": ".bmp",
    b"II*\0": ".tif",
    b"MM\0*": ".tif",
}

# Columns with a meaning of their own.
RESERVED_COLUMNS = frozenset(["boxes", "box_labels", "keypoints", "label", "masks", "name"])


def safe_name(name: str, where: str) -> str:
    """Return a name with "/" between its parts, or raise: it must stay below its folder."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in {"", "."}]
    if not parts or "\0" in name or not _can_be_stored(name):
        raise SourceError(f"{where}: {name[:80]!r} cannot name a file. Correct the name.")
    if name.startswith(("/", "\\")) or _DRIVE.match(name) or ".." in parts:
        raise SourceError(
            f"{where}: the name {name[:80]!r} leads out of the data set. "
            "If you trust the file, make its names relative, without '..'."
        )
    return "/".join(parts)


def _can_be_stored(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # a lone surrogate, which JSON can write and no file system can
        return False
    return True


def image_extension(data: bytes) -> str | None:
    """Return the extension that goes with a file's first bytes, or None if it is no image."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    return next((ext for magic, ext in _EXTENSION_OF.items() if data.startswith(magic)), None)


def numbered_name(index: int, data: bytes, prefix: str = "") -> str:
    """Return a name for an image that has none."""
    return f"{prefix}{index:08d}{image_extension(data) or '.bin'}"


def user_column_name(name: str) -> str:
    """Return the name of the column for a field that has no meaning to us."""
    name = name.replace("/", "_").replace(".", "_")
    return f"{name}_field" if name in RESERVED_COLUMNS else name
