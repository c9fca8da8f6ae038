"""A small JPEG encoder for files that Pillow does not write.

Any sampling factors, number of components and order of scans, restart intervals, 16-bit
quantisation tables, 12-bit samples, frames without Huffman tables, and lossless files.
It codes by Huffman's standard tables, which it takes from a file that Pillow wrote.
"""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import PIL.Image

SOI, EOI = b"\xff\xd8", b"\xff\xd9"
ZIGZAG = sorted(
    range(64), key=lambda n: (n // 8 + n % 8, n // 8 if (n // 8 + n % 8) % 2 else n % 8)
)
Scan = tuple[Sequence[int], int, int]  # components, first and last coefficient
Sampling = Sequence[tuple[int, int]]  # horizontal and vertical factor of each component


@dataclass(frozen=True)
class Form:
    """How a file is written; what is not given is as most files have it."""

    sampling: Sampling = ((2, 2), (1, 1), (1, 1))
    frame: int = 0xC0  # baseline; 0xC1 extended, 0xC2 progressive
    scans: Sequence[Scan] | None = None  # one of everything
    restart: int = 0
    ids: Sequence[int] = ()  # 1, 2, 3, ...
    bits: int = 8
    wide_tables: bool = False  # 16-bit quantisation tables
    huffman_tables: bool = True
    step: int = 6  # of every quantiser
    head: bytes = b""  # segments right behind the start
    sizes: tuple[int, int] | None = None  # height and width that the frame claims to have
    tail: bytes = field(default=EOI)


def segment(marker: int, content: bytes) -> bytes:
    """A marker with its length and content."""
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def adobe(transform: int) -> bytes:
    """Adobe's segment: 0 leaves colours as they are, 1 is YCbCr, 2 is YCCK."""
    return segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, transform))


def segments_of(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, start and end of each segment up to the first scan, inclusive."""
    place = 2
    while place + 4 <= len(data):
        marker, length = data[place + 1], struct.unpack(">H", data[place + 2 : place + 4])[0]
        yield marker, place, place + 2 + length
        if marker == 0xDA:
            return
        place += 2 + length


def _standard_tables() -> tuple[bytes, dict[int, dict[int, str]]]:
    """The segments that define the tables; and by class and number, a value's code in digits."""
    file = io.BytesIO()
    PIL.Image.new("RGB", (8, 8)).save(file, "JPEG")
    data = file.getvalue()
    written, codes = b"", {}
    for marker, start, end in segments_of(data):
        if marker != 0xC4:
            continue
        written += data[start:end]
        rest = data[start + 4 : end]
        while rest:
            counts, code, values = rest[1:17], 0, {}
            at = 17
            for length, count in enumerate(counts, 1):
                for _ in range(count):
                    values[rest[at]] = format(code, f"0{length}b")
                    code, at = code + 1, at + 1
                code <<= 1
            codes[rest[0]] = values
            rest = rest[at:]
    return written, codes


TABLES, CODES = _standard_tables()
DCT = np.array(
    [
        [np.sqrt((1 if u == 0 else 2) / 8) * np.cos((2 * x + 1) * u * np.pi / 16) for x in range(8)]
        for u in range(8)
    ]
)


def write_jpeg(pixels: np.ndarray, form: Form = Form()) -> bytes:  # noqa: B008  frozen
    """Encode (height, width, components), which are taken as they are: no colour is converted."""
    height, width, count = pixels.shape
    most = [max(factors) for factors in zip(*form.sampling, strict=True)]
    ids = form.ids or range(1, count + 1)
    tables = [
        _coefficients(pixels[..., n], factors, most, form)
        for n, factors in enumerate(form.sampling)
    ]
    claimed = form.sizes or (height, width)
    kind = 0x10 if form.wide_tables else 0
    steps = np.full(64, form.step, ">u2" if form.wide_tables else "u1").tobytes()
    parts = [SOI, form.head, segment(0xDB, bytes([kind]) + steps)]
    frame = struct.pack(">BHHB", form.bits, *claimed, count)
    for number, (across, down) in zip(ids, form.sampling, strict=True):
        frame += bytes([number, across << 4 | down, 0])
    parts.append(segment(form.frame, frame))
    if form.huffman_tables:
        parts.append(TABLES)
    if form.restart:
        parts.append(segment(0xDD, struct.pack(">H", form.restart)))
    for components, first, last in form.scans or [(range(count), 0, 63)]:
        header = bytes([len(components)])
        for n in components:
            header += bytes([ids[n], 0x11 if n in {1, 2} else 0])
        parts.append(segment(0xDA, header + bytes([first, last, 0])))
        blocks = _blocks(components, tables, form.sampling, most, (height, width))
        parts.append(_scan(blocks, first, last, form.restart))
    return b"".join([*parts, form.tail])


def spectral_scans(count: int) -> list[Scan]:
    """A progressive file's scans without successive approximation: the means, then the rest."""
    return [
        (range(count), 0, 0),
        *(([n], first, last) for first, last in ((1, 5), (6, 63)) for n in range(count)),
    ]


def write_lossless(pixels: np.ndarray, bits: int) -> bytes:
    """Encode (height, width), each value predicted from the one to its left."""
    values = pixels.astype(int)
    height, width = values.shape
    digits = []
    for row in range(height):
        for column in range(width):
            if column:
                before = values[row, column - 1]
            else:
                before = values[row - 1, 0] if row else 1 << bits - 1
            size, extra = _magnitude(int(values[row, column] - before))
            digits.append(format(size, "05b") + extra)
    table = bytes([0, 0, 0, 0, 0, 17, *[0] * 11, *range(17)])  # 17 codes of 5 bits
    frame = struct.pack(">BHHB", bits, height, width, 1) + bytes([1, 0x11, 0])
    return b"".join(
        [
            SOI,
            segment(0xC3, frame),
            segment(0xC4, table),
            segment(0xDA, bytes([1, 1, 0, 1, 0, 0])),
            _packed("".join(digits)),
            EOI,
        ]
    )


def _coefficients(plane, factors, most, form) -> np.ndarray:
    """Quantised coefficients in zigzag order: rows and columns of blocks, 64 each."""
    height, width = plane.shape
    across, down = factors
    size = (-(-width * across // most[0]), -(-height * down // most[1]))
    small = PIL.Image.fromarray(plane).resize(size, PIL.Image.Resampling.BOX)
    units = (-(-height // (8 * most[1])) * down, -(-width // (8 * most[0])) * across)
    room = [(0, 8 * unit - side) for unit, side in zip(units, size[::-1], strict=True)]
    padded = np.pad(np.asarray(small, float), room, mode="edge")
    shifted = padded * 2 ** (form.bits - 8) - 2 ** (form.bits - 1)
    blocks = shifted.reshape(units[0], 8, units[1], 8).transpose(0, 2, 1, 3)
    rounded = np.rint(DCT @ blocks @ DCT.T / form.step).astype(int)
    return rounded.reshape(*units, 64)[..., ZIGZAG]


def _blocks(components, tables, sampling, most, size) -> Iterator[list[tuple[int, list[int]]]]:
    """The blocks of each unit of a scan, each with the number of its component."""
    if len(components) == 1:  # such a scan leaves out what only pads the image
        (n,) = components
        across, down = sampling[n]
        rows = math.ceil(math.ceil(size[0] * down / most[1]) / 8)
        columns = math.ceil(math.ceil(size[1] * across / most[0]) / 8)
        for row in range(rows):
            for column in range(columns):
                yield [(n, tables[n][row, column].tolist())]
        return
    rows, columns = (
        -(-side // (8 * factor)) for side, factor in zip(size, most[::-1], strict=True)
    )
    for row in range(rows):
        for column in range(columns):
            yield [
                (n, tables[n][row * down + y, column * across + x].tolist())
                for n in components
                for across, down in [sampling[n]]
                for y in range(down)
                for x in range(across)
            ]


def _scan(units, first: int, last: int, restart: int) -> bytes:
    written, digits, before = [], [], {}
    for number, unit in enumerate(units):
        if restart and number and number % restart == 0:
            written.append(
                _packed("".join(digits)) + bytes([0xFF, 0xD0 + (number // restart - 1) % 8])
            )
            digits, before = [], {}
        for component, block in unit:
            chroma = component in {1, 2}
            if first == 0:
                size, extra = _magnitude(block[0] - before.get(component, 0))
                digits.append(CODES[chroma][size] + extra)
                before[component] = block[0]
            if last:
                digits.append(_alternating(block[max(first, 1) : last + 1], CODES[0x10 + chroma]))
    return b"".join([*written, _packed("".join(digits))])


def _alternating(values: list[int], codes: dict[int, str]) -> str:
    digits, zeros = [], 0
    for value in values:
        if value == 0:
            zeros += 1
            continue
        digits.extend([codes[0xF0]] * (zeros // 16))
        size, extra = _magnitude(value)
        digits.append(codes[zeros % 16 << 4 | size] + extra)
        zeros = 0
    return "".join([*digits, codes[0] if zeros else ""])


def _magnitude(value: int) -> tuple[int, str]:
    """How many bits a value has, and those bits as the standard wants them."""
    size = abs(value).bit_length()
    if size in {0, 16}:  # nothing follows; 16 is -32768 or 32768 of a lossless file
        return size, ""
    return size, format(value if value > 0 else value + (1 << size) - 1, f"0{size}b")


def _packed(digits: str) -> bytes:
    """Digits as bytes, filled with ones, each 0xFF followed by the 0 that says it is no marker."""
    digits += "1" * (-len(digits) % 8)
    data = int(digits or "0", 2).to_bytes(len(digits) // 8, "big")
    return data.replace(b"\xff", b"\xff\0")
