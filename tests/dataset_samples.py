"""Small images and archives for the tests of data set readers."""

from __future__ import annotations

import io
import tarfile

import numpy as np
from PIL import Image


def image_bytes(height=6, width=8, format="JPEG", value=90):
    """An encoded image of one gray."""
    file = io.BytesIO()
    Image.fromarray(np.full((height, width, 3), value, np.uint8)).save(file, format)
    return file.getvalue()


def tar_bytes(members):
    """A tar archive of names and contents."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def boxes_in(items):
    """How many boxes there are in all."""
    return sum(len(item.columns["boxes"]) for item in items)
