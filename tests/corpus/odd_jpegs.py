"""Whole JPEG files of every rare kind: sampling, scans, colours, tables, metadata, neighbours.

Each function yields names and contents. What Pillow makes of a file is asked when tests run.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import PIL.Image

from corpus.jpeg_writer import (
    EOI,
    Form,
    adobe,
    segment,
    spectral_scans,
    write_jpeg,
    write_lossless,
)

Files = Iterator[tuple[str, bytes]]
COLOUR_SAMPLINGS = {
    "444": ((1, 1), (1, 1), (1, 1)),
    "422": ((2, 1), (1, 1), (1, 1)),
    "420": ((2, 2), (1, 1), (1, 1)),
    "440": ((1, 2), (1, 1), (1, 1)),
    "411": ((4, 1), (1, 1), (1, 1)),
    "410": ((4, 2), (1, 1), (1, 1)),
    "441": ((1, 4), (1, 1), (1, 1)),
    "two_chromas": ((2, 2), (2, 1), (1, 2)),
    "half_chroma": ((2, 2), (1, 2), (1, 2)),
    "coarse_light": ((1, 1), (2, 2), (2, 2)),
    "one_coarse": ((2, 1), (2, 1), (1, 1)),
    "thirds": ((3, 1), (1, 1), (1, 1)),
    "fractions": ((3, 1), (2, 1), (1, 1)),  # which libjpeg does not do
    "too_many_blocks": ((2, 2), (2, 2), (2, 2)),  # for one scan
}
SIZES = ((1, 1), (8, 8), (9, 7), (16, 33), (40, 1))


def ycbcr(photo: PIL.Image.Image) -> np.ndarray:
    """The values that a usual colour JPEG holds."""
    return np.asarray(photo.convert("YCbCr"))


def saved(image: PIL.Image.Image, format: str = "JPEG", **options: object) -> bytes:
    """What Pillow writes."""
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def samplings(photo: PIL.Image.Image) -> Files:
    """Every sampling, in one scan, one scan per component, with restarts, progressive; sizes."""
    pixels = ycbcr(photo)
    ways = {
        "": {},
        "_restart": {"restart": 2},
        "_apart": {"scans": [([n], 0, 63) for n in range(3)]},
        "_progressive": {"frame": 0xC2, "scans": spectral_scans(3)},
    }
    for name, sampling in COLOUR_SAMPLINGS.items():
        for way, options in ways.items():
            yield f"sampling_{name}{way}.jpg", write_jpeg(pixels, Form(sampling, **options))
    for name in ("444", "422", "420", "440", "411"):
        for height, width in SIZES:
            cut = pixels[:height, :width]
            yield (
                f"size_{name}_{height}x{width}.jpg",
                write_jpeg(cut, Form(COLOUR_SAMPLINGS[name])),
            )
    gray = pixels[..., :1]
    for across, down in ((1, 1), (2, 2), (1, 4), (3, 1)):
        yield f"gray_{across}x{down}.jpg", write_jpeg(gray, Form(((across, down),)))
        yield (
            f"gray_{across}x{down}_progressive.jpg",
            write_jpeg(gray, Form(((across, down),), 0xC2, spectral_scans(1))),
        )


def colours(photo: PIL.Image.Image) -> Files:
    """Two to five components, with and without what tells their colours."""
    cmyk, rgb = np.asarray(photo.convert("CMYK")), np.asarray(photo)
    full = ((1, 1),) * 4
    coarse = ((2, 2), (1, 1), (1, 1), (2, 2))
    yield "cmyk_plain.jpg", write_jpeg(cmyk, Form(full))
    for transform in (0, 1, 2, 7):
        head = adobe(transform)
        yield f"four_adobe_{transform}.jpg", write_jpeg(cmyk, Form(full, head=head))
        yield f"four_coarse_adobe_{transform}.jpg", write_jpeg(cmyk, Form(coarse, head=head))
        three = Form(((1, 1),) * 3, head=head)
        yield f"three_adobe_{transform}.jpg", write_jpeg(rgb, three)
    for restart in (1, 13):
        form = Form(coarse, head=adobe(2), restart=restart)
        yield f"ycck_restart_{restart}.jpg", write_jpeg(cmyk, form)
    yield "rgb_by_ids.jpg", write_jpeg(rgb, Form(((1, 1),) * 3, ids=b"RGB"))
    yield "ids_from_0.jpg", write_jpeg(ycbcr(photo), Form(ids=(0, 1, 2)))
    yield "ids_odd.jpg", write_jpeg(ycbcr(photo), Form(ids=(34, 35, 200)))
    yield "two_components.jpg", write_jpeg(cmyk[..., :2], Form(((1, 1),) * 2))
    five = np.concatenate([cmyk, cmyk[..., :1]], axis=2)
    yield "five_components.jpg", write_jpeg(five, Form(((1, 1),) * 5))
    yield "keep_rgb.jpg", saved(photo, keep_rgb=True)


def codings(photo: PIL.Image.Image) -> Files:
    """Tables, precisions, scans and what Pillow can be asked for."""
    pixels = ycbcr(photo)
    form = Form()
    yield "wide_tables.jpg", write_jpeg(pixels, replace(form, frame=0xC1, wide_tables=True))
    yield "wide_tables_baseline.jpg", write_jpeg(pixels, replace(form, wide_tables=True))
    yield "extended.jpg", write_jpeg(pixels, replace(form, frame=0xC1))
    yield "no_huffman_tables.jpg", write_jpeg(pixels, replace(form, huffman_tables=False))
    for sampling in ("422", "420"):
        motion = Form(COLOUR_SAMPLINGS[sampling], huffman_tables=False, restart=10)
        yield f"motion_frame_{sampling}.jpg", write_jpeg(pixels, motion)
    yield "12_bits.jpg", write_jpeg(pixels, replace(form, frame=0xC1, bits=12, step=90))
    yield "12_bits_baseline.jpg", write_jpeg(pixels, replace(form, bits=12, step=90))
    for bits in (2, 4, 7, 8, 10, 12, 16):
        gray = pixels[..., 0].astype(int) * (2**bits - 1) // 255
        yield f"lossless_{bits}.jpg", write_lossless(gray, bits)
    for step in (1, 255):
        yield f"step_{step}.jpg", write_jpeg(pixels, replace(form, step=step))
    for restart in (1, 3, 1900):
        yield f"restart_{restart}.jpg", write_jpeg(pixels, replace(form, restart=restart))
    incomplete = [([0], 0, 63), ([1], 0, 63)]
    yield "a_component_is_missing.jpg", write_jpeg(pixels, replace(form, scans=incomplete))
    yield "a_scan_twice.jpg", write_jpeg(pixels, replace(form, scans=[(range(3), 0, 63)] * 2))
    means = replace(form, frame=0xC2, scans=[(range(3), 0, 0)])
    yield "only_means.jpg", write_jpeg(pixels, means)
    for quality in (1, 30, 100):
        for subsampling in ("4:4:4", "4:2:2", "4:2:0"):
            name = f"{subsampling.replace(':', '')}_{quality}"
            common = {"quality": quality, "subsampling": subsampling}
            yield f"pillow_{name}.jpg", saved(photo, **common)
            yield f"pillow_{name}_progressive.jpg", saved(photo, **common, progressive=True)
    yield "optimized.jpg", saved(photo, optimize=True)
    yield "progressive_restart.jpg", saved(photo, progressive=True, restart_marker_rows=1)
    yield "gray_optimized.jpg", saved(photo.convert("L"), optimize=True)
    yield "cmyk_by_pillow.jpg", saved(photo.convert("CMYK"))


def exif(orientation: int, order: str = "II") -> bytes:
    """EXIF data with nothing but an orientation."""
    sign = "<" if order == "II" else ">"
    entry = struct.pack(sign + "HHIHH", 0x0112, 3, 1, orientation, 0)
    first = struct.pack(sign + "HI", 42, 8)
    return order.encode() + first + struct.pack(sign + "H", 1) + entry + bytes(4)


def metadata(photo: PIL.Image.Image) -> Files:
    """Orientations, colour profiles, comments, thumbnails, unknown segments."""
    plain = write_jpeg(ycbcr(photo))

    def with_head(*segments: bytes) -> bytes:
        return plain[:2] + b"".join(segments) + plain[2:]

    for orientation in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65535):
        for order in ("II", "MM"):
            whole = b"Exif\0\0" + exif(orientation, order)
            yield f"orientation_{orientation}_{order}.jpg", with_head(segment(0xE1, whole))
    whole = b"Exif\0\0" + exif(6)
    yield "exif_cut.jpg", with_head(segment(0xE1, whole[:18]))
    yield "exif_twice.jpg", with_head(*[segment(0xE1, b"Exif\0\0" + exif(n)) for n in (3, 6)])
    yield (
        "exif_of_a_circle.jpg",
        with_head(
            segment(0xE1, whole[:-4] + struct.pack("<I", 8))  # the next directory is this one
        ),
    )
    profile = bytes(range(256)) * 20
    for count in (1, 9, 254):
        pieces = [profile[n::count] for n in range(count)]
        parts = (
            segment(0xE2, b"ICC_PROFILE\0" + bytes([n, count]) + piece)
            for n, piece in enumerate(pieces, 1)
        )
        yield f"icc_in_{count}.jpg", with_head(*parts)
    yield (
        "icc_without_its_second.jpg",
        with_head(segment(0xE2, b"ICC_PROFILE\0\1\2" + profile), segment(0xE2, b"other")),
    )
    yield "comment.jpg", with_head(segment(0xFE, b"a comment, \xff\xd9 among it"))
    jfif = b"JFIF\0\1\2\0\0\1\0\1\2\2" + bytes(12)
    yield "jfif_thumbnail.jpg", with_head(segment(0xE0, jfif))
    yield "jfif_cut.jpg", with_head(segment(0xE0, b"JFIF\0\1"))
    yield (
        "xmp_and_photoshop.jpg",
        with_head(
            segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>"),
            segment(0xED, b"Photoshop 3.0\08BIM\4\4" + bytes(8)),
        ),
    )
    yield "empty_segments.jpg", with_head(*[segment(0xE0 + n, b"") for n in range(16)])
    yield "large_segment.jpg", with_head(segment(0xE5, bytes(65_533)))


def neighbours(photo: PIL.Image.Image) -> Files:
    """What stands around the image, or between its parts."""
    plain = write_jpeg(ycbcr(photo), Form(restart=2))
    header = plain.index(b"\xff\xc0")
    other = write_jpeg(255 - ycbcr(photo))
    yield "two_images.jpg", plain + other
    yield "trailing_byte.jpg", plain + b"\0"
    yield "trailing_text.jpg", plain + b"\n-- \nsent from a telephone" * 90
    yield "no_end.jpg", plain[:-2]
    yield "half_an_end.jpg", plain[:-1]
    yield "two_ends.jpg", plain + EOI
    yield "fill_bytes.jpg", plain[:header] + b"\xff" * 9 + plain[header:]
    for count in (1, 2, 17, 300):
        junk = bytes((n * 37) % 255 for n in range(count))
        yield f"junk_{count}_before_the_frame.jpg", plain[:header] + junk + plain[header:]
        yield f"junk_{count}_before_all.jpg", plain[:2] + junk + plain[2:]
    multi = io.BytesIO()
    photo.save(multi, "MPO", save_all=True, append_images=[photo.transpose(0)])
    yield "multi_picture.mpo", multi.getvalue()
    yield "multi_picture_cut.jpg", multi.getvalue()[: len(multi.getvalue()) * 3 // 4]


def odd_jpegs(photo: PIL.Image.Image) -> Files:
    """All of them."""
    for files in (samplings, colours, codings, metadata, neighbours):
        yield from files(photo)
