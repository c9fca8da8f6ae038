"""Where test data lies: ours, made by tests; and that of others, which is larger and optional."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.dataset import shared_data_folder
from corpus.make import corpus_folder

OUTSIDE = shared_data_folder()

# Parameters for fixtures: tests of data run on ours, always, and on the outside data where it is
# there, which takes long.
DATA = ["ours", *([pytest.param("outside", marks=pytest.mark.slow)] if OUTSIDE else [])]


def folder_of(which: str) -> Path:
    """The folder of one of DATA."""
    folder = corpus_folder() if which == "ours" else OUTSIDE
    assert folder is not None
    return folder
