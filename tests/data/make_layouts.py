"""Make layouts/: data sets as users of other libraries write them, by those libraries.

Run once, from the checkout, in environments of its own, since tests should not install these:

    pip install tensorflow-cpu datasets webdataset pillow
    python tests/data/make_layouts.py tensorflow huggingface webdataset
    pip install mxnet==1.9.1 'numpy<1.24' opencv-python-headless pillow    # another environment
    python tests/data/make_layouts.py mxnet

What tests install anyway (h5py, lmdb, pyarrow, pycocotools) writes its data sets when tests run:
see corpus/layouts.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from corpus.samples import BOX_CLASSES, CLASSES, load_samples  # noqa: E402

LAYOUTS = HERE / "layouts"


def make_tensorflow(folder: Path) -> None:
    """Classification as TF-Slim writes it, in two shards; detection as the Object Detection API."""
    import tensorflow as tf

    def feature(values: list) -> tf.train.Feature:
        if values and isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        if values and isinstance(values[0], int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))

    def example(features: dict) -> bytes:
        named = {name: feature(values) for name, values in features.items()}
        return tf.train.Example(features=tf.train.Features(feature=named)).SerializeToString()

    samples = load_samples()
    (folder / "classes").mkdir(parents=True)
    (folder / "boxes").mkdir()
    for shard in range(2):
        path = folder / "classes" / f"photos_train_{shard:05}-of-00002.tfrecord"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for sample in samples[shard * 3 : shard * 3 + 3]:
                features = {
                    "image/encoded": [sample.data],
                    "image/format": [b"jpg"],
                    "image/class/label": [CLASSES.index(sample.label)],
                    "image/height": [sample.height],
                    "image/width": [sample.width],
                    "image/filename": [sample.name.encode()],
                }
                writer.write(example(features))
    (folder / "classes" / "labels.txt").write_text(
        "".join(f"{number}:{name}\n" for number, name in enumerate(CLASSES))
    )
    with tf.io.TFRecordWriter(str(folder / "boxes" / "train.record")) as writer:
        for sample in samples:
            size = (sample.width, sample.height) * 2
            sides = {
                side: [box[n] / size[n] for box in sample.boxes]
                for n, side in enumerate(("xmin", "ymin", "xmax", "ymax"))
            }
            features = {
                "image/height": [sample.height],
                "image/width": [sample.width],
                "image/filename": [sample.name.encode()],
                "image/source_id": [sample.name.encode()],
                "image/encoded": [sample.data],
                "image/format": [b"jpeg"],
                **{f"image/object/bbox/{side}": values for side, values in sides.items()},
                "image/object/class/text": [label.encode() for label in sample.box_labels],
                "image/object/class/label": [1 + BOX_CLASSES.index(b) for b in sample.box_labels],
            }
            writer.write(example(features))
    (folder / "boxes" / "label_map.pbtxt").write_text(
        "".join(f"item {{\n  id: {n}\n  name: '{b}'\n}}\n\n" for n, b in enumerate(BOX_CLASSES, 1))
    )


def make_huggingface(folder: Path) -> None:
    """Parquet files with images inside, as `push_to_hub` lays them out."""
    from datasets import ClassLabel, Dataset, Features, Image, Sequence, Value

    samples = load_samples()
    images = [{"bytes": sample.data, "path": sample.name} for sample in samples]
    labels = [CLASSES.index(sample.label) for sample in samples]
    features = Features({"image": Image(), "label": ClassLabel(names=list(CLASSES))})
    table = Dataset.from_dict({"image": images, "label": labels}, features=features)
    for split, start, end in (("train", 0, 4), ("test", 4, 6)):
        path = folder / "classes" / "data" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        table.select(range(start, end)).to_parquet(str(path))

    def object_of(sample) -> dict:
        return {
            "bbox": [[a, b, c - a, d - b] for a, b, c, d in sample.boxes],
            "category": [BOX_CLASSES.index(label) for label in sample.box_labels],
        }

    boxed = Features(
        {
            "image_id": Value("int64"),
            "image": Image(),
            "objects": {
                "bbox": Sequence(Sequence(Value("float32"), length=4)),
                "category": Sequence(ClassLabel(names=list(BOX_CLASSES))),
            },
        }
    )
    rows = {
        "image_id": list(range(len(samples))),
        "image": images,
        "objects": [object_of(sample) for sample in samples],
    }
    path = folder / "boxes" / "data" / "train-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    Dataset.from_dict(rows, features=boxed).to_parquet(str(path))


def make_webdataset(folder: Path) -> None:
    """Two shards by ShardWriter, with a class number and a json per sample."""
    import webdataset

    folder.mkdir(parents=True)
    pattern = str(folder / "photos-%06d.tar")
    with webdataset.ShardWriter(pattern, maxcount=4, verbose=0) as writer:
        for sample in load_samples():
            writer.write(
                {
                    "__key__": Path(sample.name).stem,
                    "jpg": sample.data,
                    "cls": CLASSES.index(sample.label),
                    "json": {"label_name": sample.label, "boxes": [list(b) for b in sample.boxes]},
                }
            )


def make_mxnet(folder: Path) -> None:
    """Indexed RecordIO: a class number per photo; and boxes with a header, as im2rec packs them."""
    from mxnet import recordio

    folder.mkdir(parents=True)
    samples = load_samples()
    for kind in ("classes", "boxes"):
        paths = [str(folder / f"{kind}.{extension}") for extension in ("idx", "rec")]
        writer = recordio.MXIndexedRecordIO(*paths, "w")
        lines = []
        for number, sample in enumerate(samples):
            label: object = float(CLASSES.index(sample.label))
            if kind == "boxes":
                label = [2, 5]
                for box, name in zip(sample.boxes, sample.box_labels, strict=True):
                    size = (sample.width, sample.height) * 2
                    label += [
                        BOX_CLASSES.index(name),
                        *(v / s for v, s in zip(box, size, strict=True)),
                    ]
            header = recordio.IRHeader(0, label, number, 0)
            writer.write_idx(number, recordio.pack(header, sample.data))
            numbers = label if isinstance(label, list) else [label]
            lines.append("\t".join([str(number), *map(str, numbers), sample.name]))
        writer.close()
        (folder / f"{kind}.lst").write_text("\n".join(lines) + "\n")


MAKERS = {
    "tensorflow": make_tensorflow,
    "huggingface": make_huggingface,
    "webdataset": make_webdataset,
    "mxnet": make_mxnet,
}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        MAKERS[name](LAYOUTS / name)
