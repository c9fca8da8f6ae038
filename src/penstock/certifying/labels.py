"""What goes with an image (a label, boxes, a mask, a caption ...) as one hash.

Labels are equal if their values and shapes are. A whole number is the same in every integer type:
libraries differ in it, and nothing that is learned does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from penstock.certifying.images import INTEGERS, Pixels, as_pixels
from penstock.errors import CertifyError

MOST_SHOWN = 40  # characters of a label in a message


def hash_label(label: Any, where: str) -> str | None:
    """Return the hash of a label; None if there is none."""
    if label is None:
        return None
    hashed = hashlib.sha256()
    for piece in _pieces(label, where):
        hashed.update(piece)
    return hashed.hexdigest()


def show_label(label: Any) -> str | None:
    """Return a label in a few characters, if that says anything."""
    found = label if isinstance(label, Pixels) else as_pixels(label)
    if found is not None and found.values.size == 1 and not found.shape:
        label = found.values.item()
    if not isinstance(label, (int, float, str, bool)):
        return None
    text = repr(label)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _pieces(label: Any, where: str) -> Iterator[bytes]:
    """Yield bytes that differ if labels do: each value is led by its kind and its size."""
    if label is None:
        yield b"none\n"
    elif isinstance(label, bool):
        yield b"truth %d\n" % label
    elif isinstance(label, int):
        yield f"whole {label}\n".encode("ascii")
    elif isinstance(label, float):
        yield from _array_pieces(np.asarray(label, np.float64), where)
    elif isinstance(label, (str, bytes)):
        content = label.encode("utf-8", "surrogatepass") if isinstance(label, str) else label
        yield b"%s %d\n" % (type(label).__name__.encode("ascii"), len(content))
        yield content
    elif isinstance(label, Mapping):
        yield b"map %d\n" % len(label)
        for key in sorted(label, key=str):
            yield from _pieces(str(key), where)
            yield from _pieces(label[key], where)
    elif isinstance(label, Sequence):
        yield b"list %d\n" % len(label)
        for entry in label:
            yield from _pieces(entry, where)
    else:
        yield from _array_pieces(label, where)


def _array_pieces(label: Any, where: str) -> Iterator[bytes]:
    found = label if isinstance(label, Pixels) else as_pixels(label)
    if found is None:
        raise CertifyError(
            f"{where}: what goes with the image has a {type(label).__name__}, which cannot be "
            "compared. Give numbers, texts, arrays, or lists and dictionaries of them; or leave "
            "labels out of the comparison with labels=False (--no-labels)."
        )
    if found.dtype in INTEGERS and not found.shape:
        yield from _pieces(int(found.values), where)
    elif found.dtype in INTEGERS:
        values = found.values
        is_wide = found.dtype == "uint64" and bool((values > np.iinfo(np.int64).max).any())
        yield f"wholes {' '.join(map(str, found.shape))}{' unsigned' * is_wide}\n".encode("ascii")
        yield values.astype("<u8" if is_wide else "<i8").tobytes()
    elif found.dtype == "bool" and not found.shape:
        yield from _pieces(bool(found.values), where)
    else:
        yield f"array {found.digest()}\n".encode("ascii")
