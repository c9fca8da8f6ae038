"""The image folder is torchvision's ImageFolder, file by file and label by label."""

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.demo.torchvision_import import import_torchvision
from penstock.errors import SourceError
from penstock.sources import open_image_folder
from penstock.sources.scan import IMAGE_EXTENSIONS

Make = Callable[..., Path]


@pytest.fixture(scope="session")
def torchvision() -> ModuleType:
    try:
        return import_torchvision()[1]
    except ImportError as missing:
        pytest.skip(f"compares with torchvision: {missing}")


def assert_like_torchvision(torchvision: ModuleType, root: Path, **options: bool) -> None:
    theirs = torchvision.datasets.ImageFolder(str(root), **options)
    ours = open_image_folder(root, **options)

    assert ours.paths(np.arange(len(ours))) == [path for path, _ in theirs.samples]
    assert ours.labels.tolist() == theirs.targets
    assert ours.labels.dtype == np.int64
    assert list(ours.classes or ()) == theirs.classes


def test_knows_the_extensions_torchvision_knows(torchvision: ModuleType) -> None:
    assert torchvision.datasets.folder.IMG_EXTENSIONS == IMAGE_EXTENSIONS


def test_nested_folders_and_odd_names(torchvision: ModuleType, make_files: Make) -> None:
    """`a-b` sorts before `a/b` as text, upper case before lower, and spaces and dots are names."""
    root = make_files(
        "b/2.jpg", "b/10.jpg", "b/1.JPEG", "b/sub/3.png", "b/sub-a/4.png", "b/sub/deep/5.webp",
        "B/x.TIFF", "a b/.jpg", "a b/y.jpg.txt", "a b/z .bmp", ".hidden/k.ppm", "é/ü.pgm",
        "b/Thumbs.db", "b/noext", "loose.jpg", "b/folder.jpg/inside.tif",
        "a b/\U0001f600.jpg", "a b/\ue000.jpg",
    )  # fmt: skip
    assert_like_torchvision(torchvision, root)


def test_names_that_are_not_utf8(torchvision: ModuleType, make_files: Make) -> None:
    """Text order of surrogate escapes is not byte order."""
    root = make_files("c/a.jpg", "c/\udcff.jpg", "c/\U0001f600.jpg", "\udcfe/\udc80.jpg")
    assert_like_torchvision(torchvision, root)
    source = open_image_folder(root)
    assert source.name(3) == "\\udcfe/\\udc80.jpg"
    source.describe().encode("utf-8")


def test_follows_links(torchvision: ModuleType, make_files: Make) -> None:
    outside = make_files("x/1.jpg", "x/more/2.jpg", root="outside")
    root = make_files("cat/0.jpg", "dog/9.jpg")
    (root / "cat" / "linked").symlink_to(outside / "x")
    (root / "cat" / "file.jpg").symlink_to(outside / "x" / "1.jpg")
    (root / "cat" / "broken.jpg").symlink_to(outside / "nowhere")
    (root / "cat" / "self.jpg").symlink_to(root / "cat" / "self.jpg")
    (root / "emu").symlink_to(outside)
    assert_like_torchvision(torchvision, root)


NAMES = st.text("ab-./ B\U0001f600\udcff", min_size=1, max_size=6).filter(
    lambda name: not {"", ".", ".."} & set(name.split("/"))
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=st.lists(NAMES, min_size=1, max_size=8))
def test_any_tree(
    torchvision: ModuleType, tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for name in names:
        path = root / "class" / (name + ".jpg")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert_like_torchvision(torchvision, root)


def test_an_empty_class_is_refused_unless_allowed(
    torchvision: ModuleType, make_files: Make
) -> None:
    root = make_files("cat/0.jpg", "dog/readme.txt", "emu/0.jpg")
    with pytest.raises(SourceError, match=r"1 of 3 class folders: dog\. .*allow_empty"):
        open_image_folder(root)
    assert_like_torchvision(torchvision, root, allow_empty=True)


def test_many_empty_classes_are_counted(make_files: Make) -> None:
    root = make_files("full/0.jpg", *(f"empty{i:02}/x.txt" for i in range(12)))
    with pytest.raises(SourceError, match=r"empty00, .*, empty09 and 2 more\."):
        open_image_folder(root)


def test_all_classes_empty_is_refused_even_if_allowed(make_files: Make) -> None:
    with pytest.raises(SourceError, match="2 of 2 class folders"):
        open_image_folder(make_files("a/x.txt", "b/x.txt"), allow_empty=True)


def test_images_without_class_folders_hint_at_labels(make_files: Make) -> None:
    with pytest.raises(SourceError, match=r"2 images but no class folders.*labels="):
        open_image_folder(make_files("0.jpg", "1.png", "notes.txt"))


def test_an_empty_folder_is_refused(make_files: Make) -> None:
    with pytest.raises(SourceError, match="neither class folders nor images"):
        open_image_folder(make_files())


def test_a_missing_folder_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=rf"train: no such folder \(looked for {tmp_path}/train"):
        open_image_folder("train")


def test_a_file_is_not_a_folder(make_files: Make) -> None:
    root = make_files("cat/0.jpg")
    with pytest.raises(SourceError, match="not a folder"):
        open_image_folder(root / "cat" / "0.jpg")


def test_a_link_to_a_folder_above_is_refused(make_files: Make) -> None:
    """There torchvision would list every file some forty times, once a turn."""
    root = make_files("cat/0.jpg")
    (root / "cat" / "again").symlink_to(root)
    with pytest.raises(SourceError, match="cat/again: a link back to a folder above"):
        open_image_folder(root)


def test_an_unreadable_folder_is_named(make_files: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_files("cat/0.jpg", "dog/0.jpg")
    scandir = os.scandir

    def refuse_dog(path: str) -> object:
        if str(path).endswith("dog"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse_dog)
    with pytest.raises(SourceError, match=r"dog: this folder cannot be read \(Permission denied\)"):
        open_image_folder(root)


def test_survives_a_change_of_working_directory(
    make_files: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_files("cat/0.jpg")
    monkeypatch.chdir(root.parent)
    source = open_image_folder(root.name)
    monkeypatch.chdir("/")
    assert source.paths(np.array([0])) == [str(root / "cat" / "0.jpg")]


def test_describes_itself(make_files: Make) -> None:
    root = make_files(*(f"{c}/{i}.jpg" for c in "ab" for i in range(600)))
    source = open_image_folder(root)
    assert source.describe() == f"{root}: 1,200 images in 2 classes"
    assert source.name(600) == "b/0.jpg"
