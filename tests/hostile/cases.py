"""How cases are listed: data sets that somebody made to break their reader, each in a few lines.

A case writes its files below a folder and returns the arguments of `penstock pack` behind its name.
REFUSED are those that must be an error, with a part of its text; ODD those that need not be one.
BOMBS are refused as well, and would take gigabytes if they were not.
"""

from __future__ import annotations

from dataset_samples import image_bytes

JPEG = image_bytes()
REFUSED: dict[str, tuple[object, str]] = {}
BOMBS: dict[str, tuple[object, str]] = {}
ODD: dict[str, object] = {}
LARGE = 3 << 30  # more bytes than anybody should hold


def refused(text):
    def add(build):
        REFUSED[build.__name__] = build, text
        return build

    return add


def bomb(text):
    def add(build):
        BOMBS[build.__name__] = build, text
        return build

    return add


def odd(build):
    ODD[build.__name__] = build
    return build


def each(table, text, /, **variants):
    """Add the variants of a case, each a name and the argument of `build`."""

    def add(build):
        for name, value in variants.items():

            def case(folder, value=value):
                return build(folder, value)

            full = f"{build.__name__}_{name}"
            table[full] = case if table is ODD else (case, text)
        return build

    return add


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    )
    return path


def sparse_file(path, start, size):
    """A file of `size` bytes that has `start` and else nothing, also not on the disk."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(size)
    return path
