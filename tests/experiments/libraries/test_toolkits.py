"""All libraries do the same to a photo: near enough to Pillow that no operation is another one."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from penstock.experiments.experiment import UnavailableError
from penstock.experiments.libraries import pillow_steps, toolkits
from penstock.experiments.libraries.measure import difference
from penstock.experiments.libraries.ours import PLANS, OurData, first_image
from penstock.experiments.libraries.photos import photos_of
from penstock.experiments.libraries.work import CHAINS, OPS
from penstock.geometry import Size

SIZE = Size(60, 90)
# Resizing without looking at all pixels, and other rounding, are the libraries' own choice.
NEAR = 8.0


@pytest.fixture
def photo(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    return photos_of(SIZE, 1, None)[0]


OPENERS = {
    "numpy": toolkits.open_numpy,
    "opencv": lambda: toolkits.open_opencv(is_free=False),
    "opencv, all": lambda: toolkits.open_opencv(is_free=True),
    "torchvision": toolkits.open_torchvision,
    "albumentations": toolkits.open_albumentations,
}


@pytest.fixture(params=OPENERS)
def toolkit(request):
    try:
        return OPENERS[request.param]()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("op", OPS)
def test_an_operation_is_that_of_pillow(toolkit, photo, op):
    expected = toolkits.open_pillow().result(photo, [op])
    mean, _ = difference(toolkit.result(photo, [op]), expected)

    assert mean < NEAR


def test_times_grow_from_step_to_step(toolkit, photo):
    steps = CHAINS[0].steps
    ((*after,),) = toolkit.seconds([photo], steps)

    assert len(after) == 1 + len(steps)
    assert after == sorted(after)
    assert after[0] > 0


@pytest.mark.parametrize("plan", ["as written", "exact"])
@pytest.mark.parametrize("op", OPS)
def test_ours_are_pillows_bytes(photo, tmp_path, op, plan):
    data = OurData(SIZE, [photo, photo], tmp_path / "none.pen")
    loader = data.open("file", plan, [op])
    try:
        assert difference(first_image(loader), toolkits.open_pillow().result(photo, [op])) == [0, 0]
    finally:
        loader.close()


def test_all_plans_can_be_opened(photo, tmp_path):
    data = OurData(SIZE, [photo], tmp_path / "none.pen")
    for plan in PLANS:
        loader = data.open("file", plan, CHAINS[0].steps)
        try:
            assert first_image(loader).shape == (300, 300, 3)
        finally:
            loader.close()


def test_pillow_of_another_interpreter(photo, monkeypatch):
    """This interpreter has Pillow, not pillow-simd, so its version is made up."""
    monkeypatch.setattr(toolkits, "_SIMD_MARK", "")
    simd = toolkits.PillowSimd(sys.executable)
    try:
        assert simd.version
        ((load, after),) = simd.seconds([photo], ["flip"])
        assert 0 < load < after
        expected = toolkits.open_pillow().result(photo, ["jitter"])
        assert np.array_equal(simd.result(photo, ["jitter"]), expected)
    finally:
        simd.close()


def test_an_interpreter_without_pillow_simd_is_refused():
    with pytest.raises(UnavailableError, match="not pillow-simd"):
        toolkits.PillowSimd(sys.executable)
    with pytest.raises(UnavailableError, match="cannot be run"):
        toolkits.PillowSimd("/no/such/python")


def test_missing_libraries_are_named(monkeypatch):
    def refuse(name):
        raise ImportError(f"no {name} here")

    monkeypatch.setattr(toolkits, "import_module", refuse)
    found, missing = toolkits.open_toolkits(None)

    assert [each.name for each in found if "vision" not in each.name] == ["Pillow", "NumPy"]
    assert missing["OpenCV"] == "cv2 cannot be imported: no cv2 here"
    assert "--pillow-simd" in missing["pillow-simd"]


def test_the_program_needs_nothing_of_ours():
    """It runs where penstock is not installed: -I keeps this folder out of its path."""
    done = subprocess.run(
        [sys.executable, "-I", pillow_steps.__file__], input="", capture_output=True, check=True
    )

    assert b'"version"' in done.stdout
    assert "penstock" not in Path(pillow_steps.__file__).read_text(encoding="utf-8")


def test_real_photos_are_fitted(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    photos = tmp_path / "photos"
    photos.mkdir()
    Image.new("RGB", (180, 130), "red").save(photos / "wide.png")
    Image.new("RGB", (130, 180), "red").save(photos / "high.png")
    Image.new("RGB", (20, 20), "red").save(photos / "small.png")
    found = photos_of(SIZE, 5, photos)

    assert len(found) == 2
    for path in found:
        with Image.open(path) as image:
            assert image.size == (SIZE.width, SIZE.height)
