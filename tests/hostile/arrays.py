"""LMDB, HDF5 and Parquet."""

from __future__ import annotations

import os
import zlib

import numpy as np

from hostile.cases import JPEG, ODD, REFUSED, bomb, each, odd, put, refused
from hostile.records import message


def datum(channels=3, height=2, width=2, data=bytes(12)):
    def varint(value):
        found = b""
        while value > 127:
            found, value = found + bytes([value & 127 | 128]), value >> 7
        return found + bytes([value])

    sides = zip((8, 16, 24), (channels, height, width), strict=True)
    return b"".join(bytes([tag]) + varint(side) for tag, side in sides) + message(4, data)


@each(
    REFUSED,
    "a.mdb",
    pickle=[(b"a", b"\x80\x04.")],
    text=[(b"a", b"text")],
    none=[],
    size=[(b"a", datum(height=2**62, width=2**62))],
    channels=[(b"a", datum(channels=12))],
    key=[(b"../a", JPEG)],
    nul=[(b"a\0b", JPEG)],
    mixed=[(b"a", JPEG), (b"b", b"x")],
    varint=[(b"a", b"\x08" + b"\xff" * 20)],
)
def lmdb_values(folder, entries):
    import lmdb

    with (
        lmdb.open(str(folder / "a.mdb"), subdir=False, map_size=1 << 20, lock=False) as opened,
        opened.begin(write=True) as transaction,
    ):
        for key, value in entries:
            transaction.put(key, value)
    return [folder / "a.mdb"]


@each(REFUSED, "a.mdb", empty=b"", text=b"x" * 9000)
def lmdb_file(folder, content):
    return [put(folder / "a.mdb", content)]


@refused("a FIFO")
def lmdb_folder_with_a_fifo(folder):
    os.mkfifo(folder / "data.mdb")
    return [folder, "--kind", "lmdb"]


def hdf5(fill):
    def build(folder):
        import h5py

        with h5py.File(folder / "a.h5", "w", userblock_size=0) as file:
            fill(file)
        return [folder / "a.h5"]

    build.__name__ = fill.__name__
    return build


PIXELS = np.zeros((2, 4, 4, 3), np.uint8)


@refused("its values are in")
@hdf5
def hdf5_external_storage(file):
    external = [("/etc/passwd", 0, 48)]
    file.create_dataset("images", (1, 4, 4, 3), np.uint8, external=external)


@refused("a virtual data set")
@hdf5
def hdf5_virtual(file):
    import h5py

    layout = h5py.VirtualLayout((1, 4, 4, 3), np.uint8)
    layout[0] = h5py.VirtualSource("other.h5", "images", (4, 4, 3))
    file.create_virtual_dataset("images", layout)


@refused("a link to")
@hdf5
def hdf5_external_link(file):
    import h5py

    file["images"] = h5py.ExternalLink("/etc/other.h5", "images")


@refused("never written")
@hdf5
def hdf5_of_fill_values(file):
    file.create_dataset("images", (10**12, 4, 4, 3), np.uint8, chunks=(9, 4, 4, 3), fillvalue=7)


@refused("never written")
@hdf5
def hdf5_of_nothing(file):
    file.create_dataset("images", (10**12, 4, 4, 3), np.uint8)


@refused("--limit depth=")
@hdf5
def hdf5_of_deep_groups(file):
    group = file
    for _ in range(200):
        group = group.create_group("a")


@refused("--limit columns=")
@hdf5
def hdf5_of_many_arrays(file):
    for number in range(1100):
        file[f"a{number}"] = 0


@refused("no images")
@hdf5
def hdf5_of_odd_types(file):
    file["a"] = np.zeros(3, [("x", "f4"), ("y", "S3")])
    file["b"] = "text"
    file["itself"] = file["/"]


@odd
@hdf5
def hdf5_with_odd_neighbours(file):
    import h5py

    file["images"] = PIXELS
    file["labels"] = np.array([np.nan, np.inf])
    file["x"] = np.zeros(2, [("x", "f4")])
    file["y"] = h5py.Empty("f")
    file["classes"] = PIXELS
    file["z"] = h5py.SoftLink("/nowhere")


@bomb("--limit record-bytes=")
@hdf5
def hdf5_with_a_large_chunk(file):
    shape = (1, 40_000, 40_000)
    images = file.create_dataset("images", shape, np.uint8, chunks=shape, compression="gzip")
    images.id.write_direct_chunk((0, 0, 0), zlib.compress(bytes(100)))


@bomb("--limit record-bytes=")
@hdf5
def hdf5_with_a_large_neighbour(file):
    file["images"] = np.zeros((2, 1, 1), np.uint8)
    file.create_dataset("x", (2, 1 << 30), np.uint8, chunks=(1, 1 << 30), compression="gzip")


@each(REFUSED, "a.h5", empty=b"", text=b"x" * 99, cut=b"\x89HDF\r\n\x1a\n" + bytes(500))
def hdf5_file(folder, content):
    return [put(folder / "a.h5", content)]


@each(
    REFUSED,
    "a.parquet",
    empty=b"",
    text=b"x" * 99,
    cut=b"PAR1" + bytes(50) + b"\xff\xff\xff\x7fPAR1",
)
def parquet_file(folder, content):
    return [put(folder / "a.parquet", content)]


def parquet(folder, columns, metadata=None, **options):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(columns)
    if metadata is not None:
        table = table.replace_schema_metadata({"huggingface": metadata})
    pq.write_table(table, folder / "a.parquet", **options)
    return [folder / "a.parquet"]


ROW = {"bytes": JPEG, "path": "a.jpg"}


@each(
    REFUSED,
    "a.parquet",
    no_image={"a": [1]},
    path={"image": [{"bytes": JPEG, "path": "../../a"}]},
    nul={"image": [{"bytes": JPEG, "path": "a\0"}]},
    away={"image": [{"bytes": None, "path": "/etc/passwd"}]},
    label={"image": [ROW, ROW], "label": [1, None]},
    nan={"image": [ROW], "label": [np.nan]},
    objects={"image": [ROW], "objects": [[{"bbox": [1.0, 2.0], "category": 1}]]},
    infinite={"image": [ROW], "objects": [[{"bbox": [1.0, 2.0, np.inf, 1.0], "category": 1}]]},
    none={"image": [ROW], "objects": [[{"bbox": [1.0] * 4, "category": 1}, None]]},
    columns={"image": [ROW], **{f"c{n}": [1] for n in range(1500)}},
)
def parquet_columns(folder, columns):
    return parquet(folder, columns)


@each(
    ODD,
    "",
    label={"image": [ROW], "label": [10**18]},
    kinds={"image": [ROW], "labels": [[1, None]]},
    text={"image": [ROW], "caption": ["\0"]},
    nested={"image": [ROW], "x": [[[[[1]]]]]},
    dates={"image": [ROW], "x": [np.datetime64("NaT", "s")]},
    no_rows={"image": [ROW][:0] or [None]},
    masks={"image": [ROW], "masks": [3], "boxes": ["a"], "name": [None]},
)
def parquet_oddity(folder, columns):
    return parquet(folder, columns)


@each(
    REFUSED,
    "a.parquet",
    depth="[" * 100_000,
    text="x",
    array="[]",
    number='{"info": ' + "9" * 9000 + "}",
    names='{"info": {"features": {"label": {"_type": "ClassLabel", "names": ["\\ud800"]}}}}',
)
def parquet_metadata(folder, metadata):
    return parquet(folder, {"image": [ROW], "label": [0]}, metadata)


@bomb("--limit record-bytes=")
def parquet_cell_of_zeros(folder):
    import pyarrow as pa

    zeros = pa.array([bytes(280 << 20)])  # what the attacker needs does not count
    return parquet(
        folder, {"image": zeros}, compression="zstd", use_dictionary=False, write_statistics=False
    )
