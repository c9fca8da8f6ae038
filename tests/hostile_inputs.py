"""Data sets that somebody made to break their reader, each in a few lines.

A case writes its files below a folder and returns the arguments of `penstock pack` behind its name.
REFUSED are those that must be an error, with a part of its text; ODD those that need not be one.
BOMBS are refused as well, and would take gigabytes if they were not.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import socket
import struct
import tarfile
import zlib

import numpy as np
from PIL import Image

from dataset_samples import image_bytes, tar_bytes

JPEG = image_bytes()
REFUSED: dict[str, tuple[object, str]] = {}
BOMBS: dict[str, tuple[object, str]] = {}
ODD: dict[str, object] = {}


def refused(text):
    def add(build):
        REFUSED[build.__name__] = build, text
        return build

    return add


def bomb(text):
    def add(build):
        BOMBS[build.__name__] = build, text
        return build

    return add


def odd(build):
    ODD[build.__name__] = build
    return build


def each(table, text, /, **variants):
    """Add the variants of a case, each a name and the argument of `build`."""

    def add(build):
        for name, value in variants.items():

            def case(folder, value=value):
                return build(folder, value)

            full = f"{build.__name__}_{name}"
            table[full] = case if table is ODD else (case, text)
        return build

    return add


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    )
    return path


# --- folders and lists


@refused("a FIFO")
def folder_of_a_fifo_only(folder):
    os.mkfifo(folder / "a.jpg")
    return [folder]


@refused("a FIFO")
def fifo_as_data_set(folder):
    os.mkfifo(folder / "a.tar")
    return [folder / "a.tar"]


@refused("a device")
def device_as_data_set(folder):
    (folder / "a.json").symlink_to("/dev/zero")
    return [folder / "a.json"]


@refused("a device")
def device_as_labels_file(folder):
    put(folder / "images" / "a.jpg", JPEG)
    return [folder / "images", "--labels", "/dev/zero"]


@refused("a FIFO")
def fifo_as_labels_file(folder):
    put(folder / "images" / "a.jpg", JPEG)
    os.mkfifo(folder / "a.csv")
    return [folder / "images", "--labels", folder / "a.csv"]


@refused("a FIFO")
def fifo_listed_in_a_labels_file(folder):
    folder.joinpath("images").mkdir()
    os.mkfifo(folder / "images" / "a.jpg")
    return [folder / "images", "--labels", put(folder / "a.csv", "a.jpg,1\n")]


@odd
def folder_with_special_files(folder):
    put(folder / "cat" / "a.jpg", JPEG)
    os.mkfifo(folder / "cat" / "b.jpg")
    (folder / "cat" / "c.jpg").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(folder / "cat")  # the path of a socket must be short
        try:
            listening.bind("d.jpg")
        finally:
            os.chdir(here)
    return [folder]


@each(
    REFUSED,
    "",
    empty="",
    nul="a.jpg,\0\n\0",
    columns=",".join(["x"] * 10_000),
    one_column="a.jpg\n",
    number="a.jpg," + "9" * 10_000,
    infinite="a.jpg,1\nb.jpg,inf",
    nan="a.jpg,1.5\nb.jpg,nan",
    quote='"a.jpg,1\n' * 50_000,
    twice="a.jpg,1\na.jpg,2",
    missing="c.jpg,1",
    utf16="a.jpg,1\nb.jpg,2".encode("utf-16"),
    surrogate="\ud800.jpg,1",
    outside="../../../etc/passwd,1\n/dev/zero,2",
)
def labels(folder, content):
    for name in ("a.jpg", "b.jpg"):
        put(folder / "images" / name, JPEG)
    return [folder / "images", "--labels", put(folder / "labels.csv", content)]


@each(
    ODD,
    "",
    bom="\ufefffile,label\na.jpg,1\n",
    crlf="a.jpg,1\r\n",
    cut='a.jpg,"1',
    latin=b"a.jpg,caf\xe9\n",
)
def readable_labels(folder, content):
    return labels(folder, content)


# --- COCO

COCO = {
    "images": [{"id": 1, "file_name": "a.jpg", "height": 6, "width": 8}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 2, 2], "segmentation": []}
    ],
    "categories": [{"id": 1, "name": "cat"}],
}


def coco(folder, **changes):
    put(folder / "a.jpg", JPEG)
    data = json.loads(json.dumps(COCO))
    text = changes.pop("text", None)
    for path, value in changes.items():
        part, key = path.split("__")
        data[part][0][key] = value
    return [put(folder / "instances.json", json.dumps(data) if text is None else text)]


@each(
    REFUSED,
    "instances.json",
    empty="",
    blank="  ",
    array="[]",
    scalar="3",
    null="null",
    cut='{"images": [{"id": 1',
    depth="[" * 100_000,
    deep_value='{"images": ' + "[" * 100_000,
    no_images="{}",
    deep_but_parsed='{"images": [{"id": 1, "x": ' + "[" * 500 + "]" * 500 + "}]}",
    integer='{"images": [{"id": ' + "9" * 10_000 + "}]}",
    nan='{"images": [{"id": NaN}]}',
    not_objects='{"images": [1, 2]}',
    duplicate='{"images": [{"id": 1}, {"id": 1}]}',
    latin=b'{"images": [{"id": 1, "file_name": "\xff.jpg"}]}',
    no_name='{"images": [{"id": 1}]}',
    utf16='{"images": []}'.encode("utf-16"),
    nul='{"images": [{"id": 1, "file_name": "a\\u0000"}]}',
    key="{3: 4}",
    twice='{"images": []} {"images": []}',
    bom='\ufeff{"images": []}',
    surrogate='{"images": [{"id": 1, "file_name": "\\ud800.jpg"}]}',
    outside='{"images": [{"id": 1, "file_name": "../../etc/passwd"}]}',
)
def coco_text(folder, text):
    return coco(folder, text=text)


HUGE = int("9" * 4000)


@each(
    REFUSED,
    "instances.json",
    big_box={"annotations__bbox": [0, 0, HUGE, 1]},
    infinite={"annotations__bbox": [0, 0, 1e999, 1]},
    nan={"annotations__bbox": [float("nan")] * 4},
    text_box={"annotations__bbox": ["a"] * 4},
    short_box={"annotations__bbox": [1, 2]},
    no_box={"annotations__bbox": {"a": 1}},
    category={"annotations__category_id": 7},
    category_text={"annotations__category_id": "1"},
    big_category={"categories__id": HUGE},
    wide_category={"categories__id": 2**63},
    unnamed={"categories__name": None},
    surrogate_class={"categories__name": "\ud800"},
    outline=({"annotations__segmentation": [[0, 0, 1e300, 1, 2, 2]]}),
    outline_nan={"annotations__segmentation": [[0, 0, float("nan"), 1, 2, 2]]},
    outline_text={"annotations__segmentation": [["a", "b"]]},
    runs_text={"annotations__segmentation": "x"},
    outline_odd={"annotations__segmentation": [[1, 2, 3]]},
    outline_deep={"annotations__segmentation": [[[[1]]]]},
    runs_none={"annotations__segmentation": {"size": [6, 8]}},
    runs_negative={"annotations__segmentation": {"size": [6, 8], "counts": [-1, 49]}},
    runs_big={"annotations__segmentation": {"size": [6, 8], "counts": [2**70]}},
    runs_characters={"annotations__segmentation": {"size": [6, 8], "counts": "\ud800\u1234"}},
    runs_cut={"annotations__segmentation": {"size": [6, 8], "counts": "ooooo"}},
    runs_size={"annotations__segmentation": {"size": [10**30, 8], "counts": []}},
    keypoints={"annotations__keypoints": [1, 2]},
    keypoints_text={"annotations__keypoints": ["a"] * 3},
    keypoints_big={"annotations__keypoints": [HUGE] * 3},
    crowd_name={"images__file_name": "/dev/zero"},
    name_kind={"images__file_name": 3},
)
def coco_value(folder, changes):
    return coco(folder, **changes)


@each(
    ODD,
    "",
    crowd={"annotations__iscrowd": "yes"},
    crowd_big={"annotations__iscrowd": HUGE},
    id={"annotations__id": [1]},
    height={"images__height": HUGE},
    negative={"images__height": -1},
    area={"annotations__area": float("nan")},
    long_class={"categories__name": "x" * 10_000},
    nul_class={"categories__name": "a\0b"},
    box={"annotations__bbox": [-5, -5, 0, 0]},
)
def coco_oddity(folder, changes):
    return coco(folder, **changes)


@bomb("outline")
def coco_outline_around_the_earth(folder):
    outline = [x for n in range(2000) for x in (10**6 * (n % 2), n)]
    return coco(folder, annotations__segmentation=[outline])


@bomb("--limit pixels=")
def coco_mask_of_a_huge_image(folder):
    side = 40_000
    return coco(
        folder,
        images__height=side,
        images__width=side,
        annotations__segmentation={"size": [side, side], "counts": [side * side]},
    )


@bomb("--limit document-bytes=")
def coco_value_without_an_end(folder):
    return coco(folder, text='{"x": [' + "[]," * 8_000_000)


# --- YOLO


def yolo(folder, label="0 0.5 0.5 0.1 0.1", yaml="names: [cat]"):
    put(folder / "images" / "a.jpg", JPEG)
    put(folder / "labels" / "a.txt", label)
    put(folder / "data.yaml", yaml)
    return [folder, "--kind", "yolo"]


@each(
    REFUSED,
    "a.txt",
    words="cat 1 2 3 4",
    count="0 1 2",
    nan="0 nan 0 0 0",
    infinite="0 1e999 0 0 0",
    negative="-1 0 0 0 0",
    large="9" * 10_000 + " 0 0 0 0",
    nul="0 \0 0 0 0",
    latin=b"\xff\xfe0",
    fraction="0.5 0 0 0 0",
    surrogate="\ud800",
)
def yolo_label(folder, label):
    return yolo(folder, label)


@each(
    REFUSED,
    "data.yaml",
    tag="names: !!python/object/apply:os.system ['true']",
    unknown_tag="names: !cat [a]",
    depth="names: " + "[" * 10_000,
    broken="names: [",
    bool_tag="names: [!!bool foo]",
    int_tag='names: [!!int ""]',
    time_tag="names: [!!timestamp foo]",
    float_tag="names: [!!float a]",
    nested="names: [[a]]",
    map="names: {a: 1}",
    text="names: cat",
    empty="names: []",
    negative="names: {-1: a}",
    large="names: {" + "9" * 5000 + ": a}",
    hexadecimal="names: [0x" + "f" * 9000 + "]",
    merge="a: &a {x: 1}\nnames: {<<: *a}",
    self="names: &a [*a]",
    date="names: [2001-02-30]",
    points="names: [a]\nkpt_shape: [99999999, 3]",
    point_words="names: [a]\nkpt_shape: ab",
    binary="names: !!binary '***'",
    key="? [a]\n: b\nnames: [a]",
    nul="names: [\0]",
    latin=b"names: [\xff]",
    surrogate="names: [\ud800]",
    sparse="names: {99999999: a}",
)
def yolo_yaml(folder, yaml):
    return yolo(folder, yaml=yaml)


@refused("the class '\\ud800'")
def yolo_class_that_cannot_be_written(folder):
    return yolo(folder, yaml='names: ["\\ud800"]')


@refused("box 0 is [inf")
def yolo_outline_without_an_end(folder):
    return yolo(folder, "0 " + "1e308 " * 8)


@bomb("data.yaml")
def yolo_billion_laughs(folder):
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    return yolo(folder, yaml="\n".join([*lines, "names: *a11", "kpt_shape: *a11"]))


@bomb("outline")
def yolo_outline_around_the_earth(folder):
    numbers = " ".join(f"{100_000 * (n % 2)} 0.5" for n in range(2000))
    return yolo(folder, f"0 {numbers}")


@refused("a FIFO")
def yolo_label_is_a_fifo(folder):
    made = yolo(folder)
    (folder / "labels" / "a.txt").unlink()
    os.mkfifo(folder / "labels" / "a.txt")
    return made


@refused("a FIFO")
def yolo_image_is_a_fifo(folder):
    made = yolo(folder)
    (folder / "images" / "a.jpg").unlink()
    os.mkfifo(folder / "images" / "a.jpg")
    return made


# --- VOC, KITTI, WIDER FACE


@each(
    REFUSED,
    "a.xml",
    empty="",
    cut="<annotation><object>",
    entity='<!DOCTYPE a [<!ENTITY b "c">]><annotation/>',
    root="<html/>",
    nul="<annotation>\0</annotation>",
    latin=b"<annotation>\xff</annotation>",
    encoding='<?xml version="1.0" encoding="no-such"?><annotation/>',
    nan="<annotation><object><name>a</name><bndbox><xmin>nan</xmin></bndbox></object></annotation>",
    nameless="<annotation><object/></annotation>",
    large="<annotation><object><name>a</name><bndbox>"
    + "".join(f"<{k}>1e300</{k}>" for k in ("xmin", "ymin", "xmax", "ymax"))
    + "</bndbox></object></annotation>",
    outside="<annotation><filename>../a.jpg</filename></annotation>x",
)
def voc(folder, xml):
    put(folder / "JPEGImages" / "a.jpg", JPEG)
    put(folder / "Annotations" / "a.xml", xml)
    return [folder, "--kind", "voc"]


@each(
    ODD,
    "",
    depth="<annotation>" + "<a>" * 50_000 + "</a>" * 50_000 + "</annotation>",
    size="<annotation><size><height>"
    + "9" * 9000
    + "</height><width>٣</width></size></annotation>",
    utf16='<?xml version="1.0" encoding="utf-16"?><annotation/>'.encode("utf-16"),
)
def voc_oddity(folder, xml):
    return voc(folder, xml)


@bomb("--limit nodes=")
def voc_of_many_tags(folder):
    return voc(folder, "<annotation>" + "<a/>" * 4_000_000 + "</annotation>")


@each(
    REFUSED,
    "a.txt",
    words="Car a b",
    few="Car 1 2 3",
    latin=b"\xff",
    nan="Car" + " nan" * 14,
    infinite="Car" + " 1e999" * 14,
    large="Car" + (" " + "9" * 5000) * 14,
)
def kitti(folder, label):
    put(folder / "image_2" / "a.jpg", JPEG)
    put(folder / "label_2" / "a.txt", label)
    return [folder, "--kind", "kitti"]


@each(
    REFUSED,
    "",
    empty="",
    no_count="a.jpg\n",
    digits="a.jpg\n" + "9" * 10_000,
    other_digits="a.jpg\n²\n",
    negative="a.jpg\n-1\n",
    cut="a.jpg\n5\n0 0 1 1 0 0 0 0 0 0\n",
    words="a.jpg\n1\na b c d e f g h i j\n",
    outside="../../etc/passwd\n0\n0 0 0 0 0 0 0 0 0 0\n",
    nul="a\0.jpg\n0\n0\n",
    latin=b"\xff\n0\n0\n",
)
def widerface(folder, content):
    put(folder / "WIDER_train" / "images" / "a.jpg", JPEG)
    put(folder / "wider_face_split" / "wider_face_train_bbx_gt.txt", content)
    return [folder, "--kind", "widerface"]


# --- tar

LARGE = 3 << 30


def header(name, size, kind=b"0", pax=None):
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    info.pax_headers = pax or {}
    return info.tobuf(tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT)


def sparse_file(path, start, size):
    """A file of `size` bytes that has `start` and else nothing, also not on the disk."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(size)
    return path


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


# --- TFRecord, RecordIO


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


# --- LMDB, HDF5, Parquet


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


# --- images and masks


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
