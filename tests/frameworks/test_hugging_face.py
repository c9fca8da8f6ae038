"""Data sets of Hugging Face's `datasets`: pixels, labels and boxes are the library's own."""

import io

import numpy as np
import PIL.Image
import pytest

import penstock as ps
from folders import make_image
from penstock import transforms as T
from penstock.errors import LoaderError, SourceError

datasets = pytest.importorskip("datasets", reason="Hugging Face's datasets is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")

CLASSES = ["ant", "bee", "cow"]
COUNT = 12


def encoded(image, kind="JPEG", **how):
    file = io.BytesIO()
    image.save(file, kind, **how)
    return file.getvalue()


def picture(index):
    rng = np.random.default_rng(index)
    return make_image(rng, *rng.integers(40, 90, 2).tolist())


def files():
    """JPEGs and PNGs, in grey and with a palette, and one that is to be turned."""
    found = [encoded(picture(index), quality=90) for index in range(COUNT)]
    found[3] = encoded(picture(3), "PNG")
    found[5] = encoded(picture(5).convert("L"))
    found[6] = encoded(picture(6).quantize(16), "PNG")
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    found[7] = encoded(picture(7), exif=exif)
    found[8] = encoded(picture(8), "PNG", exif=exif)
    exif[0x0112] = 1
    found[9] = encoded(picture(9), exif=exif)
    return found


@pytest.fixture(scope="module")
def photos():
    return datasets.Dataset.from_dict(
        {
            "image": [{"bytes": file, "path": f"{i}.jpg"} for i, file in enumerate(files())],
            "label": [index % 3 for index in range(COUNT)],
            "score": [index / 2 for index in range(COUNT)],
            "caption": [f"number {index}" for index in range(COUNT)],
        },
        features=datasets.Features(
            {
                "image": datasets.Image(),
                "label": datasets.ClassLabel(names=CLASSES),
                "score": datasets.Value("float32"),
                "caption": datasets.Value("string"),
            }
        ),
    )


def expected(dataset, torchvision, size=32):
    """What torchvision makes of the library's own images."""
    v2 = torchvision.transforms.v2
    transform = v2.Compose([v2.Resize((size, size)), v2.PILToTensor()])
    return torch.stack([transform(row["image"].convert("RGB")) for row in dataset])


def loaded(data, **options):
    loader = ps.Loader(data, transform=T.Resize((32, 32)), batch_size=5, **options)
    try:
        return loader, list(loader)
    finally:
        loader.close()


def test_pixels_and_labels_are_the_librarys(photos, torchvision):
    loader, batches = loaded(photos)

    assert torch.equal(torch.cat([images for images, _ in batches]), expected(photos, torchvision))
    assert torch.cat([labels for _, labels in batches]).tolist() == photos["label"][:]
    assert loader.classes == tuple(CLASSES)
    assert "12 images, 3 classes" in repr(loader)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.shuffle(seed=3),
        lambda d: d.select([7, 2, 2, 9]),
        lambda d: d.filter(lambda row: row["label"] != 1).shuffle(seed=1),
        lambda d: d.cast_column("image", datasets.Image(decode=False)),
        lambda d: d.with_format("torch", columns=["label"]),
        lambda d: datasets.concatenate_datasets([d.select([4, 5]), d.select([1])]),
    ],
    ids=["shuffle", "select", "filter", "undecoded", "format", "concatenate"],
)
def test_what_is_left_of_a_table_is_respected(photos, torchvision, change):
    changed = change(photos)
    _, batches = loaded(changed)
    plain = changed.with_format(None).cast_column("image", datasets.Image())

    assert torch.equal(torch.cat([images for images, _ in batches]), expected(plain, torchvision))
    assert torch.cat([labels for _, labels in batches]).tolist() == plain["label"][:]


def test_a_table_on_disk(photos, torchvision, tmp_path):
    """Memory-mapped, in several files."""
    photos.save_to_disk(tmp_path, num_shards=3)
    stored = datasets.load_from_disk(tmp_path)
    _, batches = loaded(stored)

    assert torch.equal(torch.cat([images for images, _ in batches]), expected(photos, torchvision))


def test_paths_without_bytes_are_read(tmp_path, torchvision):
    paths = []
    for index, file in enumerate(files()):
        paths.append(str(tmp_path / f"{index}.bin"))
        (tmp_path / f"{index}.bin").write_bytes(file)
    table = datasets.Dataset.from_dict({"photo": paths}).cast_column("photo", datasets.Image())
    _, batches = loaded(table)

    assert torch.equal(
        torch.cat(batches), expected(table.rename_column("photo", "image"), torchvision)
    )


def test_columns_can_be_asked_for(photos):
    _, batches = loaded(photos, columns=["caption", "score"], as_dict=True)
    _, restricted = loaded(ps.from_hf(photos, columns=["score"]), columns=["score"])

    assert batches[1]["caption"] == [f"number {index}" for index in range(5, 10)]
    assert batches[1]["label"].tolist() == [2, 0, 1, 2, 0]
    assert restricted[0][1].tolist() == [0, 0.5, 1, 1.5, 2]
    with pytest.raises(LoaderError, match="no column 'caption'"):
        loaded(ps.from_hf(photos, columns=["score"]), columns=["caption"])
    with pytest.raises(SourceError, match="no column 'colour'"):
        ps.from_hf(photos, columns=["colour"])


def test_the_names_that_a_trainer_takes(photos):
    names = {"image": "pixel_values", "label": "labels"}
    _, batches = loaded(photos, as_dict=names)
    _, more = loaded(photos, as_dict=names, columns=["caption"])

    assert list(batches[0]) == ["pixel_values", "labels"]
    assert list(more[0]) == ["pixel_values", "labels", "caption"]
    assert torch.equal(batches[0]["pixel_values"], more[0]["pixel_values"])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"images": "pixel_values"}, "no 'images' to be renamed. There are image, label;"),
        ({"image": "label"}, "two keys of a batch would be called 'label'"),
        ({"image": 3}, "must be True, False or a dictionary"),
        ({}, "must be True, False or a dictionary"),
        ("image", "must be True, False or a dictionary"),
    ],
)
def test_wrong_names_are_refused(photos, names, message):
    with pytest.raises(LoaderError, match=message):
        ps.Loader(photos, as_dict=names)


def test_the_label_can_be_chosen(photos):
    named, _ = loaded(ps.from_hf(photos, label="caption"))
    scores, batches = loaded(ps.from_hf(photos, label="score"))
    none, alone = loaded(ps.from_hf(photos, label=False))

    assert named.classes == tuple(sorted(f"number {index}" for index in range(COUNT)))
    assert scores.classes is None
    assert batches[0][1].dtype == torch.float64
    assert none.classes is None
    assert alone[0].shape == (5, 3, 32, 32)


def test_vectors_are_labels(photos):
    vectors = [[float(index), 1.0] for index in range(COUNT)]
    table = photos.remove_columns("label").add_column("tags", vectors)
    _, batches = loaded(ps.from_hf(table, label="tags"))

    assert batches[0][1].tolist() == vectors[:5]
    ragged = photos.remove_columns("label").add_column("tags", [[1.0] * (i + 1) for i in range(12)])
    with pytest.raises(SourceError, match="'tags' cannot be the label"):
        ps.from_hf(ragged, label="tags")


def with_objects(photos, boxes, categories, feature=None):
    feature = feature or datasets.ClassLabel(names=["head", "tail"])
    table = photos.remove_columns("label").to_dict()
    objects = [{"bbox": b, "category": c} for b, c in zip(boxes, categories, strict=True)]
    features = datasets.Features(
        {
            **{name: photos.features[name] for name in ("image", "score", "caption")},
            "objects": datasets.List(
                {"bbox": datasets.List(datasets.Value("float32"), length=4), "category": feature}
            ),
        }
    )
    rows = [
        [{"bbox": b, "category": c} for b, c in zip(o["bbox"], o["category"], strict=True)]
        for o in objects
    ]
    images = photos.cast_column("image", datasets.Image(decode=False))["image"][:]
    return datasets.Dataset.from_dict(
        {**table, "image": images, "objects": rows}, features=features
    )


BOXES = [[[1.0, 2.0, 30.0, 1.5]] * (index % 3) for index in range(COUNT)]
CATEGORIES = [[1] * (index % 3) for index in range(COUNT)]


def test_boxes_are_targets(photos):
    table = with_objects(photos, BOXES, CATEGORIES)
    loader = ps.Loader(table, batch_size=3, background=False)
    _, targets = next(iter(loader))
    loader.close()

    assert [target["boxes"].tolist() for target in targets] == [
        [],
        [[1, 2, 31, 3.5]],
        [[1, 2, 31, 3.5]] * 2,
    ]
    assert targets[2]["labels"].tolist() == [1, 1]
    assert loader.classes == ("head", "tail")
    assert "left, top, width, height" in repr(loader)


def test_boxes_that_may_be_corners_are_refused(photos):
    corners = [[[1.0, 2.0, 30.0, 15.0]] * (index % 3) for index in range(COUNT)]
    table = with_objects(photos, corners, CATEGORIES)
    with pytest.raises(SourceError, match="nothing tells whether the boxes"):
        ps.Loader(table)
    loader = ps.Loader(ps.from_hf(table, box_format="xyxy"), batch_size=3)
    _, targets = next(iter(loader))
    loader.close()

    assert targets[1]["boxes"].tolist() == [[1, 2, 30, 15]]
    assert targets[1]["labels"].tolist() == [2]
    with pytest.raises(SourceError, match="must be 'xywh' or 'xyxy'"):
        ps.from_hf(table, box_format="cxcywh")


def test_it_can_be_packed(photos, torchvision, tmp_path):
    ps.pack(photos, tmp_path / "a.pen")
    ps.pack(ps.from_hf(photos, columns=["score"]), tmp_path / "b.pen")
    _, batches = loaded(tmp_path / "a.pen")
    _, scores = loaded(tmp_path / "b.pen", columns=["score"])

    assert torch.equal(torch.cat([images for images, _ in batches]), expected(photos, torchvision))
    assert scores[1][1].tolist() == [2.5, 3, 3.5, 4, 4.5]


def test_what_is_not_one_table_is_refused(photos):
    splits = datasets.DatasetDict({"train": photos, "validation": photos})
    for data in (splits, datasets.DatasetDict()):
        with pytest.raises(SourceError, match="one of its splits"):
            ps.Loader(data)
    with pytest.raises(SourceError, match="'train', 'validation'"):
        ps.from_hf(splits)
    with pytest.raises(SourceError, match="without streaming=True"):
        ps.Loader(photos.to_iterable_dataset())
    with pytest.raises(SourceError, match="would be ignored"):
        ps.Loader(photos.with_transform(lambda rows: rows))
    with pytest.raises(SourceError, match="is empty"):
        ps.Loader(photos.select([]))
    with pytest.raises(SourceError, match=r"a datasets.Dataset is needed, got list"):
        ps.from_hf([1])
    with pytest.raises(SourceError, match="labels cannot be said of it"):
        ps.Loader(photos, labels=[1])


def test_several_candidates_are_refused(photos):
    pictures = photos.cast_column("image", datasets.Image(decode=False))["image"][:]
    two = photos.add_column("other", pictures).cast_column("other", datasets.Image())
    with pytest.raises(SourceError, match="'image', 'other'; one is needed"):
        ps.from_hf(two)
    assert len(ps.from_hf(two, image="other")) == COUNT
    classes = photos.add_column("kind", [0] * COUNT).cast_column(
        "kind", datasets.ClassLabel(names=["one"])
    )
    with pytest.raises(SourceError, match="several columns of classes: label, kind"):
        ps.from_hf(classes)
    assert ps.from_hf(classes, label="kind").classes == ("one",)
    with pytest.raises(SourceError, match="no column 'nowhere'"):
        ps.from_hf(photos, image="nowhere")
    with pytest.raises(SourceError, match="does not have encoded images"):
        ps.from_hf(photos, image="caption")
    with pytest.raises(SourceError, match="label='nowhere'"):
        ps.from_hf(photos, label="nowhere")
    with pytest.raises(SourceError, match=r"Image\(mode='L'"):
        ps.from_hf(photos.cast_column("image", datasets.Image(mode="L")))


def test_labels_are_never_invented(photos):
    hidden = photos.remove_columns("label").add_column("label", [0] * 11 + [-1])
    hidden = hidden.cast_column("label", datasets.ClassLabel(names=CLASSES))
    with pytest.raises(SourceError, match="row 11: label is -1"):
        ps.from_hf(hidden)
    missing = photos.remove_columns("label").add_column("label", [0] * 11 + [None])
    with pytest.raises(SourceError, match="row 11: label is empty"):
        ps.from_hf(missing)


def test_bad_rows_are_named(photos):
    table = photos.cast_column("image", datasets.Image(decode=False)).to_dict()
    table["image"][4] = None
    table["image"][5] = {"bytes": None, "path": "https://example.org/a.jpg"}
    table["image"][6] = {"bytes": b"no image", "path": "6.jpg"}
    broken = datasets.Dataset.from_dict(table, features=photos.features)
    for row, message in (
        (4, "row 4: it has no image"),
        (5, "only local files are read"),
        (6, "6.jpg"),
    ):
        with pytest.raises(ps.PenstockError, match=message):
            loaded(broken.select([row]) if row == 6 else broken, indices=[0 if row == 6 else row])
    loader, batches = loaded(broken, on_error="skip")

    assert sum(len(images) for images, _ in batches) == COUNT - 3
    assert loader.ledger.counts()["skipped"] == 3
