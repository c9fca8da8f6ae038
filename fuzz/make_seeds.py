"""Write the inputs that each fuzz target starts from: FOLDER/<target>_seed_corpus.zip.

They are the files of fuzz/corpus that a target reads, and what is made here: masks, segments,
literals. Needs nothing but Python, and gives the same bytes every time.

Usage: python fuzz/make_seeds.py FOLDER
"""

from __future__ import annotations

import random
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
SOF, SOS, EOI, APP0 = (0xC0, 0xC1, 0xC2), 0xDA, 0xD9, 0xE0
LITERALS_SIZE = (19, 35)  # of the image in literals.cpp
CHOICES = 8  # bytes before the masks in masks.cpp

Seeds = dict[str, bytes]


def jpegs() -> Seeds:
    """Return the JPEGs of the corpus, each also with application segments put in."""
    plain = {path.name: path.read_bytes() for path in sorted(CORPUS.glob("*.jpg"))}
    bodies = list(segments().values())
    rng = random.Random(1)
    return plain | {
        f"with_segments_{name}": data[:2] + _as_segments(rng.sample(bodies, 3)) + data[2:]
        for name, data in plain.items()
    }


def _as_segments(bodies: list[bytes]) -> bytes:
    return b"".join(
        struct.pack(">BBH", 0xFF, APP0 + body[0] % 16, len(body) + 1) + body[1:] for body in bodies
    )


def records() -> Seeds:
    """Return records of coefficient tiles."""
    return {path.name: path.read_bytes() for path in sorted(CORPUS.glob("*.record"))}


def restores() -> Seeds:
    """Return records with restore sections, and JPEGs to make some of."""
    dct = {path.name: path.read_bytes() for path in sorted(CORPUS.glob("*.dct"))}
    return dct | records() | jpegs()


def segments() -> Seeds:
    """Return application segments: a number, then the body."""
    seeds = {
        "jfif": b"\x00JFIF\0\x01\x02\x01" + bytes(6),
        "adobe": b"\x0eAdobe\0\x64" + bytes(4) + b"\x01",
        "icc": b"\x02ICC_PROFILE\0\x01\x01" + bytes(8),
        "photoshop": b"\x0dPhotoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x04abcd8BIM\x03\xed\x03abc",
    }
    for order, name in (("<", "little"), (">", "big")):
        short, rational, number, anything = 3, 5, 4, 7
        exif = [(0x0112, short, 1, 6), (0x011A, rational, 1, 38)]
        pictures = [(0xB001, number, 1, 2), (0xB002, anything, 32, 38)]
        seeds[f"exif_{name}"] = b"\x01Exif\0\0" + _directory(order, exif, 40)
        seeds[f"pictures_{name}"] = b"\x02MPF\0" + _directory(order, pictures, 80)
    return seeds


def _directory(order: str, entries: list[tuple[int, int, int, int]], size: int) -> bytes:
    """Return a TIFF structure with one directory."""
    head = b"II*\0" if order == "<" else b"MM\0*"
    body = head + struct.pack(f"{order}IH", 8, len(entries))
    for tag, kind, count, value in entries:
        is_short = kind == 3
        body += struct.pack(f"{order}HHI", tag, kind, count)
        body += struct.pack(f"{order}HH", value, 0) if is_short else struct.pack(f"{order}I", value)
    return (body + bytes(4)).ljust(size, b"\0")


def masks() -> Seeds:
    """Return masks of objects, with the bytes before them that choose a map."""
    rng = random.Random(2)
    seeds = {}
    for number, (height, width, count) in enumerate(
        [(1, 1, 1), (7, 13, 3), (40, 40, 2), (9, 5, 0)]
    ):
        ends, runs = [], b""
        for _ in range(count):
            left = height * width
            while left > 0:
                outside = rng.randint(1, left)
                inside = min(rng.randint(1, 200), left - outside)
                if inside <= 0:
                    break
                runs += _number(outside) + _number(inside)
                left -= outside + inside
            ends.append(len(runs))
        head = b"RUN1" + struct.pack(f"<III{count}I", count, height, width, *ends)
        seeds[f"masks_{number}"] = rng.randbytes(CHOICES) + head + runs
    return seeds


def _number(value: int) -> bytes:
    """Return a number seven bits at a time, the lowest first."""
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def literals() -> Seeds:
    """Return JPEGs of one size without their entropy-coded data."""
    names = ("420_restarts.jpg", "420_progressive.jpg", "gray.jpg")
    return {name: b"".join(_literals((CORPUS / name).read_bytes())) for name in names}


def _literals(file: bytes) -> Iterator[bytes]:
    yield file[:2]
    at = 2
    while file[at + 1] != EOI:
        marker = file[at + 1]
        end = at + 2 + int.from_bytes(file[at + 2 : at + 4], "big")
        segment = file[at:end]
        if marker in SOF:
            segment = segment[:5] + struct.pack(">HH", *LITERALS_SIZE) + segment[9:]
        yield segment
        at = end
        if marker == SOS:
            while file[at] != 0xFF or file[at + 1] == 0 or 0xD0 <= file[at + 1] <= 0xD7:
                at += 1
    yield file[at:]


SEEDS = {
    "fuzz_jpeg_decode": jpegs,
    "fuzz_jpeg_header": jpegs,
    "fuzz_literals": literals,
    "fuzz_masks": masks,
    "fuzz_restore": restores,
    "fuzz_segments": segments,
    "fuzz_tiles": records,
}


def main() -> int:
    """Write a zip file for each target."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target, make in SEEDS.items():
        seeds = make()
        with zipfile.ZipFile(folder / f"{target}_seed_corpus.zip", "w") as corpus:
            for name, data in sorted(seeds.items()):
                corpus.writestr(zipfile.ZipInfo(name), data)  # with the same date every time
        print(f"{target}: {len(seeds)} seeds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
