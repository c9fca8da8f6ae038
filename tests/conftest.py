"""Fixtures that any test may use: data, a generated photo, instruction sets, torchvision."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from corpus.data_folders import DATA, OUTSIDE, folder_of
from faulty_system import run_faulty
from folders import broken_folder, folder, large_folder, make_folder, make_photos
from penstock.demo.torchvision_import import import_torchvision

# Fixtures from other files:
__all__ = ["broken_folder", "folder", "large_folder", "make_folder", "make_photos", "run_faulty"]

ISAS = ("scalar", "avx2", "avx512")
PHOTO_SIZE = (333, 500)
NOT_IMAGES = {"MANIFEST.tsv", "ORIGIN.md"}

# The same examples each time, so that a change is judged by what it changes; nightly looks for new.
settings.register_profile("same", derandomize=True)
settings.register_profile("search", print_blob=True)
settings.load_profile("same")

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # or importing it asks the network for a newer one


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever runs the tests say that timings can be relied on."""
    parser.addoption(
        "--quiet-machine", action="store_true", help="also run the tests that judge timings"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Where tests run in a process per core, libraries must not start a thread per core in each."""
    if hasattr(config, "workerinput"):
        os.environ.setdefault("OMP_NUM_THREADS", "1")


LONGEST = (
    "tests/test_examples.py",
    "tests/ray/",
    "tests/frameworks/",
    "tests/strangers/",
    "tests/cli/test_run.py",
    "tests/parity/",
    "tests/torch/",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what other work on the machine could make fail; mark what outside data makes slow."""
    for item in items:
        if item.get_closest_marker("quiet") and not config.getoption("--quiet-machine"):
            item.add_marker(pytest.mark.skip(reason="judges timings: make quiet-test"))
        if "outside_folder" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    if OUTSIDE is None:
        _skip_once_per_file(config, items)
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """Files that take minutes come first, so that no process works on one alone at the end."""
    name = item.nodeid
    return next((n for n, begins in enumerate(LONGEST) if name.startswith(begins)), len(LONGEST))


def _skip_once_per_file(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave one test of each file that needs outside data, to be skipped with its reason."""
    needing = [item for item in items if "outside_folder" in getattr(item, "fixturenames", ())]
    first = {item.path: item for item in reversed(needing)}
    for path, item in first.items():
        count = sum(other.path == path for other in needing)
        reason = f"{count} of this file's tests need outside data: set PENSTOCK_TEST_DATA"
        item.add_marker(pytest.mark.skip(reason=reason))
    left_out = {item.nodeid for item in needing} - {item.nodeid for item in first.values()}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]


@pytest.fixture(scope="session")
def outside_folder() -> Path:
    """Test data of others, which is not in the repository."""
    if OUTSIDE is None:
        pytest.skip("no outside data: set PENSTOCK_TEST_DATA to its folder")
    return OUTSIDE


@pytest.fixture(scope="session", params=DATA)
def data_folder(request) -> Path:
    """Our own test data; and the outside data, where it is there and slow tests are wanted."""
    return folder_of(request.param)


def _images_in(folder: Path) -> list[Path]:
    images = sorted(p for p in folder.glob("*") if p.suffix.lower() in {".jpg", ".jpeg", ".png"})
    if not images:
        pytest.skip(f"no outside data: no images in {folder}")
    return images


@pytest.fixture(scope="session")
def in1k(data_folder) -> list[Path]:
    """Ordinary photos."""
    return _images_in(data_folder / "in1k")


@pytest.fixture(scope="session")
def large(data_folder) -> list[Path]:
    """Photos of many megapixels."""
    return _images_in(data_folder / "large")


@pytest.fixture(scope="session")
def tough(data_folder) -> list[Path]:
    """Odd, damaged and hostile files."""
    folder = data_folder / "tough"
    if not folder.is_dir():
        pytest.skip(f"no outside data: {folder} is missing")
    return [path for path in sorted(folder.iterdir()) if path.name not in NOT_IMAGES]


def _detection_folder(data_folder: Path, *names: str) -> Path:
    for name in names:
        if (data_folder / "detect" / name).exists():
            return data_folder / "detect" / name
    pytest.skip(f"no outside data: none of {', '.join(names)} in {data_folder / 'detect'}")


@pytest.fixture(scope="session")
def coco_folder(data_folder) -> Path:
    """Photos with instances.json and, for the same objects, YOLO's files."""
    return _detection_folder(data_folder, "coco", "coco128")


@pytest.fixture(scope="session")
def voc_folder(data_folder) -> Path:
    """Photos with Pascal VOC's files, in three splits, of classes that are not VOC's."""
    return _detection_folder(data_folder, "voc", "bccd_voc")


@pytest.fixture(scope="session")
def photo() -> np.ndarray:
    """A generated RGB image with the spectrum of a photo; read-only, since tests share it."""
    height, width = PHOTO_SIZE
    rng = np.random.default_rng(0)
    rows = np.fft.fftfreq(height)[:, None]
    columns = np.fft.rfftfreq(width)[None, :]
    frequency = np.maximum(np.hypot(rows, columns), 1 / max(PHOTO_SIZE))
    noise = rng.standard_normal((3, height, width))
    smooth = np.fft.irfft2(np.fft.rfft2(noise) / frequency, s=PHOTO_SIZE)
    scaled = 128 + 50 * smooth / smooth.std(axis=(1, 2), keepdims=True)
    pixels = np.ascontiguousarray(np.clip(scaled, 0, 255).astype(np.uint8).transpose(1, 2, 0))
    pixels.flags.writeable = False
    return pixels


def force_isa(name: str) -> None:
    """In penstock and, where tests have imported them, in the kernels of tests/kernels.py."""
    from penstock import _core

    _core.force_isa(name)
    if "penstock_test_core" in sys.modules:
        sys.modules["penstock_test_core"].force_isa(name)


@pytest.fixture(autouse=True)
def _restore_isa():
    """Leave the instruction set as it was, whatever a test forces."""
    from penstock import _core

    before = _core.active_isa()
    yield
    force_isa(before)


@pytest.fixture(params=ISAS)
def isa(request, _restore_isa) -> str:
    """Each instruction set this CPU has, in use for the time of the test."""
    from penstock import _core

    if request.param not in _core.supported_isas():
        pytest.skip(f"this CPU has no {request.param}")
    force_isa(request.param)
    return request.param


@pytest.fixture(scope="session")
def torchvision():
    """The torchvision module, ready for use beside a CPU build of torch."""
    try:
        return import_torchvision()[1]
    except ImportError as error:
        pytest.skip(f"torchvision cannot be imported: {error}")
