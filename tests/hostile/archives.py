"""Tar archives: headers, holes, sparse members, names."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile

from dataset_samples import tar_bytes
from hostile.cases import JPEG, LARGE, REFUSED, bomb, each, put, refused, sparse_file
from hostile.images import large_png


def header(name, size, kind=b"0", pax=None):
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    info.pax_headers = pax or {}
    return info.tobuf(tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT)


@each(
    REFUSED,
    "a.tar",
    empty=b"",
    cut=tar_bytes([("a.jpg", JPEG)])[:900],
    text=b"x" * 2000,
    negative=header("a.jpg", -1),
    back=header("a.jpg", -512) * 2,
    outside=tar_bytes([("../a.jpg", JPEG)]),
    two=tar_bytes([("a.jpg", JPEG), ("a.png", JPEG)]),
    none=tar_bytes([("a.txt", b"x")]),
    zip=b"PK\3\4" + bytes(600),
    gzip_cut=gzip.compress(bytes(9999))[:30],
    bz2_cut=bz2.compress(bytes(9999))[:20],
    xz_cut=lzma.compress(bytes(9999))[:20],
    json=tar_bytes([("a.jpg", JPEG), ("a.json", b"[" * 100_000)]),
    json_number=tar_bytes([("a.jpg", JPEG), ("a.json", b'{"label": ' + b"9" * 10_000 + b"}")]),
    json_label=tar_bytes([("a.jpg", JPEG), ("a.json", b'{"label": {"a": [[[]]]}}')]),
    json_nan=tar_bytes([("a.jpg", JPEG), ("a.json", b'{"label": [NaN, Infinity]}')]),
    json_wide=tar_bytes([("a.jpg", JPEG), ("a.json", b'{"label": 1' + b"0" * 30 + b"}")]),
    json_wide_list=tar_bytes([("a.jpg", JPEG), ("a.json", b'{"label": [1' + b"0" * 30 + b"]}")]),
    class_name=tar_bytes([("a.jpg", JPEG), ("a.json", b'{"label": "\\ud800"}')]),
    mask=tar_bytes([("a.jpg", JPEG), ("a.seg.png", b"\x89PNG" * 9)]),
    columns=tar_bytes([("a.jpg", JPEG)] + [(f"a.x{n}", b"") for n in range(2000)]),
)
def webdataset(folder, content):
    return [put(folder / "a.tar", content), "--kind", "webdataset"]


@refused("a.tar")
def tar_is_a_folder(folder):
    (folder / "a.tar").mkdir()
    return [folder / "a.tar", "--kind", "webdataset"]


@bomb("--limit record-bytes=")
def tar_with_a_large_hole(folder):
    start = header("a.jpg", LARGE)
    return [sparse_file(folder / "a.tar", start, LARGE + 2048), "--kind", "webdataset"]


@bomb("00000.jpg: not an image")
def tar_with_many_holes(folder):
    """Each member is small enough, and all of them would be read before the first is refused."""
    size = 100 << 20
    path = folder / "a.tar"
    with path.open("wb") as file:
        for number in range(12):
            file.write(header(f"{number:05}.jpg", size))
            file.seek(size, os.SEEK_CUR)
        file.write(bytes(1024))
    return [path, "--kind", "webdataset"]


@bomb("--limit record-bytes=")
def tar_with_a_sparse_member(folder):
    pax = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.name": "a.jpg",
        "GNU.sparse.size": str(LARGE),
        "GNU.sparse.map": "0,1",
    }
    return [
        put(folder / "a.tar", header("a.jpg", 512, pax=pax) + bytes(2048)),
        "--kind",
        "webdataset",
    ]


@bomb("--limit record-bytes=")
def tar_with_a_long_name(folder):
    start = header("././@LongLink", LARGE, b"L")
    return [sparse_file(folder / "a.tar", start, LARGE + 2048), "--kind", "webdataset"]


@bomb("--limit pixels=")
def tar_with_a_huge_mask(folder):
    members = [("a.jpg", JPEG), ("a.seg.png", large_png(30_000, 30_000))]
    return [put(folder / "a.tar", tar_bytes(members)), "--kind", "webdataset"]
