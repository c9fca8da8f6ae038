"""Tests of the command line leave the user's cache alone, and have scripts to run."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write a script to run."""

    def write(text: str) -> Path:
        script = tmp_path / "train.py"
        script.write_text(text, encoding="utf-8")
        return script

    return write
