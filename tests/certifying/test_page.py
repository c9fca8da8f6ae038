"""The report: one file with the worst images, safe whatever names are, drawn by a real browser."""

import base64
import io
import os
import re
import shutil

import numpy as np
import PIL.Image
import pytest

import penstock as ps
from certifying.certified import NamedFiles, in_batches, make_images
from penstock.certifying.comparison import ImageResult, Status, WorstImage
from penstock.certifying.images import Pixels
from penstock.certifying.page import draw_page
from penstock.certifying.pictures import LONGEST_PX, draw_pictures

PHONE, DESK = (390, 844), (1280, 900)
HOSTILE = "</script><img src=x onerror=alert(1)>"


def picture_of(uri):
    return np.asarray(PIL.Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))))


def drawn(a, b):
    dtype = a.dtype.name
    result = ImageResult("a", 0, 0, Status.DIFFERS, dtype, labels_equal=True, nans=(0, 0))
    return draw_pictures(WorstImage(result, Pixels(a, dtype), Pixels(b, dtype)))


def test_pictures_are_the_images_themselves():
    a = make_images(1, (3, 9, 11))[0]
    b = a.copy()
    b[1, 2, 3] ^= 4
    pictures = drawn(a, b)

    assert (picture_of(pictures.a) == a.transpose(1, 2, 0)).all()
    assert (picture_of(pictures.b) == b.transpose(1, 2, 0)).all()
    difference = picture_of(pictures.difference)
    assert difference[2, 3, 1] == 255
    assert difference.sum() == 255
    assert pictures.amplified == pytest.approx(255 / 4)


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 9), (7, 9, 1), (2, 7, 9), (4, 7, 9), (9, 7, 12)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_any_image_can_be_shown(shape, dtype):
    a, b = make_images(2, shape, dtype)
    pictures = drawn(a, b)

    assert picture_of(pictures.a).shape[2] == 3
    assert picture_of(pictures.difference).max() == 255
    assert bool(pictures.scaled) == (dtype != np.uint8)


def test_large_images_lose_no_difference():
    a = np.zeros((3, 500, 900), np.uint8)
    b = a.copy()
    b[0, 477, 834] = 1
    pictures = drawn(a, b)

    assert max(picture_of(pictures.a).shape) <= LONGEST_PX
    assert picture_of(pictures.difference).max() == 255


def test_values_that_are_no_numbers_are_shown():
    a = np.zeros((3, 4, 4), np.float32)
    b = a.copy()
    b[0, 1, 1] = np.nan

    assert picture_of(drawn(a, b).difference)[1, 1, 0] == 255
    assert picture_of(drawn(np.full_like(a, np.inf), np.full_like(a, np.nan)).a).any()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports by name."""
    folder = tmp_path_factory.mktemp("pages")
    images = make_images(9, (3, 40, 60))
    other = images.copy()
    other[:8, 0, 3:9, 5:11] ^= 3
    names = [f"{HOSTILE}{number}.png" for number in range(9)]
    floats, other_floats = images / np.float32(255), other / np.float32(255)
    found = {
        "differs": ps.certify(NamedFiles(images, names), NamedFiles(other, names)),
        "equal": ps.certify(in_batches(images), in_batches(images)),
        "floats": ps.certify(in_batches(floats), in_batches(other_floats)),
        "types": ps.certify(in_batches(images), in_batches(floats)),
        "unknown": ps.certify(in_batches(images), ps.make_certificate(in_batches(other))),
    }
    for name, one in found.items():
        one.to_html(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in found}


def test_names_are_escaped(pages):
    page = pages["differs"].read_text("utf-8")

    assert HOSTILE not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert len(re.findall(r"<img ", page)) == 18  # three for each of the six worst
    assert set(re.findall(r'src="([^"]{5})', page)) == {"data:"}


def test_a_page_is_the_same_each_time():
    images = make_images(4)
    sides = in_batches(images), in_batches(images ^ 1)

    assert draw_page(ps.certify(*sides)) == draw_page(ps.certify(*sides))


def test_what_a_page_says(pages):
    assert "All 9 images are equal, bit for bit; there are" in pages["equal"].read_text("utf-8")
    assert "no scale is guessed" in pages["types"].read_text("utf-8")
    assert "the range of the images that differ" in pages["floats"].read_text("utf-8")
    assert "make certificates with --pixels" in pages["unknown"].read_text("utf-8")


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("no chromium with chromedriver: scripts/system_packages.sh browser")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to have one as root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    yield browser
    browser.quit()


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("name", ["differs", "equal", "floats", "types", "unknown"])
def test_pages_open_quietly_and_fit(browser, pages, name, size):
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get_log("browser")
    browser.get(pages[name].as_uri())

    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]
    pictures = browser.execute_script(
        "return [...document.images].map((image) => image.naturalWidth)"
    )
    assert pictures == [60] * (18 if name in {"differs", "floats"} else 0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_button(browser, pages, theme):
    feature = {"name": "prefers-color-scheme", "value": theme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(pages["differs"].as_uri())
    themed = "return document.documentElement.dataset.theme"

    assert browser.execute_script(themed) == theme
    browser.find_element("id", "theme").click()
    assert browser.execute_script(themed) != theme
