"""YOLO's labels and the yaml beside them."""

from __future__ import annotations

import os

from hostile.cases import JPEG, REFUSED, bomb, each, put, refused


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


@each(REFUSED, "a FIFO", label="labels/a.txt", image="images/a.jpg")
def yolo_fifo(folder, name):
    made = yolo(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    return made
