"""Whole files of every other format, mode and depth, and headers that claim what is not there.

PNG and BMP files come from small writers here, since Pillow writes only some of their kinds.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import PIL.Image
from PIL import features

from corpus.odd_jpegs import Files, exif, saved, write_jpeg, ycbcr

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
DEPTHS = {GRAY: (1, 2, 4, 8, 16), PALETTE: (1, 2, 4, 8)}
ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
         (1, 0, 2, 1))  # fmt: skip


def chunk(kind: bytes, content: bytes) -> bytes:
    """A PNG chunk with its checksum."""
    total = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", total)


def _rows(values: np.ndarray, depth: int, filters: bool) -> bytes:
    written, before = b"", None
    for number, row in enumerate(values.reshape(len(values), -1)):
        if depth == 16:
            data = row.astype(">u2").tobytes()
        elif depth == 8:
            data = row.astype(np.uint8).tobytes()
        else:
            bits = (row[:, None] >> np.arange(depth)[::-1]) & 1
            data = np.packbits(bits.reshape(-1).astype(np.uint8)).tobytes()
        if filters and number % 2 and before is not None:  # "up": the difference to the row above
            up = bytes((a - b) & 255 for a, b in zip(data, before, strict=True))
            written += b"\2" + up
        else:
            written += b"\0" + data
        before = data
    return written


def write_png(
    values: np.ndarray,
    kind: int,
    depth: int,
    *,
    interlaced: bool = False,
    extra: bytes = b"",
    size: tuple[int, int] | None = None,
) -> bytes:
    """Encode (height, width, channels) of numbers below 2**depth; `size` is what it claims."""
    height, width = size or values.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    if interlaced:
        passes = [values[y::dy, x::dx] for y, x, dy, dx in ADAM7]
        data = b"".join(_rows(part, depth, filters=True) for part in passes if part.size)
    else:
        data = _rows(values, depth, filters=True)
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), extra]
    if kind == PALETTE:
        colours = bytes((n * 89 + 40 * (n % 3)) & 255 for n in range(3 * 2**depth))
        parts.insert(2, chunk(b"PLTE", colours))
    packed = zlib.compress(data)
    parts += [
        chunk(b"IDAT", packed[: len(packed) // 2]),
        chunk(b"IDAT", packed[len(packed) // 2 :]),
    ]
    return b"".join([*parts, chunk(b"IEND", b"")])


def pngs(photo: PIL.Image.Image) -> Files:
    """Every colour type and depth, plain and interlaced, and the chunks that change meaning."""
    pixels = np.asarray(photo.convert("RGBA")).astype(int)
    pixels[..., 3] = np.arange(pixels.shape[1]) % 256
    for kind, channels in CHANNELS.items():
        planes = pixels[..., [0, 3]] if kind == GRAY_ALPHA else pixels[..., :channels]
        for depth in DEPTHS.get(kind, (8, 16)):
            values = planes * (2**depth - 1) // 255
            for interlaced in (False, True):
                name = f"type_{kind}_{depth}{'_interlaced' * interlaced}.png"
                yield name, write_png(values, kind, depth, interlaced=interlaced)
    gray, colour = pixels[..., :1], pixels[..., :3]
    marks = {
        "gamma": chunk(b"gAMA", struct.pack(">I", 45455)),
        "significant": chunk(b"sBIT", b"\5\6\5"),
        "srgb": chunk(b"sRGB", b"\0"),
        "chroma": chunk(b"cHRM", struct.pack(">8I", *[31270] * 8)),
        "background": chunk(b"bKGD", bytes(6)),
        "profile": chunk(b"iCCP", b"name\0\0" + zlib.compress(bytes(range(200)))),
        "broken_profile": chunk(b"iCCP", b"name\0\0rubbish"),
        "text": chunk(b"tEXt", b"Comment\0of ours")
        + chunk(b"zTXt", b"a\0\0" + zlib.compress(b"b")),
        "time": chunk(b"tIME", bytes(7)),
        "unknown": chunk(b"abCd", b"x" * 99),
        "critical": chunk(b"ABCD", b"x"),
        "transparent": chunk(b"tRNS", struct.pack(">3H", *colour[3, 3])),
    }
    for name, extra in marks.items():
        yield f"{name}.png", write_png(colour, RGB, 8, extra=extra)
    one = chunk(b"tRNS", struct.pack(">H", int(gray[3, 3, 0])))
    yield "transparent_gray.png", write_png(gray, GRAY, 8, extra=one)
    yield "transparent_gray_16.png", write_png(gray * 257, GRAY, 16, extra=one)
    for depth in (1, 2, 4, 8):
        some = chunk(b"tRNS", bytes(range(2**depth)))
        yield (
            f"transparent_palette_{depth}.png",
            write_png(gray * (2**depth - 1) // 255, PALETTE, depth, extra=some),
        )
    for orientation in (1, 3, 6, 8):
        extra = chunk(b"eXIf", exif(orientation))
        yield f"png_orientation_{orientation}.png", write_png(colour, RGB, 8, extra=extra)
    frames = [photo.rotate(90 * n) for n in range(1, 4)]
    for mode in ("RGB", "RGBA", "L", "P"):
        rest = [frame.convert(mode) for frame in frames]
        whole = saved(photo.convert(mode), "PNG", save_all=True, append_images=rest)
        yield f"animated_{mode}.png", whole
    good = write_png(colour, RGB, 8)
    yield "png_as.jpeg", good
    yield "wrong_checksum.png", good.replace(good[-20:-16], bytes(4))
    yield "no_end.png", good[:-12]
    yield "no_pixels.png", good[: good.index(b"IDAT") - 4] + good[-12:]
    yield "behind_the_end.png", good + b"more"
    yield "three_bits.png", write_png(colour // 32, RGB, 3)
    yield "unknown_type.png", write_png(colour, 7, 8)
    for height, width in ((0, 5), (5, 0), (100_000, 100_000), (60, 60)):
        yield f"claims_{height}x{width}.png", write_png(colour, RGB, 8, size=(height, width))
    for part in (0.1, 0.5, 0.9, 0.99):
        yield f"cut_at_{part}.png", good[: int(part * len(good))]


def write_bmp(
    data: bytes,
    size: tuple[int, int],
    bits: int,
    *,
    compression: int = 0,
    header: int = 40,
    palette: bytes = b"",
    masks: tuple[int, ...] = (),
) -> bytes:
    """A BMP file of rows that are already laid out; height and width may be negative."""
    height, width = size
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        colours = len(palette) // 4
        info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(data),
                           2835, 2835, colours, 0)  # fmt: skip
        info = (info + struct.pack(f"<{len(masks)}I", *masks)).ljust(max(header, 40), b"\0")
        if header == 40 and masks:
            info += struct.pack(f"<{len(masks)}I", *masks)
    start = 14 + len(info) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + info + palette + data


def bmps(photo: PIL.Image.Image) -> Files:
    """Depths, headers, orders of rows, masks and run lengths."""
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        yield f"mode_{mode}.bmp", saved(photo.convert(mode), "BMP")
    pixels = np.asarray(photo)[:32, :44]
    height, width = pixels.shape[:2]
    bgr = pixels[::-1, :, ::-1].tobytes()
    bgra = np.dstack([pixels[..., ::-1], np.arange(width)[None].repeat(height, 0)])
    four = bgra[::-1].astype(np.uint8).tobytes()
    gray = pixels[::-1, :, 0]
    palette = b"".join(bytes([n, 255 - n, n // 2, 0]) for n in range(256))
    for header in (40, 52, 56, 64, 108, 124, 66, 12):
        yield f"header_{header}.bmp", write_bmp(bgr, (height, width), 24, header=header)
        yield (
            f"header_{header}_palette.bmp",
            write_bmp(gray.tobytes(), (height, width), 8, header=header, palette=palette),
        )
    yield "top_down.bmp", write_bmp(bgr, (-height, width), 24)
    yield "top_down_palette.bmp", write_bmp(gray.tobytes(), (-height, width), 8, palette=palette)
    yield "32_bits.bmp", write_bmp(four, (height, width), 32)
    some = (pixels[::-1].astype(int) >> 3) @ [1 << 10, 1 << 5, 1]
    five = some.astype("<u2").tobytes()
    yield "16_bits.bmp", write_bmp(five, (height, width), 16)
    for name, masks in {
        "555": (0x7C00, 0x3E0, 0x1F),
        "565": (0xF800, 0x7E0, 0x1F),
        "odd": (0xF000, 0xF00, 0xF),
    }.items():
        for header in (40, 56):
            whole = write_bmp(five, (height, width), 16, compression=3, masks=masks, header=header)
            yield f"masks_{name}_{header}.bmp", whole
    for name, masks in {
        "bgrx": (0xFF0000, 0xFF00, 0xFF),
        "rgba": (0xFF, 0xFF00, 0xFF0000, 0xFF000000),
        "odd": (0x3FF, 0xFFC00, 0x3FF00000),
    }.items():
        for header in (40, 52, 56, 124):
            whole = write_bmp(four, (height, width), 32, compression=3, masks=masks, header=header)
            yield f"masks_{name}_{header}_32.bmp", whole
    runs = b"".join(b"".join(bytes([1, value]) for value in row) + b"\0\0" for row in gray.tolist())
    yield "run_lengths_8.bmp", write_bmp(runs + b"\0\1", (height, width), 8, compression=1,
                                         palette=palette)  # fmt: skip
    halves = b"".join(b"".join(bytes([2, value]) for value in row[::2]) + b"\0\0" for row in gray)
    yield "run_lengths_4.bmp", write_bmp(halves + b"\0\1", (height, width), 4, compression=2,
                                         palette=palette[:64])  # fmt: skip
    jumps = b"\5\7\0\2\3\4" + b"\0\3\1\2\3\0" + b"\0\0\7\4\0\1"
    yield "run_lengths_with_jumps.bmp", write_bmp(jumps, (height, width), 8, compression=1,
                                                  palette=palette)  # fmt: skip
    yield "run_lengths_cut.bmp", write_bmp(runs[:90], (height, width), 8, compression=1,
                                           palette=palette)  # fmt: skip
    nibbles = (gray[:, ::2] & 0xF0).tobytes()
    rows = b"".join(nibbles[n * 22 : n * 22 + 22] + b"\0\0" for n in range(height))
    yield "4_bits.bmp", write_bmp(rows, (height, width), 4, palette=palette[:64])
    yield "4_bits_cut.bmp", write_bmp(rows, (height, width), 4, palette=palette[:8])[:300]
    yield "too_short.bmp", write_bmp(bgr[:99], (height, width), 24)
    for kind in (4, 6, 99):
        yield f"compression_{kind}.bmp", write_bmp(four, (height, width), 32, compression=kind)
    for size in ((30_000, 30_000), (0, 0), (1, -7)):
        yield f"claims_{size[0]}x{size[1]}.bmp", write_bmp(bgr, size, 24)


def gifs(photo: PIL.Image.Image) -> Files:
    """Frames, transparency, interlacing, screens that do not fit."""
    small = photo.convert("P")
    frames = [photo.rotate(90 * n).convert("P") for n in range(1, 5)]
    yield "plain.gif", saved(small, "GIF")
    yield "gray.gif", saved(photo.convert("L"), "GIF")
    yield "black_and_white.gif", saved(photo.convert("1"), "GIF")
    yield "transparent.gif", saved(small, "GIF", transparency=3)
    yield "not_interlaced.gif", saved(small, "GIF", interlace=False)
    for disposal in (0, 1, 2, 3):
        whole = saved(small, "GIF", save_all=True, append_images=frames, disposal=disposal)
        yield f"animated_{disposal}.gif", whole
    whole = saved(small, "GIF")
    screen = struct.Struct("<HH")
    for height, width in ((1, 1), (500, 600), (60_000, 60_000), (0, 0)):
        data = whole[:6] + screen.pack(width, height) + whole[10:]
        yield f"screen_{height}x{width}.gif", data
    place = whole.index(b",", 13 + 3 * 2)
    yield "frame_outside.gif", whole[: place + 1] + screen.pack(90, 90) + whole[place + 5 :]
    for part in (0.02, 0.4, 0.95):
        yield f"cut_at_{part}.gif", whole[: int(part * len(whole))]


def tiffs(photo: PIL.Image.Image) -> Files:
    """Modes, compressions, byte orders, several images, damage."""
    modes = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "I;16", "I", "F")
    for mode in modes:
        base = photo.convert("I") if mode == "I;16" else photo
        name = mode.replace(";", "_")
        yield f"mode_{name}.tif", saved(base.convert(mode), "TIFF")
    ways = ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "tiff_deflate", "zstd")
    for way in ways:
        try:
            yield f"{way}.tif", saved(photo, "TIFF", compression=way)
        except OSError:  # this Pillow was built without it
            continue
    for way in ("group3", "group4", "tiff_ccitt"):
        yield f"{way}.tif", saved(photo.convert("1"), "TIFF", compression=way)
    yield "several.tif", saved(photo, "TIFF", save_all=True, append_images=[photo.convert("L")])
    directory = PIL.Image.Exif()
    for orientation in (1, 3, 6, 8):
        directory[0x0112] = orientation
        yield f"turned_{orientation}.tif", saved(photo, "TIFF", exif=directory)
    whole = saved(photo, "TIFF")
    yield "big.tif", saved(photo, "TIFF", big_tiff=True)
    yield "wide.tif", saved(photo.convert("RGBA").resize((8192, 8)), "TIFF", compression="tiff_lzw")
    packed = saved(photo, "TIFF", compression="tiff_lzw")
    yield "lzw_damaged.tif", packed[:150] + bytes(80) + packed[230:]
    for part in (0.01, 0.3, 0.9):
        yield f"cut_at_{part}.tif", whole[: int(part * len(whole))]
        yield f"cut_at_{part}_lzw.tif", packed[: int(part * len(packed))]
    # A big-endian file, laid out by hand: nine entries, then the values.
    gray = np.asarray(photo.convert("L"))
    height, width = gray.shape
    for bits in (8, 16):
        data = (gray if bits == 8 else gray.astype(">u2") * 257).astype(f">u{bits // 8}").tobytes()
        start = 8 + 2 + 9 * 12 + 4
        entries = [(256, width), (257, height), (258, bits), (259, 1), (262, 1), (273, start),
                   (277, 1), (278, height), (279, len(data))]  # fmt: skip
        table = b"".join(struct.pack(">HHII", tag, 4, 1, value) for tag, value in entries)
        head = b"MM\0*" + struct.pack(">IH", 8, 9)
        yield f"big_endian_{bits}.tif", head + table + bytes(4) + data


def webps_and_avifs(photo: PIL.Image.Image) -> Files:
    """With and without alpha, lossless, turned, animated, cut."""
    clear = _with_alpha(photo)
    turned = {n: b"Exif\0\0" + exif(n) for n in (1, 3, 6, 8)}
    frames = [clear.rotate(90 * n) for n in range(1, 4)]
    if features.check("webp"):
        for mode, image in (("RGB", photo), ("RGBA", clear), ("L", photo.convert("L"))):
            for lossless in (False, True):
                name = f"{mode}_{'lossless' if lossless else 'lossy'}.webp"
                yield name, saved(image, "WEBP", lossless=lossless, quality=70)
        for n, orientation in turned.items():
            yield f"turned_{n}.webp", saved(photo, "WEBP", exif=orientation)
        yield "profile.webp", saved(photo, "WEBP", icc_profile=bytes(200))
        whole = saved(clear, "WEBP", save_all=True, append_images=frames)
        yield "animated.webp", whole
        for part in (0.02, 0.5, 0.98):
            yield f"cut_at_{part}.webp", whole[: int(part * len(whole))]
    if features.check("avif"):
        yield "plain.avif", saved(photo, "AVIF", speed=10)
        yield "clear.avif", saved(clear, "AVIF", speed=10)
        for n in (3, 6):
            yield f"turned_{n}.avif", saved(photo, "AVIF", speed=10, exif=turned[n])
        whole = saved(photo, "AVIF", speed=10)
        yield "cut.avif", whole[: len(whole) // 2]


def jpegs_2000(photo: PIL.Image.Image) -> Files:
    """Files and bare codestreams, of every mode."""
    clear = _with_alpha(photo)
    if features.check("jpg_2000"):
        deep = photo.convert("I").point(lambda value: value * 257).convert("I;16")
        shades = {"RGB": photo, "RGBA": clear, "L": photo.convert("L"), "I_16": deep,
                  "LA": clear.convert("LA"), "YCbCr": photo.convert("YCbCr")}  # fmt: skip
        for name, image in shades.items():
            yield f"mode_{name}.jp2", saved(image, "JPEG2000")
            yield f"mode_{name}.j2k", saved(image, "JPEG2000", no_jp2=True)
        whole = saved(photo, "JPEG2000")
        yield "jp2_as.j2k", whole
        for part in (0.05, 0.5):
            yield f"cut_at_{part}.jp2", whole[: int(part * len(whole))]


def others(photo: PIL.Image.Image) -> Files:
    """Formats that nobody trains on, and files that are no image."""
    for mode in ("1", "L", "RGB", "I"):
        yield f"mode_{mode}.ppm", saved(photo.convert(mode), "PPM")
    yield "plain_text.pgm", b"P2 # a comment\n3 2\n255\n0 50 100\n150 200 255\n"
    yield "two_bytes.pgm", b"P5 4 2 1023\n" + struct.pack(">8H", *range(0, 1024, 128))
    yield "cut.ppm", saved(photo, "PPM")[:900]
    for format, mode in (("TGA", "RGB"), ("PCX", "P"), ("SGI", "RGB"), ("ICO", "RGBA"),
                         ("DDS", "RGBA"), ("QOI", "RGB"), ("IM", "RGB"), ("MSP", "1")):  # fmt: skip
        yield f"other.{format.lower()}", saved(photo.convert(mode), format)
    for name, content in {
        "empty": b"",
        "one_byte": b"\xff",
        "start": b"\xff\xd8",
        "start_and_end": b"\xff\xd8\xff\xd9",
        "start_of_nothing": b"\xff\xd8\xff",
        "text": b"This is not an image.\n" * 20,
        "page": b"<!DOCTYPE html><html><body>404</body></html>",
        "zeros": bytes(5000),
        "ones": b"\xff" * 5000,
        "archive": b"PK\3\4" + bytes(100),
        "png_signature": b"\x89PNG\r\n\x1a\n",
        "jpeg_behind_text": b"x" * 10 + write_jpeg(ycbcr(photo)),
    }.items():
        yield f"{name}.jpg", content


def _with_alpha(photo: PIL.Image.Image) -> PIL.Image.Image:
    clear = photo.convert("RGBA")
    clear.putalpha(photo.convert("L"))
    return clear


def odd_images(photo: PIL.Image.Image) -> Iterator[tuple[str, bytes]]:
    """All of them."""
    for files in (pngs, bmps, gifs, tiffs, webps_and_avifs, jpegs_2000, others):
        yield from files(photo)
