"""Every test of sources remembers scans in a folder of its own."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.sources import scan as remembered_scan

LONG_AGO_NS = 1_700_000_000_000_000_000


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("PENSTOCK_CACHE", str(folder))
    return folder


@pytest.fixture
def make_files(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes empty files below a folder."""

    def make(*names: str, root: str = "data") -> Path:
        folder = tmp_path / root
        folder.mkdir(exist_ok=True)
        for name in names:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return folder

    return make


@pytest.fixture
def age(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Return a function that dates all directories back, so that a scan of them is kept.

    The time of change cannot be dated back; that it is recent is forgiven instead.
    """

    def date_back(root: Path) -> None:
        monkeypatch.setattr(remembered_scan, "CLOCK_GRAIN_NS", -LONG_AGO_NS)
        for directory, _, _ in os.walk(root):
            os.utime(directory, ns=(LONG_AGO_NS, LONG_AGO_NS))

    return date_back
