"""Files of class names beside records: TensorFlow's label maps and lists of labels."""

from __future__ import annotations

import os
import re

from penstock.errors import SourceError
from penstock.packing.datasets.files import names_in, read_text
from penstock.printable import printable

_ITEM = re.compile(r"\bitem\s*\{([^{}]*)\}")
_ID = re.compile(r"\bid\s*:\s*(\d{1,18})")
_NAME = re.compile(r"""(?<![a-z_])name\s*:\s*(["'])(.*?)\1""")
_DISPLAY_NAME = re.compile(r"""\bdisplay_name\s*:\s*(["'])(.*?)\1""")
_NUMBERED = re.compile(r"(\d{1,18})\s*[:,\t ]\s*(.+)")


def class_names_beside(path: str) -> dict[int, str]:
    """Return number and name of the classes of a record file, from the files in its folder.

    A single `*.pbtxt`, `labels.txt`, or `<beginning of the record's name>labels.txt` will do.
    """
    folder, record = os.path.split(os.path.abspath(path))
    names = names_in(folder)
    maps = [name for name in names if name.endswith(".pbtxt")]
    if len(maps) == 1:
        return read_label_map(os.path.join(folder, maps[0]))
    lists = [n for n in names if n.endswith("labels.txt")]
    lists = [n for n in lists if record.startswith(n.removesuffix("labels.txt"))]
    if lists:
        return read_label_list(os.path.join(folder, max(lists, key=len)))
    return {}


def read_label_map(path: str) -> dict[int, str]:
    """Read the Object Detection API's `item { id: 1 name: 'cat' }`; display names win."""
    where = printable(path)
    found: dict[int, str] = {}
    for number, item in enumerate(_ITEM.finditer(read_text(path, "text_bytes"))):
        identity = _ID.search(item.group(1))
        name = _DISPLAY_NAME.search(item.group(1)) or _NAME.search(item.group(1))
        if identity is None or name is None:
            raise SourceError(f"{where}, item {number}: it needs an id and a name.")
        if int(identity.group(1)) in found:
            raise SourceError(f"{where}, item {number}: the id {identity.group(1)} is there twice.")
        found[int(identity.group(1))] = name.group(2)
    return found


def read_label_list(path: str) -> dict[int, str]:
    """Read a name a line, with its number before it (`0:daisy`) or counted from 0."""
    lines = [line.strip() for line in read_text(path, "text_bytes").splitlines()]
    lines = [line for line in lines if line]
    numbered = [_NUMBERED.fullmatch(line) for line in lines]
    if all(numbered):
        return {int(match.group(1)): match.group(2) for match in numbered if match}
    return dict(enumerate(lines))
