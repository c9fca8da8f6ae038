"""TFRecord and RecordIO."""

from __future__ import annotations

import gzip
import struct

import numpy as np

from hostile.cases import JPEG, LARGE, ODD, REFUSED, bomb, each, put, refused, sparse_file


def message(number, content):
    length, size = b"", len(content)
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def framed(record, length=None):
    import google_crc32c

    def masked(data):
        crc = google_crc32c.value(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    count = struct.pack("<Q", len(record) if length is None else length)
    return count + masked(count) + record + masked(record)


def example(**features):
    entries = (
        message(1, message(1, name.replace("__", "/").encode()) + message(2, value))
        for name, value in features.items()
    )
    return message(1, b"".join(entries))


IMAGE = message(1, message(1, JPEG))


@each(
    REFUSED,
    "a.tfrecord",
    empty=b"",
    cut=framed(example(image__encoded=IMAGE))[:-9],
    text=b"x" * 99,
    gzip=gzip.compress(framed(b"")),
    length=framed(b"", 2**63),
    no_image=framed(example(x=IMAGE)),
    varint=framed(b"\xff" * 40),
    wire=framed(b"\x0f\x01"),
    field=framed(message(1, b"\x0a\xff\xff\xff\xff\x0f")),
    number=framed(b"\x08\x01" + example(image__encoded=b"\x08\x01")),
    name=framed(example(image__encoded=IMAGE, image__filename=message(1, message(1, b"../\0a")))),
    columns=framed(example(image__encoded=IMAGE, **{f"f{n}": IMAGE for n in range(2000)})),
    boxes=framed(
        example(
            image__encoded=IMAGE,
            image__object__bbox__xmin=message(2, message(1, struct.pack("<f", np.inf))),
        )
    ),
    floats=framed(example(image__encoded=IMAGE, x=message(2, message(1, b"abc")))),
)
def tfrecord(folder, content):
    return [put(folder / "a.tfrecord", content)]


@bomb("--limit nodes=")
def tfrecord_of_many_fields(folder):
    content = framed(example(image__encoded=IMAGE, x=message(1, b"\x0a\0" * 200_000)))
    return [*tfrecord(folder, content), "--limit", "nodes=100K"]


@bomb("--limit nodes=")
def tfrecord_of_many_numbers(folder):
    return tfrecord(
        folder, framed(example(image__encoded=IMAGE, x=message(3, message(1, b"\0" * 20_000_000))))
    )


@bomb("--limit record-bytes=")
def tfrecord_with_a_hole(folder):
    start = framed(b"", LARGE)[:12]
    return [sparse_file(folder / "a.tfrecord", start, LARGE + 16)]


MAGIC = struct.pack("<I", 0xCED7230A)


def record(content, flag=0):
    return MAGIC + struct.pack("<I", flag << 29 | len(content)) + content + bytes(-len(content) % 4)


HEADER = struct.pack("<IfQQ", 0, 1.0, 0, 0)


@each(
    REFUSED,
    "a.rec",
    empty=b"",
    text=b"x" * 99,
    cut=record(HEADER + JPEG)[:-40],
    short=record(b"x"),
    labels=record(struct.pack("<IfQQ", 2**32 - 1, 0, 0, 0)),
    order=record(HEADER, 2),
    unfinished=record(HEADER, 1),
    no_image=record(HEADER),
    nan=record(struct.pack("<IfQQ7f", 7, 0, 0, 0, 2, 5, np.nan, 0, 0, np.inf, 1) + JPEG),
    infinite=record(struct.pack("<IfQQ7f", 7, 0, 0, 0, 2, 5, 1, 0, 0, np.inf, 1) + JPEG),
)
def recordio(folder, content):
    return [put(folder / "a.rec", content)]


@each(ODD, "", digits="9" * 10_000 + "\t0\ta.jpg", other="²\t0\ta.jpg", lines="\0\n" * 999)
def recordio_list(folder, content):
    put(folder / "a.lst", content)
    return recordio(folder, record(HEADER + JPEG))


@refused("a.lst")
def recordio_list_leads_out(folder):
    return recordio_list(folder, "0\t0\t../../a.jpg")


@bomb("--limit nodes=")
def recordio_in_a_million_parts(folder):
    parts = [record(b"", 1), record(b"", 2) * 20_000, record(b"", 3)]
    return [*recordio(folder, b"".join(parts)), "--limit", "nodes=10K"]
