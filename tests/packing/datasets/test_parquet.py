import io
import json

import numpy as np
import pytest
from PIL import Image

from dataset_samples import image_bytes
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.layout_source import FROM_0, FROM_1

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

IMAGES = [{"bytes": image_bytes(value=v), "path": f"{v}.jpg"} for v in (10, 20, 30)]


def write(path, features=None, **columns):
    table = pa.table(columns)
    if features:
        metadata = json.dumps({"info": {"features": features}})
        table = table.replace_schema_metadata({"huggingface": metadata})
    pq.write_table(table, path, row_group_size=2)
    return path


def test_real_tensors(outside_folder):
    folder = outside_folder / "formats" / "parquet"
    source = open_dataset(folder)
    items = list(source.items())
    tables = [pq.read_table(path) for path in sorted(folder.glob("*.parquet"))]

    assert source.length == len(items) == 3
    for item, table in zip(items, tables, strict=True):
        expected = np.array(table["image"][0].as_py(), np.uint8).reshape(128, 128, 3)
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(item.data))), expected)
        assert source.classes[item.columns["label"]] == table["label"][0].as_py()


class _Tensors(pa.ExtensionType):
    """As Ray Data has it, which registers it when it is imported."""

    def __init__(self, shape):
        self.shape = shape
        super().__init__(pa.list_(pa.uint8()), "ray.data.arrow_tensor")

    def __arrow_ext_serialize__(self):
        return json.dumps(self.shape).encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, _, text):
        return cls(json.loads(text))


@pytest.fixture
def registered():
    try:
        pa.register_extension_type(_Tensors([1]))
    except pa.ArrowKeyError:
        pytest.skip("Ray Data has registered its own type in this process")
    yield
    pa.unregister_extension_type("ray.data.arrow_tensor")


def tensor_column(pixels):
    kind = _Tensors(list(pixels.shape[1:]))
    stored = pa.array([p.ravel() for p in pixels], kind.storage_type)
    return pa.ExtensionArray.from_storage(kind, stored)


def read_all(path):
    source = open_dataset(path)
    return [(item.data, item.columns) for item in source.items()], source.columns


def test_tensors_whoever_knows_their_type(tmp_path, registered):
    pixels = np.arange(2 * 5 * 4 * 3, dtype=np.uint8).reshape(2, 5, 4, 3)
    columns = {"image": tensor_column(pixels), "depth": tensor_column(pixels[..., 0])}
    path = write(tmp_path / "a.parquet", **columns, label=["a", "b"])

    known, known_columns = read_all(path)
    pa.unregister_extension_type("ray.data.arrow_tensor")
    try:
        unknown, unknown_columns = read_all(path)
    finally:
        pa.register_extension_type(_Tensors([1]))

    assert known_columns == unknown_columns
    for (data, beside), (same_data, same_beside), expected in zip(
        known, unknown, pixels, strict=True
    ):
        assert data == same_data
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), expected)
        np.testing.assert_array_equal(beside["depth"], same_beside["depth"])
        np.testing.assert_array_equal(beside["depth"], expected[..., 0].ravel())


def fixed_shape(pixels, permutation=None):
    kind = pa.fixed_shape_tensor(pa.uint8(), pixels.shape[1:], permutation=permutation)
    stored = pa.array([p.ravel() for p in pixels], kind.storage_type)
    return pa.ExtensionArray.from_storage(kind, stored)


@pytest.mark.parametrize("rows", [3, 1])
def test_arrows_own_tensors(tmp_path, rows):
    pixels = np.arange(rows * 5 * 4 * 3, dtype=np.uint8).reshape(rows, 5, 4, 3)
    path = write(tmp_path / "a.parquet", image=fixed_shape(pixels), label=list(range(rows)))

    items = list(open_dataset(path).items())

    for item, expected in zip(items, pixels, strict=True):
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(item.data))), expected)


def test_permuted_tensors_are_refused(tmp_path):
    pixels = np.zeros((2, 5, 4, 3), np.uint8)
    column = fixed_shape(pixels, permutation=[2, 0, 1])
    path = write(tmp_path / "a.parquet", image=column, label=[0, 1])

    with pytest.raises(SourceError, match=r"the axes of image are stored in the order \[2, 0, 1\]"):
        open_dataset(path)


def test_hugging_face_classification(tmp_path):
    features = {
        "image": {"_type": "Image"},
        "label": {"_type": "ClassLabel", "names": ["cat", "dog"]},
    }
    path = write(
        tmp_path / "train-00000-of-00001.parquet",
        features,
        image=IMAGES,
        label=[1, 0, 1],
        score=[0.5, 1.5, 2.5],
        age=[1, None, 3],
        note=["a", None, "c"],
        tags=[[1, 2], [], [3]],
    )
    source = open_dataset(path)
    items = list(source.items())

    assert source.classes == ("cat", "dog")
    assert [item.columns["label"] for item in items] == [1, 0, 1]
    assert [item.data for item in items] == [image["bytes"] for image in IMAGES]
    assert [item.name for item in items] == ["10.jpg", "20.jpg", "30.jpg"]
    assert {c.name: (c.kind, c.dtype) for c in source.columns[1:]} == {
        "score": ("fixed", "float64"),
        "age": ("text", ""),
        "note": ("text", ""),
        "tags": ("ragged", "int64"),
    }
    assert [item.columns["age"] for item in items] == ["1", "null", "3"]
    assert items[0].columns["tags"].tolist() == [1, 2]
    for start in range(4):
        assert [item.name for item in source.items(start)] == [i.name for i in items[start:]]


def test_hugging_face_detection(tmp_path):
    names = {"_type": "ClassLabel", "names": ["mask", "glove"]}
    features = {"objects": {"feature": {"category": names}, "_type": "Sequence"}}
    objects = [
        {"bbox": [[1.0, 2.0, 3.0, 1.0]], "category": [1]},
        {"bbox": [], "category": []},
        {"bbox": [[0.0, 0.0, 1.0, 1.0]], "category": [0]},
    ]
    source = open_dataset(write(tmp_path / "a.parquet", features, image=IMAGES, objects=objects))
    first, second, _ = source.items()

    assert source.box_classes == ("mask", "glove")
    assert first.columns["boxes"].tolist() == [[1, 2, 4, 3]]
    assert first.columns["box_labels"].tolist() == [1]
    assert second.columns["boxes"].shape == (0, 4)
    assert "left, top, width, height" in source.describe()


@pytest.mark.parametrize(
    ("categories", "stored", "told"),
    [([1, 90], [0, 89], FROM_1), ([1, 0], [1, 0], FROM_0)],
    ids=["0 is the background", "0 is a class"],
)
def test_categories_without_names(tmp_path, categories, stored, told):
    objects = [{"bbox": [[1.0, 2.0, 3.0, 1.0]], "category": [number]} for number in categories]
    source = open_dataset(write(tmp_path / "a.parquet", image=IMAGES[:2], objects=objects))

    assert [item.columns["box_labels"].tolist() for item in source.items()] == [[n] for n in stored]
    assert source.findings.count(told) == 2


def test_categories_are_those_that_have_names(tmp_path):
    names = {"_type": "ClassLabel", "names": ["mask", "glove"]}
    features = {"objects": {"feature": {"category": names}, "_type": "Sequence"}}
    objects = [{"bbox": [[1.0, 2.0, 3.0, 1.0]], "category": [-1]}]
    source = open_dataset(
        write(tmp_path / "a.parquet", features, image=IMAGES[:1], objects=objects)
    )

    with pytest.raises(SourceError, match="category -1 is not one of the classes"):
        list(source.items())


def test_plain_bytes_and_class_names(tmp_path):
    path = write(
        tmp_path / "a.parquet", jpg=[i["bytes"] for i in IMAGES], label=["dog", "cat", "dog"]
    )
    source = open_dataset(path)

    assert source.classes == ("cat", "dog")
    assert [item.columns["label"] for item in source.items()] == [1, 0, 1]
    assert [item.name for item in source.items()] == [f"{i:08d}.jpg" for i in range(3)]


def test_splits_in_a_folder(tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"):
        write(tmp_path / "data" / f"{name}.parquet", image=IMAGES)

    assert open_dataset(tmp_path, split="train").length == 6
    assert len(list(open_dataset(tmp_path, split="train").items(4))) == 2
    with pytest.raises(SourceError, match="several splits: test, train"):
        open_dataset(tmp_path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1, 2, 3]}, "no column of images"),
        ({"image": [{"bytes": None, "path": "a.jpg"}]}, "only its path"),
        ({"image": [{"bytes": b"", "path": "../a.jpg"}]}, "leads out"),
        ({"image": IMAGES, "label": [1, None, 2]}, "label is empty"),
        ({"image": IMAGES[:1], "objects": [{"bbox": [[1.0]], "category": [1]}]}, "objects must be"),
    ],
)
def test_wrong_tables_are_named(tmp_path, columns, message):
    with pytest.raises(SourceError, match=message) as caught:
        list(open_dataset(write(tmp_path / "a.parquet", **columns)).items())
    assert "a.parquet" in str(caught.value)


def test_every_truncation_is_an_error(tmp_path):
    path = write(tmp_path / "a.parquet", image=IMAGES)
    whole = path.read_bytes()
    for length in range(0, len(whole), 29):
        path.write_bytes(whole[:length])
        with pytest.raises(SourceError, match=r"a\.parquet"):
            list(open_dataset(path).items())
