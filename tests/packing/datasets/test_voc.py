import collections
import re

import pytest

from dataset_samples import boxes_in, image_bytes
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset
from penstock.packing.datasets.annotations import OUTSIDE
from penstock.packing.datasets.voc import VOC_CLASSES

OBJECT = """<object><name>{name}</name><difficult>1</difficult><bndbox>
<xmin>1</xmin><ymin>2</ymin><xmax>{right}</xmax><ymax>4</ymax></bndbox></object>"""


def annotation(*objects):
    size = "<size><width>8</width><height>6</height></size>"
    return f"<annotation><filename>a.jpg</filename>{size}{''.join(objects)}</annotation>"


@pytest.fixture
def voc(tmp_path):
    for folder in ("Annotations", "JPEGImages"):
        (tmp_path / folder).mkdir()
    (tmp_path / "JPEGImages" / "a.jpg").write_bytes(image_bytes())
    return tmp_path


def write(folder, *objects):
    (folder / "Annotations" / "a.xml").write_text(annotation(*objects))


def test_boxes_of_photos_are_those_of_the_files(voc_folder):
    """Read again with regular expressions."""
    folder = voc_folder
    texts = [path.read_text() for path in (folder / "Annotations").iterdir()]
    names = [name for text in texts for name in re.findall("<name>(.*)</name>", text)]
    source = open_dataset(folder, split="all")
    items = list(source.items())
    counts = collections.Counter(
        source.box_classes[label] for item in items for label in item.columns["box_labels"]
    )

    assert source.kind == "voc"
    assert len(items) == len(texts) > 20
    assert counts == collections.Counter(names)
    for item in items:
        text = (folder / "Annotations" / item.name.replace(".jpg", ".xml")).read_text()
        corners = zip(
            *(re.findall(rf"<{c}>(\d+)</{c}>", text) for c in ("xmin", "ymin", "xmax", "ymax")),
            strict=True,
        )
        assert item.columns["boxes"].tolist() == [[float(v) for v in row] for row in corners]
        assert item.data == folder / "JPEGImages" / item.name


def test_classes_of_the_challenges_keep_their_numbers(voc):
    """Whichever of them a folder has: torchvision's wrapper numbers them like this, from 1."""
    write(voc, OBJECT.format(name="person", right=5), OBJECT.format(name="aeroplane", right=5))
    source = open_dataset(voc)
    (item,) = source.items()

    assert source.box_classes == VOC_CLASSES
    assert item.columns["box_labels"].tolist() == [14, 0]
    write(voc, OBJECT.format(name="person", right=5), OBJECT.format(name="robot", right=5))
    assert open_dataset(voc).box_classes == ("person", "robot")


def test_splits_of_photos(voc_folder):
    lists = voc_folder / "ImageSets" / "Main"
    names = ("train", "val", "test")
    parts = {split: open_dataset(voc_folder, split=split) for split in names}

    for split, part in parts.items():
        assert part.length == len((lists / f"{split}.txt").read_text().split()) > 5
    everything = open_dataset(voc_folder, split="all")
    assert sum(boxes_in(part.items()) for part in parts.values()) == boxes_in(everything.items())
    assert {part.box_classes for part in parts.values()} == {("Platelets", "RBC", "WBC")}


def test_layouts(outside_folder):
    layouts = outside_folder / "formats" / "layouts"
    (one,) = open_dataset(layouts / "voc_dataset" / "voc_dataset1", split="train").items()
    (bare,) = open_dataset(layouts / "voc_dataset" / "voc_dataset1", split="test").items()
    beside = list(open_dataset(layouts / "roboflow_dataset" / "voc", split="train").items())

    assert one.columns["boxes"].tolist() == [[1, 2, 3, 4], [4, 5, 6, 7]]
    assert one.columns["truncated"].tolist() == [True, False]
    assert one.columns["segmentation_class"].startswith(b"\x89PNG")
    assert bare.name == "2007_000002.jpg"
    assert boxes_in([bare]) == 0
    assert [item.columns["boxes"].tolist() for item in beside] == [[[2, 1, 5, 2]], [[0, 0, 2, 4]]]


def test_boxes_beyond_the_image_are_kept_and_counted(voc):
    write(voc, OBJECT.format(name="cat", right=9))
    source = open_dataset(voc)
    (item,) = source.items()

    assert item.columns["boxes"].tolist() == [[1, 2, 9, 4]]
    assert item.columns["difficult"].tolist() == [True]
    assert source.findings.count(OUTSIDE) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (annotation(OBJECT.format(name="", right=3)), "<name>"),
        (annotation(OBJECT.format(name="cat", right="nan")), "<xmax> must be a number"),
        (annotation("<object><name>cat</name></object>"), "<bndbox>"),
        (annotation()[:-5], "not valid xml"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]>" + annotation(), "entities"),
        ("<annotation>\x00</annotation>", "not valid xml"),
    ],
)
def test_wrong_files_are_named(voc, text, message):
    (voc / "Annotations" / "a.xml").write_text(text)

    with pytest.raises(SourceError, match=message) as caught:
        list(open_dataset(voc, "voc").items())
    assert "a.xml" in str(caught.value)


def test_a_list_must_not_lead_outside(voc):
    write(voc, OBJECT.format(name="cat", right=3))
    (voc / "ImageSets" / "Main").mkdir(parents=True)
    (voc / "ImageSets" / "Main" / "train.txt").write_text("../../secret\n")

    with pytest.raises(SourceError, match="leads out"):
        open_dataset(voc)
