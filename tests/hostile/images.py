"""Images and masks that claim more than they have."""

from __future__ import annotations

import io
import os
import struct
import zlib

import numpy as np
from PIL import Image

from hostile.cases import BOMBS, JPEG, LARGE, REFUSED, bomb, each, put, refused, sparse_file


def large_png(height, width):
    """A PNG of a few KB whose header says more."""

    def chunk(kind, content):
        return (
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )

    rows = zlib.compress(bytes(4096))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


@each(
    BOMBS,
    "--limit pixels=",
    png=large_png(30_000, 30_000),
    far=large_png(2**31 - 1, 2**31 - 1),
    jpeg=JPEG.replace(b"\x00\x06\x00\x08\x03", b"\xff\xdc\xff\xdc\x03"),
    bmp=b"BM"
    + struct.pack("<IIIIiiHHIIIIII", 54, 0, 54, 40, 60000, 60000, 1, 24, 0, 0, 0, 0, 0, 0),
)
def image(folder, content):
    return [put(folder / "cat" / "a.png", content).parent.parent]


@bomb("00000.png: not an image")
def image_files_with_many_holes(folder):
    (folder / "cat").mkdir()
    for number in range(12):
        sparse_file(folder / "cat" / f"{number:05}.png", b"\x89PNG\r\n\x1a\n", 200 << 20)
    return [folder]


@bomb("--limit record-bytes=")
def image_file_with_a_hole(folder):
    (folder / "cat").mkdir()
    sparse_file(folder / "cat" / "a.jpg", JPEG, LARGE)
    return [folder]


@each(
    REFUSED,
    "",
    empty=b"",
    text=b"hello",
    cut=JPEG[:50],
    png=b"\x89PNG\r\n\x1a\n",
    gif=b"GIF89a",
    tiff=b"II*\0\xff\xff\xff\xff",
    webp=b"RIFF\xff\xff\xff\xffWEBPVP8 ",
)
def image_of(folder, content):
    return [put(folder / "cat" / "a.jpg", content).parent.parent]


def png(array):
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return file.getvalue()


@each(
    REFUSED,
    "a.png",
    empty=b"",
    colour=png(np.zeros((6, 8, 3), np.uint8)),
    size=png(np.zeros((5, 8), np.uint8)),
    text=b"x" * 50,
    jpeg=JPEG,
)
def mask(folder, content):
    put(folder / "images" / "a.jpg", JPEG)
    put(folder / "masks" / "a.png", content)
    return [folder, "--kind", "segmentation"]


@bomb("--limit pixels=")
def mask_of_a_huge_size(folder):
    return mask(folder, large_png(30_000, 30_000))


@refused("a FIFO")
def mask_is_a_fifo(folder):
    put(folder / "images" / "a.jpg", JPEG)
    (folder / "masks").mkdir()
    os.mkfifo(folder / "masks" / "a.png")
    return [folder, "--kind", "segmentation"]
