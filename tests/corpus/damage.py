"""JPEG files that were cut, scribbled on, or never right: the same ones every time."""

from __future__ import annotations

import random
import struct

import numpy as np
import PIL.Image

from corpus.jpeg_writer import EOI, Form, segments_of, spectral_scans, write_jpeg
from corpus.odd_jpegs import Files, saved, ycbcr

CUTS = 14  # of each file
FLIPS = 12  # of each file, in its headers and in its scans
FRAMES = {0xC0, 0xC1, 0xC2}


def victims(photo: PIL.Image.Image) -> dict[str, bytes]:
    """Good files of the kinds that are read in different ways."""
    pixels = ycbcr(photo)
    return {
        "baseline": saved(photo),
        "restart": write_jpeg(pixels, Form(restart=2)),
        "apart": write_jpeg(pixels, Form(scans=[([n], 0, 63) for n in range(3)])),
        "gray": write_jpeg(pixels[..., :1], Form(((1, 1),))),
        "progressive": saved(photo, progressive=True),
        "spectral": write_jpeg(pixels, Form(frame=0xC2, scans=spectral_scans(3))),
        "cmyk": saved(photo.convert("CMYK")),
    }


def cut_files(photo: PIL.Image.Image) -> Files:
    """Ends at many places; some of them with the marker that says that all is well."""
    for name, whole in victims(photo).items():
        for n in range(1, CUTS + 1):
            length = len(whole) * n // (CUTS + 1)
            yield f"cut_{name}_{n:02}.jpg", whole[:length]
            if n % 3 == 0:
                yield f"cut_{name}_{n:02}_ended.jpg", whole[:length] + EOI


def flipped_files(photo: PIL.Image.Image) -> Files:
    """One byte or several, in the headers or in the scans."""
    draws = random.Random(20)
    for name, whole in victims(photo).items():
        scan = next(end for marker, _, end in segments_of(whole) if marker == 0xDA)
        for n in range(FLIPS):
            for part, low, high in (("head", 2, scan), ("scan", scan, len(whole) - 2)):
                data = bytearray(whole)
                for _ in range(1 + n % 3):
                    data[draws.randrange(low, high)] = draws.randrange(256)
                yield f"flip_{name}_{part}_{n:02}.jpg", bytes(data)


def wrong_files(photo: PIL.Image.Image) -> Files:
    """Lengths, tables, orders and markers that cannot be."""
    pixels = ycbcr(photo)
    whole = saved(photo)
    pieces = [(marker, whole[start:end]) for marker, start, end in segments_of(whole)]
    scan = whole[next(end for marker, _, end in segments_of(whole) if marker == 0xDA) :]

    def joined(parts: list[tuple[int, bytes]]) -> bytes:
        return whole[:2] + b"".join(data for _, data in parts) + scan

    for number, (marker, data) in enumerate(pieces):
        rest = pieces[:number] + pieces[number + 1 :]
        yield f"without_{number}_{marker:02x}.jpg", joined(rest)
        yield f"twice_{number}_{marker:02x}.jpg", joined([*pieces[: number + 1], *pieces[number:]])
        for change in (-5, -1, 1, 300):
            length = max(0, struct.unpack(">H", data[2:4])[0] + change)
            wrong = data[:2] + struct.pack(">H", length) + data[4:]
            changed = [*pieces[:number], (marker, wrong), *pieces[number + 1 :]]
            yield f"length_{number}_{marker:02x}_{change}.jpg", joined(changed)
    yield (
        "tables_last.jpg",
        joined(sorted(pieces, key=lambda piece: (piece[0] == 0xDA, piece[0] in FRAMES, piece[0]))),
    )
    restarts = write_jpeg(pixels, Form(restart=1))
    first, second = restarts.index(b"\xff\xd1"), restarts.index(b"\xff\xd2")
    yield "restarts_swapped.jpg", (
        restarts[:first] + b"\xff\xd2" + restarts[first + 2 : second] + b"\xff\xd1"
        + restarts[second + 2 :]
    )  # fmt: skip
    yield "restart_missing.jpg", restarts[:first] + restarts[first + 2 :]
    yield "restart_unannounced.jpg", restarts.replace(b"\xff\xdd\0\4\0\1", b"")
    middle = len(whole) - len(scan) // 2
    for marker in (0x01, 0xC4, 0xD3, 0xD8, 0xD9, 0xDA, 0xE0, 0xFE, 0xFF):
        data = whole[:middle] + bytes([0xFF, marker]) + whole[middle:]
        yield f"marker_{marker:02x}_in_the_scan.jpg", data
    yield "image_in_the_scan.jpg", whole[:middle] + whole + whole[middle:]
    zeros, noise = bytes(60), np.random.default_rng(1).bytes(60).replace(b"\xff", b"\0")
    yield "zeros_in_the_scan.jpg", whole[:middle] + zeros + whole[middle + 60 :]
    yield "noise_in_the_scan.jpg", whole[:middle] + noise + whole[middle + 60 :]


def wrong_frames(photo: PIL.Image.Image) -> Files:
    """Sizes, depths, kinds and components that the frame claims and the scans do not have."""
    pixels = ycbcr(photo)
    height, width = pixels.shape[:2]
    for sizes in (
        (0, width), (height, 0), (0, 0), (65_500, 65_500), (65_500, 1), (1, 65_500),
        (height + 9, width), (height, width + 9), (height - 9, width), (height, width - 9),
        (height * 3, width * 2),
    ):  # fmt: skip
        name = f"claims_{sizes[0]}x{sizes[1]}"
        yield f"{name}.jpg", write_jpeg(pixels, Form(sizes=sizes))
        scans = spectral_scans(3)
        if max(sizes) < 9000:
            yield (
                f"{name}_progressive.jpg",
                write_jpeg(pixels, Form(frame=0xC2, scans=scans, sizes=sizes)),
            )
    lines = b"\xff\xdc" + struct.pack(">HH", 4, height)  # the height, told behind the scan
    yield "height_told_later.jpg", write_jpeg(pixels, Form(sizes=(0, width), tail=lines + EOI))
    for bits in (0, 1, 9, 16, 21):
        data = bytearray(write_jpeg(pixels))
        data[data.index(b"\xff\xc0") + 4] = bits
        yield f"bits_{bits}.jpg", bytes(data)
    for marker in (0xC3, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB, 0xCD, 0xCF):
        yield f"frame_{marker:02x}.jpg", write_jpeg(pixels, Form(frame=marker))
    for count in (0, 4, 8, 255):
        data = bytearray(write_jpeg(pixels))
        data[data.index(b"\xff\xc0") + 9] = count
        yield f"count_{count}.jpg", bytes(data)
    for place, value in ((11, 0x00), (11, 0x51), (11, 0x15), (12, 9), (10, 2)):
        data = bytearray(write_jpeg(pixels))
        data[data.index(b"\xff\xc0") + place] = value
        yield f"component_{place}_{value}.jpg", bytes(data)


def damaged_jpegs(photo: PIL.Image.Image) -> Files:
    """All of them."""
    for files in (cut_files, flipped_files, wrong_files, wrong_frames):
        yield from files(photo)
