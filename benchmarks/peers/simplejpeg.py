"""simplejpeg decoding and OpenCV resizing, in a DataLoader."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import simplejpeg

from benchmarks.case import Case
from benchmarks.peers import opencv
from benchmarks.peers.opencv_steps import Pixels

label = "simplejpeg + OpenCV, DataLoader"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"simplejpeg": version("simplejpeg"), **opencv.versions()}


def decode_file(path: str) -> Pixels:
    """Return the pixels of a JPEG file."""
    with open(path, "rb") as file:
        pixels: Pixels = simplejpeg.decode_jpeg(file.read(), colorspace="RGB")
    return pixels


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a DataLoader with a worker for each core."""
    return opencv.loader_with(decode_file, case, cores)
