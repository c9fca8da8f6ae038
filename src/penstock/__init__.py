"""penstock: feeds images to models in training."""

from penstock import transforms
from penstock._version import __version__
from penstock.errors import (
    CoreError,
    DecodeError,
    LoaderError,
    PenstockError,
    SourceError,
    TransformError,
)
from penstock.loading.loader import Loader
from penstock.sources import Source

__all__ = [
    "CoreError",
    "DecodeError",
    "Loader",
    "LoaderError",
    "PenstockError",
    "Source",
    "SourceError",
    "TransformError",
    "__version__",
    "transforms",
]
