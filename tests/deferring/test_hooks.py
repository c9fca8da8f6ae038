import sys
import types

import PIL.Image
import PIL.ImageFilter
import PIL.ImageOps
import pytest

pytest.importorskip("torch")

from penstock.deferring import filters
from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install, replace_everywhere
from penstock.deferring.image import DeferredImage
from penstock.deferring.opening import open_image
from python_child import run_python
from tests.deferring.pictures import FILES, opened


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "one.jpg"
    found.write_bytes(FILES["rgb"])
    return str(found)


@pytest.fixture
def stranger(monkeypatch):
    """A module that somebody has imported."""
    module = types.ModuleType("stranger_of_these_tests")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_names_that_were_imported_before_are_found(stranger):
    def original():
        return 1

    def wrapper():
        return 2

    stranger.by_another_name = original
    stranger.table = {"f": original}
    replace_everywhere({original: wrapper})

    assert stranger.by_another_name is wrapper
    assert stranger.table == {"f": original}  # it does as before


def test_putting_them_in_place_twice_changes_nothing():
    install()
    before = (PIL.Image.open, PIL.ImageOps.exif_transpose)
    install()

    assert (PIL.Image.open, PIL.ImageOps.exif_transpose) == before
    assert PIL.Image.open is open_image


def test_others_see_nothing_of_it(path):
    install()
    with PIL.Image.open(path) as image:
        assert type(image).__name__ == "JpegImageFile"
    with deferring(Counts()):
        assert type(PIL.Image.open(path)) is DeferredImage
    with PIL.Image.open(path, "r", ["JPEG"]) as image:
        assert type(image).__name__ == "JpegImageFile"
    assert PIL.Image.open.__name__ == "open"


def test_arguments_are_pillows(path):
    install()
    with deferring(Counts()):
        with pytest.raises(ValueError, match="bad mode"):
            PIL.Image.open(path, "w")
        with pytest.raises(TypeError, match="formats"):
            PIL.Image.open(path, formats="JPEG")
        with PIL.Image.open(fp=path, formats=["JPEG"]) as image:
            assert type(image).__name__ == "JpegImageFile"


def test_nothing_is_in_place_before_it_is_needed():
    """Importing penstock changes nobody's functions."""
    shown = run_python(
        "-c",
        "import PIL.Image; before = PIL.Image.open; import penstock; "
        "print(PIL.Image.open is before)",
    )

    assert shown.strip() == "True"


def test_what_is_tried_first_is_tried_on_ordinary_images():
    """A blur is tried while a Dataset is asked, where arrays become deferred images."""
    install()
    filters._are_pillows.cache_clear()
    with deferring(Counts()):
        image = opened(FILES["rgb"], deferred=True).convert("RGB")
        blurred = image.filter(PIL.ImageFilter.GaussianBlur(1.3))

    assert blurred.chain.steps
