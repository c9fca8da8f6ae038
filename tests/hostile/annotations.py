"""VOC, KITTI and WIDER FACE."""

from __future__ import annotations

from hostile.cases import JPEG, ODD, REFUSED, bomb, each, put


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
