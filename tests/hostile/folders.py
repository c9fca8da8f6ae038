"""Folders, lists of labels, and files that are no files."""

from __future__ import annotations

import os
import socket

from hostile.cases import JPEG, ODD, REFUSED, each, odd, put, refused


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
