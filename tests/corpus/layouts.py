"""The six samples in every layout that `pack` reads.

Some data sets are committed, written by libraries that tests do not install (tests/data); the
others are written here, by h5py, lmdb, pyarrow and tarfile, or as the plain text that they are.
"""

from __future__ import annotations

import io
import json
import struct
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from corpus.samples import BOX_CLASSES, CLASSES, FOLDER, Sample, load_samples

COMMITTED = FOLDER.parent / "layouts"
Writer = Callable[[Path], Path]


@dataclass(frozen=True)
class Layout:
    """A data set and what it can tell of the samples."""

    kind: str
    write: Writer  # into an empty folder; returns what to open
    split: str | None = None
    labels: bool = False
    boxes: bool = False
    encoded: bool = True  # the files themselves, not only their pixels
    first: int = 0  # of the samples
    end: int | None = None

    @property
    def samples(self) -> list[Sample]:
        """Those that it holds."""
        return load_samples()[self.first : self.end]


def committed(path: str) -> Writer:
    """What lies in the repository already."""
    return lambda _: COMMITTED / path


def _photos(folder: Path, samples: list[Sample] | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for sample in samples or load_samples():
        (folder / sample.name).write_bytes(sample.data)


def _text(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _stem(sample: Sample) -> str:
    return Path(sample.name).stem


def _pixels() -> np.ndarray:
    """All samples in one size, as arrays of pixels have it."""
    photos = [Image.open(io.BytesIO(sample.data)).resize((32, 24)) for sample in load_samples()]
    return np.stack([np.asarray(photo) for photo in photos])


def _numbers() -> list[int]:
    return [CLASSES.index(sample.label) for sample in load_samples()]


def write_coco(folder: Path) -> Path:
    """COCO's own folders: annotations/instances_train2017.json and train2017/."""
    _photos(folder / "train2017")
    images, annotations = [], []
    for number, sample in enumerate(load_samples()):
        images.append(
            {
                "id": number,
                "file_name": sample.name,
                "height": sample.height,
                "width": sample.width,
            }
        )
        for (left, top, right, bottom), name in zip(sample.boxes, sample.box_labels, strict=True):
            annotations.append(
                {
                    "id": len(annotations),
                    "image_id": number,
                    "category_id": 1 + BOX_CLASSES.index(name),
                    "bbox": [left, top, right - left, bottom - top],
                    "area": (right - left) * (bottom - top),
                    "iscrowd": 0,
                    "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
                }
            )
    categories = [{"id": n, "name": name} for n, name in enumerate(BOX_CLASSES, 1)]
    whole = {"images": images, "annotations": annotations, "categories": categories}
    _text(folder / "annotations" / "instances_train2017.json", [json.dumps(whole)])
    return folder


def write_roboflow_coco(folder: Path) -> Path:
    """The json beside the images."""
    write_coco(folder / "other")
    (folder / "other" / "train2017").rename(folder / "train")
    target = folder / "train" / "_annotations.coco.json"
    (folder / "other" / "annotations" / "instances_train2017.json").rename(target)
    return folder


def _yolo_lines(sample: Sample) -> list[str]:
    lines = []
    for (left, top, right, bottom), name in zip(sample.boxes, sample.box_labels, strict=True):
        middle = (left + right) / 2 / sample.width, (top + bottom) / 2 / sample.height
        sides = (right - left) / sample.width, (bottom - top) / sample.height
        numbers = " ".join(f"{value:.6f}" for value in middle + sides)
        lines.append(f"{BOX_CLASSES.index(name)} {numbers}")
    return lines


def write_yolo(folder: Path) -> Path:
    """Ultralytics' folders: images/train, labels/train and data.yaml; no file without objects."""
    _photos(folder / "images" / "train")
    for sample in load_samples():
        if sample.boxes:
            _text(folder / "labels" / "train" / f"{_stem(sample)}.txt", _yolo_lines(sample))
    names = [f"  {number}: {name}" for number, name in enumerate(BOX_CLASSES)]
    _text(folder / "data.yaml", ["path: .", "train: images/train", "names:", *names])
    return folder


def write_darknet(folder: Path) -> Path:
    """Darknet's obj.data, obj.names and a list of the images, the labels beside these."""
    _photos(folder / "obj_train_data")
    for sample in load_samples():
        _text(folder / "obj_train_data" / f"{_stem(sample)}.txt", _yolo_lines(sample))
    _text(folder / "obj.names", list(BOX_CLASSES))
    _text(folder / "train.txt", [f"data/obj_train_data/{s.name}" for s in load_samples()])
    count = len(BOX_CLASSES)
    _text(folder / "obj.data", [f"classes = {count}", "train = data/train.txt",
                                "names = data/obj.names"])  # fmt: skip
    return folder


def _voc_xml(sample: Sample) -> list[str]:
    lines = [
        "<annotation>",
        f"<filename>{sample.name}</filename>",
        f"<size><width>{sample.width}</width><height>{sample.height}</height></size>",
    ]
    for box, name in zip(sample.boxes, sample.box_labels, strict=True):
        tags = ("xmin", "ymin", "xmax", "ymax")
        sides = "".join(f"<{tag}>{v}</{tag}>" for tag, v in zip(tags, box, strict=True))
        lines.append(f"<object><name>{name}</name><bndbox>{sides}</bndbox></object>")
    return [*lines, "</annotation>"]


def write_voc(folder: Path) -> Path:
    """Annotations, JPEGImages and ImageSets/Main."""
    _photos(folder / "JPEGImages")
    for sample in load_samples():
        _text(folder / "Annotations" / f"{_stem(sample)}.xml", _voc_xml(sample))
    stems = [_stem(sample) for sample in load_samples()]
    _text(folder / "ImageSets" / "Main" / "train.txt", stems[:4])
    _text(folder / "ImageSets" / "Main" / "val.txt", stems[4:])
    return folder


def write_roboflow_voc(folder: Path) -> Path:
    """An xml beside each image, in folders of splits."""
    _photos(folder / "train")
    for sample in load_samples():
        _text(folder / "train" / f"{_stem(sample)}.xml", _voc_xml(sample))
    return folder


def write_kitti(folder: Path) -> Path:
    """training/image_2 and label_2: 15 fields per object."""
    _photos(folder / "training" / "image_2")
    for sample in load_samples():
        rest = "-1 -1 -1 -1000 -1000 -1000 -10"
        lines = [
            f"{name} 0.00 0 -10 {' '.join(f'{side:.2f}' for side in box)} {rest}"
            for box, name in zip(sample.boxes, sample.box_labels, strict=True)
        ]
        _text(folder / "training" / "label_2" / f"{_stem(sample)}.txt", lines)
    return folder


def write_widerface(folder: Path) -> Path:
    """A list with a count and its boxes for each image; an image without faces has a row of 0."""
    lines = []
    for sample in load_samples():
        lines += [f"0--Parade/{sample.name}", str(len(sample.boxes))]
        for left, top, right, bottom in sample.boxes:
            lines.append(f"{left} {top} {right - left} {bottom - top} 0 0 0 0 0 0")
        if not sample.boxes:
            lines.append("0 0 0 0 0 0 0 0 0 0")
    _photos(folder / "WIDER_train" / "images" / "0--Parade")
    _text(folder / "wider_face_split" / "wider_face_train_bbx_gt.txt", lines)
    return folder


def write_imagenet_lists(folder: Path) -> Path:
    """Caffe's lists: a path and a number per line, and the names of the numbers."""
    _photos(folder / "images")
    lines = [f"{s.name} {CLASSES.index(s.label)}" for s in load_samples()]
    _text(folder / "train.txt", lines)
    _text(folder / "synsets.txt", list(CLASSES))
    return folder


def write_class_folders(folder: Path) -> Path:
    """A folder per class."""
    for sample in load_samples():
        _photos(folder / sample.label, [sample])
    return folder


def _tar(path: Path, members: list[tuple[str, bytes]]) -> bytes:
    with tarfile.open(path, "w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path.read_bytes()


def write_imagenet_archive(folder: Path) -> Path:
    """ILSVRC2012_img_train.tar: an archive of an archive per class, classes by their numbers."""
    inner = []
    for number, name in enumerate(CLASSES):
        synset = f"n{number:08}"
        members = [
            (f"{synset}_{_stem(sample)}.JPEG", sample.data)
            for sample in load_samples()
            if sample.label == name
        ]
        inner.append((f"{synset}.tar", _tar(folder / "inner.tar", members)))
    (folder / "inner.tar").unlink()
    _tar(folder / "ILSVRC2012_img_train.tar", inner)
    return folder / "ILSVRC2012_img_train.tar"


def write_parquet(folder: Path) -> Path:
    """By pyarrow alone: a column of encoded images, and the names of classes as text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    samples = load_samples()
    table = pa.table({"image": [s.data for s in samples], "label": [s.label for s in samples]})
    pq.write_table(table, folder / "photos.parquet", row_group_size=4, compression="zstd")
    return folder / "photos.parquet"


def write_hdf5(folder: Path) -> Path:
    """By h5py: an array of pixels and one of labels, with the names beside them."""
    import h5py

    with h5py.File(folder / "photos.h5", "w") as file:
        file.create_dataset("train_set_x", data=_pixels(), compression="gzip", chunks=True)
        file.create_dataset("train_set_y", data=np.array(_numbers(), np.int64))
        file.create_dataset("list_classes", data=np.array(CLASSES, "S"))
    return folder / "photos.h5"


def _varint(number: int) -> bytes:
    data = b""
    while number > 127:
        data, number = data + bytes([number & 127 | 128]), number >> 7
    return data + bytes([number])


def write_caffe_lmdb(folder: Path) -> Path:
    """By lmdb: Caffe's Datum, planes of blue, green and red, by its published message."""
    import lmdb

    path = str(folder / "train_lmdb")
    with lmdb.open(path, map_size=2**24) as handle, handle.begin(write=True) as transaction:
        for number, (pixels, label) in enumerate(zip(_pixels(), _numbers(), strict=True)):
            height, width, channels = pixels.shape
            planes = np.ascontiguousarray(pixels[..., ::-1].transpose(2, 0, 1)).tobytes()
            datum = b"".join(
                    [b"\x08", _varint(channels), b"\x10", _varint(height), b"\x18", _varint(width),
                     b"\x22", _varint(len(planes)), planes, b"\x28", _varint(label)]
                )  # fmt: skip
            transaction.put(f"{number:08}_photo".encode(), datum)
    return folder / "train_lmdb"


def write_lmdb_of_files(folder: Path) -> Path:
    """By lmdb: a file's name and its bytes, as mmcv reads it."""
    import lmdb

    path = str(folder / "photos.lmdb")
    with lmdb.open(path, map_size=2**24) as handle, handle.begin(write=True) as transaction:
        for sample in load_samples():
            transaction.put(_stem(sample).encode(), sample.data)
    return folder / "photos.lmdb"


def write_recordio(folder: Path) -> Path:
    """By RecordIO's published layout, as MXNet's C++ writes it without an index."""
    parts = []
    for number, sample in enumerate(load_samples()):
        header = struct.pack("<IfQQ", 0, float(CLASSES.index(sample.label)), number, 0)
        record = header + sample.data
        length = struct.pack("<II", 0xCED7230A, len(record))
        parts.append(length + record + bytes(-len(record) % 4))
    (folder / "photos.rec").write_bytes(b"".join(parts))
    return folder / "photos.rec"


LAYOUTS = {
    "COCO": Layout("coco", write_coco, boxes=True),
    "COCO, Roboflow's": Layout("coco", write_roboflow_coco, boxes=True),
    "YOLO, Ultralytics'": Layout("yolo", write_yolo, boxes=True),
    "YOLO, Darknet's": Layout("yolo", write_darknet, boxes=True),
    "VOC, train": Layout("voc", write_voc, "train", boxes=True, end=4),
    "VOC, val": Layout("voc", write_voc, "val", boxes=True, first=4),
    "VOC, Roboflow's": Layout("voc", write_roboflow_voc, boxes=True),
    "KITTI": Layout("kitti", write_kitti, boxes=True),
    "WIDER FACE": Layout("widerface", write_widerface, boxes=True),
    "ImageNet's lists": Layout("imagenet_txt", write_imagenet_lists, labels=True),
    "ImageNet's archive": Layout("imagenet", write_imagenet_archive, labels=True),
    "folders of classes": Layout("folder", write_class_folders, labels=True),
    "WebDataset": Layout("webdataset", committed("webdataset"), labels=True),
    "Hugging Face, train": Layout(
        "parquet", committed("huggingface/classes"), "train", labels=True, end=4
    ),
    "Hugging Face, boxes": Layout("parquet", committed("huggingface/boxes"), boxes=True),
    "Parquet by pyarrow": Layout("parquet", write_parquet, labels=True),
    "TensorFlow, classes": Layout("tfrecord", committed("tensorflow/classes"), labels=True),
    "TensorFlow, boxes": Layout("tfrecord", committed("tensorflow/boxes"), boxes=True),
    "MXNet, classes": Layout("recordio", committed("mxnet/classes.rec"), labels=True),
    "MXNet, boxes": Layout("recordio", committed("mxnet/boxes.rec"), boxes=True),
    "RecordIO": Layout("recordio", write_recordio, labels=True),
    "HDF5": Layout("hdf5", write_hdf5, labels=True, encoded=False),
    "Caffe's LMDB": Layout("lmdb", write_caffe_lmdb, labels=True, encoded=False),
    "LMDB of files": Layout("lmdb", write_lmdb_of_files),
}
