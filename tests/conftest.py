"""Fixtures that any test may use: data, a generated photo, instruction sets, torchvision."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from benchmarks.dataset import shared_data_folder
from faulty_system import run_faulty
from folders import broken_folder, folder, make_folder
from penstock.demo.loaders import import_torchvision

__all__ = ["broken_folder", "folder", "make_folder", "run_faulty"]  # fixtures from other files

ISAS = ("scalar", "avx2", "avx512")  # from least to most
PHOTO_SIZE = (333, 500)

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # or importing it asks the network for a newer one


@dataclass(frozen=True)
class ToughFile:
    """A file that is hard to read, and what the Pillow that wrote the manifest made of it."""

    path: Path
    special: str
    opens: bool
    loads: bool
    format: str
    mode: str

    def __str__(self) -> str:
        return self.path.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever runs the tests say that timings can be relied on."""
    parser.addoption(
        "--quiet-machine", action="store_true", help="also run the tests that judge timings"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what other work on the machine could make fail."""
    if config.getoption("--quiet-machine"):
        return
    for item in items:
        if item.get_closest_marker("quiet"):
            item.add_marker(pytest.mark.skip(reason="judges timings: make quiet-test"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real test data, which is not in the repository."""
    folder = shared_data_folder()
    if folder is None:
        pytest.skip("no test data: set PENSTOCK_TEST_DATA to its folder")
    return folder


def _images_in(folder: Path) -> list[Path]:
    images = sorted(p for p in folder.glob("*") if p.suffix.lower() in {".jpg", ".jpeg", ".png"})
    if not images:
        pytest.skip(f"no test data: no images in {folder}")
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
def tough(data_folder) -> list[ToughFile]:
    """Odd, damaged and hostile files."""
    folder = data_folder / "tough"
    manifest = folder / "MANIFEST.tsv"
    if not manifest.exists():
        pytest.skip(f"no test data: {manifest} is missing")
    with manifest.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            ToughFile(
                path=folder / row["file"],
                special=row["what_is_special"],
                opens=row["pillow_open"] == "ok",
                loads=row["pillow_load"] == "ok",
                format=row["pillow_format"],
                mode=row["pillow_mode"],
            )
            for row in rows
        ]


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


@pytest.fixture(autouse=True)
def _restore_isa():
    """Leave the instruction set as it was, whatever a test forces."""
    from penstock import _core

    before = _core.active_isa()
    yield
    _core.force_isa(before)


@pytest.fixture(params=ISAS)
def isa(request, _restore_isa) -> str:
    """Each instruction set this CPU has, in use for the time of the test."""
    from penstock import _core

    if ISAS.index(request.param) > ISAS.index(_core.best_isa()):
        pytest.skip(f"this CPU has no {request.param}")
    _core.force_isa(request.param)
    return request.param


@pytest.fixture(scope="session")
def torchvision():
    """The torchvision module, ready for use beside a CPU build of torch."""
    try:
        return import_torchvision()[1]
    except ImportError as error:
        pytest.skip(f"torchvision cannot be imported: {error}")
