"""Fixtures of the tests of packed files."""

import pytest

from packing import fake_jpegs
from penstock.packing import parts, records


@pytest.fixture
def fake_codec(monkeypatch):
    """JPEGs become records without the core."""
    monkeypatch.setattr(records, "encode_jpeg", fake_jpegs.encode_jpeg)
    monkeypatch.setattr(records, "rebuild_jpeg", fake_jpegs.rebuild_jpeg)
    monkeypatch.setattr(records, "check_tiles", fake_jpegs.check_tiles)
    monkeypatch.setattr(parts, "tile_layout", fake_jpegs.tile_layout)
