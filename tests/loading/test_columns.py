"""Columns come out beside the images they belong to, in the types they were packed in."""

import numpy as np
import pytest

from packing.samples import ListSource, image_file
from penstock import Loader, pack
from penstock import transforms as T
from penstock.errors import LoaderError
from penstock.packing.items import LABEL, Column, PackItem
from soak.data_sets import write_coco

COLUMNS = (
    LABEL,
    Column("score", "fixed", "float32"),
    Column("grade", "fixed", "int16"),
    Column("tags", "fixed", "bool", (5,)),
    Column("vector", "fixed", "float64", (3,)),
    Column("text", "text"),
    Column("blob", "bytes"),
    Column("marks", "ragged", "int32"),
)
NAMES = [column.name for column in COLUMNS]
SAMPLES, SIDE = 23, 12


def values_of(number):
    return {
        "label": number % 3,
        "score": number / 7,
        "grade": -number,
        "tags": np.arange(5) < number % 6,
        "vector": np.arange(3) + number,
        "text": f"Bild {number} ä",
        "blob": bytes([number] * (number % 4)),
        "marks": np.arange(number % 5),
    }


def item(number, **changes):
    data = image_file(number, size=(SIDE, SIDE), format="PNG")
    return PackItem(f"{number:02}.png", data, {**values_of(number), **changes})


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    source = ListSource([item(n) for n in range(SAMPLES)], COLUMNS, ("a", "b", "c"))
    pack(source, folder / "one.pen", progress=False)
    pack(source, folder / "shards", shards=3, progress=False)
    return folder / "one.pen"


def rows_of(loader):
    """All samples of an epoch, in their order: every column's value in a tuple."""
    return [row for _, *columns in loader for row in zip(*columns, strict=True)]


def test_each_column_has_its_type(packed):
    torch = pytest.importorskip("torch")
    images, *values = next(iter(Loader(packed, batch_size=4, columns=NAMES, output="torch")))
    found = dict(zip(NAMES, values, strict=True))

    assert images.shape == (4, 3, SIDE, SIDE)
    assert {name: v.dtype for name, v in found.items() if hasattr(v, "dtype")} == {
        "label": torch.int64,
        "score": torch.float32,
        "grade": torch.int16,
        "tags": torch.bool,
        "vector": torch.float64,
    }
    assert found["tags"].shape == (4, 5)
    assert found["vector"].shape == (4, 3)
    assert found["text"] == [f"Bild {number} ä" for number in range(4)]
    assert found["blob"] == [b"", b"\1", b"\2\2", b"\3\3\3"]
    assert [marks.tolist() for marks in found["marks"]] == [[], [0], [0, 1], [0, 1, 2]]
    assert all(marks.dtype == torch.int32 for marks in found["marks"])


@pytest.mark.parametrize("data", ["one.pen", "shards"])
def test_columns_go_with_their_images(packed, data):
    """Shuffled, on any number of threads, in shards, on two ranks, after resuming."""
    options = {"batch_size": 4, "shuffle": True, "seed": 3, "output": "numpy"}
    options |= {"columns": ["text", "vector", "label", "marks"]}
    path = packed.parent / data
    whole = rows_of(Loader(path, threads=1, **options))
    for text, vector, label, marks in whole:
        number = int(text.split()[1])
        expected = values_of(number)
        np.testing.assert_array_equal(vector, expected["vector"])
        np.testing.assert_array_equal(marks, expected["marks"])
        assert label == expected["label"]
    texts = [row[0] for row in whole]
    assert sorted(texts) == sorted(values_of(n)["text"] for n in range(SAMPLES))
    assert [row[0] for row in rows_of(Loader(path, threads=3, **options))] == texts

    ranks = [rows_of(Loader(path, rank=rank, world_size=2, **options)) for rank in range(2)]
    assert {row[0] for rows in ranks for row in rows} == set(texts)
    loader = Loader(path, **options)
    next(iter(loader))
    again = Loader(path, **options)
    again.load_state_dict(loader.state_dict())
    assert [row[0] for row in rows_of(again)] == texts[4:]


def test_images_are_those_of_the_columns(packed):
    loader = Loader(packed, batch_size=5, shuffle=True, columns=["text"], output="numpy")
    plain = Loader(packed, batch_size=SAMPLES, output="numpy")
    ((every, _),) = plain
    for images, texts in loader:
        for image, text in zip(images, texts, strict=True):
            np.testing.assert_array_equal(image, every[int(text.split()[1])])


@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_bad_files_take_their_columns_along(tmp_path, on_error):
    items = [item(number) for number in range(6)]
    large = image_file(9, size=(40, 40), format="PNG")
    items[2] = PackItem("02.png", large, values_of(2))
    pack(ListSource(items, COLUMNS), tmp_path / "bad.pen", progress=False)
    loader = Loader(
        tmp_path / "bad.pen",
        batch_size=6,
        columns=["text", "grade"],
        on_error=on_error,
        pixel_limit=900,
        output="numpy",
    )
    ((images, texts, grades),) = loader

    delivered = [0, 1, 3, 4, 5] if on_error == "skip" else [0, 1, 3, 3, 4, 5]
    assert len(images) == len(delivered)
    assert texts == [values_of(number)["text"] for number in delivered]
    assert grades.tolist() == [-number for number in delivered]


def test_dictionaries(packed):
    plain = next(iter(Loader(packed, batch_size=2, as_dict=True, output="numpy")))
    more = next(iter(Loader(packed, batch_size=2, as_dict=True, columns=["score"], output="numpy")))

    assert list(plain) == ["image", "label"]
    assert list(more) == ["image", "label", "score"]
    assert more["label"].tolist() == [0, 1]
    assert more["score"].dtype == np.float32


def test_mixing_mixes_the_label_alone(packed):
    options = {
        "batch_size": 4,
        "transform": T.ToDtype("float32", scale=True),
        "batch_transform": T.MixUp(num_classes=3),
        "output": "numpy",
        "drop_last": True,
    }
    _, expected = next(iter(Loader(packed, **options)))
    _, text, label = next(iter(Loader(packed, columns=["text", "label"], **options)))
    named = next(iter(Loader(packed, as_dict=True, **options)))

    np.testing.assert_array_equal(label, expected)
    np.testing.assert_array_equal(named["label"], expected)
    assert label.shape == (4, 3)
    assert text == [values_of(number)["text"] for number in range(4)]
    with pytest.raises(LoaderError, match="Add 'label' to columns"):
        Loader(packed, columns=["text"], **options)


def test_files_have_labels_names_and_paths(folder):
    loader = Loader(
        folder,
        batch_size=4,
        transform=T.CenterCrop(20),
        columns=["path", "label", "name"],
        output="numpy",
    )
    for _, paths, labels, names in loader:
        for path, label, name in zip(paths, labels, names, strict=True):
            assert path == str(folder / name)
            assert name.startswith(loader.classes[label])


def test_packed_files_know_their_names(packed):
    _, names = next(iter(Loader(packed, batch_size=3, columns=["name"])))

    assert names == ["00.png", "01.png", "02.png"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["scroe"], r"no column 'scroe'\. There are label, score, grade, tags, .*marks, name\."),
        ("score", "must be a list of different names"),
        ([], "must be a list of different names"),
        (["score", "score"], "must be a list of different names"),
        ([3], "must be a list of different names"),
    ],
)
def test_what_cannot_be_asked_for(packed, columns, message):
    with pytest.raises(LoaderError, match=message):
        Loader(packed, columns=columns)


def test_a_dictionary_has_one_image(tmp_path):
    columns = (Column("image", "text"),)
    pack(
        ListSource([PackItem("a.png", image_file(0, format="PNG"), {"image": "x"})], columns),
        tmp_path / "a.pen",
        progress=False,
    )
    with pytest.raises(LoaderError, match="has a key 'image' already"):
        Loader(tmp_path / "a.pen", columns=["image"], as_dict=True)


@pytest.fixture
def boxed(tmp_path):
    pack(write_coco(tmp_path / "coco", seed=0, images=12), tmp_path / "coco.pen", progress=False)
    return tmp_path / "coco.pen"


def test_columns_beside_targets(boxed):
    """What has a row for each box stays with its box; the rest comes behind the targets."""
    options = {"batch_size": 4, "output": "numpy", "columns": ["name", "iscrowd", "image_id"]}
    drop = T.SanitizeBoundingBoxes(min_size=30)
    dropped = 0
    for images, targets, names, image_ids in Loader(boxed, transform=drop, **options):
        assert len(images) == len(targets) == len(names)
        for target, name, image_id in zip(targets, names, image_ids, strict=True):
            assert target["image_id"] == image_id == 10 + 7 * int(name[:4])
            assert len(target["iscrowd"]) == len(target["boxes"])
            dropped += int(name[:4]) % 4 - len(target["boxes"])
    assert dropped > 3
    named = next(iter(Loader(boxed, as_dict=True, **options)))
    assert list(named) == ["image", "targets", "name", "image_id"]
    padded = next(iter(Loader(boxed, targets="padded", **options)))
    assert padded[1]["iscrowd"].shape == padded[1]["labels"].shape


def test_columns_instead_of_targets(boxed):
    options = {"batch_size": 4, "transform": T.Resize((20, 20)), "targets": "labels"}
    _, crowds = next(iter(Loader(boxed, columns=["iscrowd"], output="numpy", **options)))

    assert [len(each) for each in crowds] == [0, 1, 2, 3]
    with pytest.raises(LoaderError, match="'boxes' follow the transforms"):
        Loader(boxed, columns=["boxes"], **options)
