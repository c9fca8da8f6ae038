"""The slow ways to run a pipeline: one image library each, the same draws for all."""

from __future__ import annotations

from typing import Any

from penstock.errors import LoaderError
from penstock.reference.libraries.library import ImageLibrary

LIBRARIES = ("pillow", "opencv", "numpy")


def open_library(name: str) -> ImageLibrary[Any]:
    """One of LIBRARIES; imports what it needs."""
    if name == "opencv":
        return _open_opencv()
    if name == "numpy":
        from penstock.reference.libraries.numpy import NumpyLibrary

        return NumpyLibrary()
    from penstock.reference.libraries.pillow import PillowLibrary

    return PillowLibrary()


def _open_opencv() -> ImageLibrary[Any]:
    try:
        from penstock.reference.libraries.opencv import OpenCvLibrary
    except ImportError as error:
        raise LoaderError(
            f"Loader: backend='opencv' needs OpenCV, which cannot be imported ({error}). "
            "Install it: pip install opencv-python-headless."
        ) from error
    return OpenCvLibrary()
