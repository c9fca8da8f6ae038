"""A tiny data set in every layout that `pack` reads, with all that the layout can hold.

Images have different sizes and contents; some are PNGs, some gray; there are masks, keypoints and
columns. Whoever compares two ways of reading takes these. What has to be read, to the last number,
is known of `corpus/layouts.py`, whose six samples are written as other tools write them.
"""

import io
import json
import struct
import tarfile
from functools import partial

import numpy as np
from PIL import Image

from dataset_samples import tar_bytes, tf_framed

COUNT = 7


def image(number, format=None):
    """An encoded photo-like image: smooth, with some noise, no two alike."""
    rng = np.random.default_rng(number)
    height, width = 40 + 3 * number, 56 - 2 * number
    rows, columns = np.mgrid[0:height, 0:width]
    smooth = np.stack([rows * 4 + number * 9, columns * 4, rows + columns], axis=-1) % 256
    pixels = np.clip(smooth + rng.integers(-9, 9, smooth.shape), 0, 255).astype(np.uint8)
    picture = Image.fromarray(pixels)
    if number == 5:
        picture = picture.convert("L")
    file = io.BytesIO()
    picture.save(file, format or ("PNG" if number == 3 else "JPEG"))
    return file.getvalue()


def suffix(number):
    return "png" if number == 3 else "jpg"


def size(number):
    return 40 + 3 * number, 56 - 2 * number


def boxes(number):
    """(left, top, right, bottom), as many as the image has objects: 0 to 3."""
    height, width = size(number)
    return [(2 + k, 3 * k, width // 2 + k, height // 2 + 2 * k) for k in range(number % 4)]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    else:
        path.write_bytes(content)


def coco(root, **more):
    images = [
        {"id": 10 + n, "file_name": f"{n}.{suffix(n)}", "height": size(n)[0], "width": size(n)[1]}
        for n in range(COUNT)
    ]
    annotations = []
    for n in range(COUNT):
        for left, top, right, bottom in boxes(n):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": 10 + n,
                    "category_id": 3 if n % 2 else 7,
                    "bbox": [left, top, right - left, bottom - top],
                    "iscrowd": 0,
                    "segmentation": [[left, top, right, top, right, bottom]],
                    **{key: value(left, top) for key, value in more.items()},
                }
            )
    categories = [{"id": 3, "name": "cat"}, {"id": 7, "name": "dog"}]
    told = {"images": images, "annotations": annotations, "categories": categories}
    write(root / "annotations" / "instances_val2017.json", json.dumps(told))
    for n in range(COUNT):
        write(root / "val2017" / f"{n}.{suffix(n)}", image(n))
    return root


def coco_keypoints(root):
    return coco(root, keypoints=lambda left, top: [left, top, 2, left + 5, top + 5, 1])


def voc(root):
    for n in range(COUNT):
        objects = "".join(
            f"<object><name>{'cat' if n % 2 else 'dog'}</name><difficult>{n % 2}</difficult>"
            f"<bndbox><xmin>{b[0]}</xmin><ymin>{b[1]}</ymin><xmax>{b[2]}</xmax><ymax>{b[3]}</ymax>"
            "</bndbox></object>"
            for b in boxes(n)
        )
        height, width = size(n)
        write(
            root / "Annotations" / f"{n}.xml",
            f"<annotation><filename>{n}.{suffix(n)}</filename><size><width>{width}</width>"
            f"<height>{height}</height><depth>3</depth></size>{objects}</annotation>",
        )
        write(root / "JPEGImages" / f"{n}.{suffix(n)}", image(n))
    return root


def _yolo_box(n, b):
    height, width = size(n)
    x, y = (b[0] + b[2]) / 2 / width, (b[1] + b[3]) / 2 / height
    return f"{n % 2} {x} {y} {(b[2] - b[0]) / width} {(b[3] - b[1]) / height}"


def yolo(root):
    write(root / "data.yaml", "names: [cat, dog]\n")
    for n in range(COUNT):
        write(root / "images" / f"{n}.{suffix(n)}", image(n))
        write(root / "labels" / f"{n}.txt", "\n".join(_yolo_box(n, b) for b in boxes(n)))
    return root


def yolo_outlines(root):
    yolo(root)
    for n in range(COUNT):
        lines = [f"{n % 2} 0.1 0.1 0.{5 + k} 0.2 0.5 0.8" for k in range(n % 3)]
        write(root / "labels" / f"{n}.txt", "\n".join(lines))
    return root


def kitti(root):
    for n in range(COUNT):
        lines = [f"Car 0 0 1.5 {' '.join(map(str, b))} 1 2 3 4 5 6 7" for b in boxes(n)]
        write(root / "image_2" / f"{n}.{suffix(n)}", image(n))
        write(root / "label_2" / f"{n}.txt", "\n".join(lines))
    return root


def widerface(root):
    lines = []
    for n in range(COUNT):
        write(root / "WIDER_val" / "images" / "a" / f"{n}.{suffix(n)}", image(n))
        faces = [f"{b[0]} {b[1]} {b[2] - b[0]} {b[3] - b[1]} 0 0 1 0 2 0" for b in boxes(n)]
        lines += [f"a/{n}.{suffix(n)}", str(len(faces)), *(faces or ["0 0 0 0 0 0 0 0 0 0"])]
    write(root / "wider_face_split" / "wider_face_val_bbx_gt.txt", "\n".join(lines))
    return root


def _mask(n):
    file = io.BytesIO()
    rows, columns = np.mgrid[0 : size(n)[0], 0 : size(n)[1]]
    Image.fromarray(((rows // 7 + columns // 5 + n) % 4).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def segmentation(root):
    for n in range(COUNT):
        write(root / "images" / f"{n}.{suffix(n)}", image(n))
        write(root / "masks" / f"{n}.png", _mask(n))
    return root


def voc_segmentation(root):
    for n in range(COUNT):
        write(root / "JPEGImages" / f"{n}.jpg", image(n, "JPEG"))
        write(root / "SegmentationClass" / f"{n}.png", _mask(n))
    write(root / "ImageSets" / "Segmentation" / "val.txt", "\n".join(map(str, range(COUNT))))
    return root


def imagenet_txt(root):
    write(root / "synsets.txt", "cat\ndog\n")
    lines = [f"{n}.{suffix(n)} {n % 2}" for n in range(COUNT)]
    write(root / "val.txt", "\n".join(lines))
    for n in range(COUNT):
        write(root / "images" / f"{n}.{suffix(n)}", image(n))
    return root


def folder(root):
    for n in range(COUNT):
        write(root / ("cat" if n % 2 else "dog") / f"{n}.{suffix(n)}", image(n))
    return root


def loose(root):
    for n in range(COUNT):
        write(root / f"{n}.{suffix(n)}", image(n))
    return root


tar = partial(tar_bytes, format=tarfile.GNU_FORMAT)


def _webdataset_members(numbers):
    for n in numbers:
        yield f"{'long/' * 40}{n:04}.{suffix(n)}", image(n)  # longer than a header has room for
        yield f"{'long/' * 40}{n:04}.cls", str(n % 3).encode()
        yield f"{'long/' * 40}{n:04}.txt", f"picture {n}".encode()


def webdataset(root):
    write(root / "a-000.tar", tar(_webdataset_members(range(4)), format=tarfile.PAX_FORMAT))
    write(root / "a-001.tar", tar(_webdataset_members(range(4, COUNT))))
    return root


def webdataset_masks(root):
    members = []
    for n in range(COUNT):
        members += [(f"{n}.{suffix(n)}", image(n)), (f"{n}.seg.png", _mask(n))]
    write(root / "a.tar", tar(members))
    return root / "a.tar"


def imagenet_train(root):
    inner = [
        (f"{synset}.tar", tar([(f"{synset}_{n}.JPEG", image(n, "JPEG")) for n in numbers]))
        for synset, numbers in (("n02", range(4)), ("n01", range(4, COUNT)))
    ]
    write(root / "ILSVRC2012_img_train.tar", tar(inner))
    return root / "ILSVRC2012_img_train.tar"


def imagenet_val(root):
    members = [(f"ILSVRC2012_val_{n + 1:08}.JPEG", image(n, "JPEG")) for n in range(COUNT)]
    write(root / "ILSVRC2012_img_val.tar", tar(members))
    labels = "\n".join("n01" if n % 2 else "n02" for n in range(COUNT))
    write(root / "imagenet_2012_validation_synset_labels.txt", labels)
    return root / "ILSVRC2012_img_val.tar"


def parquet(root):
    import pyarrow as pa
    from pyarrow import parquet as pq

    images = [{"bytes": image(n), "path": f"{n}.{suffix(n)}"} for n in range(COUNT)]
    objects = [
        {
            "bbox": [[b[0], b[1], b[2] - b[0], b[3] - b[1]] for b in boxes(n)],
            "category": [k % 2 for k in range(len(boxes(n)))],
        }
        for n in range(COUNT)
    ]
    table = pa.table({"image": images, "objects": objects, "score": [n / 4 for n in range(COUNT)]})
    root.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, root / "a.parquet", row_group_size=3)
    return root / "a.parquet"


def parquet_labels(root):
    import pyarrow as pa
    from pyarrow import parquet as pq

    table = pa.table(
        {
            "image": [image(n) for n in range(COUNT)],
            "label": [f"class {n % 3}" for n in range(COUNT)],
            "text": [f"picture {n}" for n in range(COUNT)],
        }
    )
    root.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, root / "a.parquet", row_group_size=4)
    return root / "a.parquet"


def _field(number, content):
    length, head = len(content), b""
    while True:
        more = length > 127
        head += bytes([(length & 127) | (128 if more else 0)])
        length >>= 7
        if not more:
            return bytes([number << 3 | 2]) + head + content


def _feature(values):
    if isinstance(values[0], bytes):
        return _field(1, b"".join(_field(1, value) for value in values))
    if isinstance(values[0], float):
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    return _field(3, _field(1, bytes(values)))


def _example(features):
    return _field(
        1,
        b"".join(
            _field(1, _field(1, name.encode()) + _field(2, _feature(values)))
            for name, values in features.items()
            if values
        ),
    )


def tfrecord(root):
    for shard, numbers in enumerate((range(3), range(3, COUNT))):
        records = []
        for n in numbers:
            height, width = size(n)
            sides = {"xmin": (0, width), "ymin": (1, height), "xmax": (2, width)}
            sides["ymax"] = (3, height)
            features = {
                "image/encoded": [image(n)],
                "image/filename": [f"{n}.{suffix(n)}".encode()],
                "image/object/class/label": [1 + k % 2 for k in range(len(boxes(n)))],
                "image/object/area": [float(k) for k in range(len(boxes(n)))],
            }
            for side, (place, of) in sides.items():
                features[f"image/object/bbox/{side}"] = [b[place] / of for b in boxes(n)]
            records.append(tf_framed(_example(features)))
        write(root / f"a.tfrecord-{shard:05}-of-00002", b"".join(records))
    return root


def tfrecord_labels(root):
    records = [
        tf_framed(_example({"image/encoded": [image(n)], "image/class/label": [n % 3]}))
        for n in range(COUNT)
    ]
    write(root / "a.tfrecord", b"".join(records))
    return root / "a.tfrecord"


def _rec_framed(content):
    head = struct.pack("<II", 0xCED7230A, len(content))
    return head + content + bytes(-len(content) % 4)


def recordio(root):
    records = []
    for n in range(COUNT):
        head = struct.pack("<IfQQ", 0, float(n % 3), n, 0)
        records.append(_rec_framed(head + image(n)))
        if n == 2:
            records.append(_rec_framed(struct.pack("<IfQQ", 0, 0.0, 99, 0)))  # without an image
    write(root / "a.rec", b"".join(records))
    return root / "a.rec"


def recordio_boxes(root):
    records = []
    for n in range(COUNT):
        height, width = size(n)
        labels = [2.0, 5.0]
        for b in boxes(n):
            labels += [float(n % 2), b[0] / width, b[1] / height, b[2] / width, b[3] / height]
        head = struct.pack("<IfQQ", len(labels), 0.0, n, 0) + np.array(labels, "<f4").tobytes()
        records.append(_rec_framed(head + image(n)))
    write(root / "a.rec", b"".join(records))
    return root / "a.rec"


def lmdb_encoded(root):
    import lmdb

    root.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(root), map_size=1 << 24) as opened, opened.begin(write=True) as transaction:
        for n in range(COUNT):
            transaction.put(f"{n:04}".encode(), image(n))
    return root


def lmdb_datum(root):
    """Raw pixels, blue first, as Caffe has them."""
    import lmdb

    def number(field, value):
        return bytes([field << 3]) + bytes([value])

    root.mkdir(parents=True, exist_ok=True)
    with lmdb.open(str(root), map_size=1 << 24) as opened, opened.begin(write=True) as transaction:
        for n in range(COUNT):
            pixels = np.random.default_rng(n).integers(0, 256, (3, 32, 24 + n), np.uint8)
            datum = number(1, 3) + number(2, 32) + number(3, 24 + n) + _field(4, pixels.tobytes())
            transaction.put(f"{n:04}".encode(), datum + number(5, n % 3))
    return root


def hdf5(root):
    """Raw pixels, and vectors of labels."""
    import h5py

    root.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    with h5py.File(root / "a.h5", "w") as file:
        file["images"] = rng.integers(0, 256, (COUNT, 30, 40, 3), np.uint8)
        file["labels"] = np.arange(COUNT, dtype=np.int32) % 3
        file["pose"] = np.arange(2 * COUNT, dtype=">f4").reshape(COUNT, 2)
    return root / "a.h5"


def hdf5_encoded(root):
    import h5py

    root.mkdir(parents=True, exist_ok=True)
    with h5py.File(root / "a.h5", "w") as file:
        rows = file.create_dataset("files", COUNT, h5py.vlen_dtype(np.uint8))
        for n in range(COUNT):
            rows[n] = np.frombuffer(image(n), np.uint8)
        file["labels"] = np.eye(COUNT, 4, dtype=np.float32)
    return root / "a.h5"


# name: what writes it, the library it needs
LAYOUTS = {
    "folder": (folder, None),
    "loose": (loose, None),
    "coco": (coco, None),
    "coco_keypoints": (coco_keypoints, None),
    "voc": (voc, None),
    "yolo": (yolo, "yaml"),
    "yolo_outlines": (yolo_outlines, "yaml"),
    "kitti": (kitti, None),
    "widerface": (widerface, None),
    "segmentation": (segmentation, None),
    "voc_segmentation": (voc_segmentation, None),
    "imagenet_txt": (imagenet_txt, None),
    "webdataset": (webdataset, None),
    "webdataset_masks": (webdataset_masks, None),
    "imagenet_train": (imagenet_train, None),
    "imagenet_val": (imagenet_val, None),
    "parquet": (parquet, "pyarrow"),
    "parquet_labels": (parquet_labels, "pyarrow"),
    "tfrecord": (tfrecord, "google_crc32c"),
    "tfrecord_labels": (tfrecord_labels, "google_crc32c"),
    "recordio": (recordio, None),
    "recordio_boxes": (recordio_boxes, None),
    "lmdb_encoded": (lmdb_encoded, "lmdb"),
    "lmdb_datum": (lmdb_datum, "lmdb"),
    "hdf5": (hdf5, "h5py"),
    "hdf5_encoded": (hdf5_encoded, "h5py"),
}
