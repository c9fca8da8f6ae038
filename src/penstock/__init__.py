"""penstock: feeds images to models in training.

Names are imported when they are first used, so that `penstock --help` does not wait for NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock._version import __version__

if TYPE_CHECKING:
    from penstock import transforms
    from penstock.analysis.analyze import analyze
    from penstock.data.open_data import open_data
    from penstock.errors import (
        AnalysisError,
        CoreError,
        DecodeError,
        LoaderError,
        OutputError,
        PackError,
        PenstockError,
        ResourceError,
        SourceError,
        TransformError,
        TranslationError,
    )
    from penstock.limits import Limits
    from penstock.loading.loader import Loader
    from penstock.packing.inspect import inspect
    from penstock.packing.pack import pack
    from penstock.packing.unpack import unpack
    from penstock.packing.verify import verify
    from penstock.sources import Source, open_file_list, open_image_folder, open_labels_file
    from penstock.translation.accelerate import accelerate, explain_translation
    from penstock.watching.watch import watch

__all__ = [
    "AnalysisError",
    "CoreError",
    "DecodeError",
    "Limits",
    "Loader",
    "LoaderError",
    "OutputError",
    "PackError",
    "PenstockError",
    "ResourceError",
    "Source",
    "SourceError",
    "TransformError",
    "TranslationError",
    "__version__",
    "accelerate",
    "analyze",
    "explain_translation",
    "inspect",
    "open_data",
    "open_file_list",
    "open_image_folder",
    "open_labels_file",
    "pack",
    "transforms",
    "unpack",
    "verify",
    "watch",
]

_HOME = {
    "Limits": "penstock.limits",
    "Loader": "penstock.loading.loader",
    "Source": "penstock.sources",
    "accelerate": "penstock.translation.accelerate",
    "explain_translation": "penstock.translation.accelerate",
    "analyze": "penstock.analysis.analyze",
    "inspect": "penstock.packing.inspect",
    "open_data": "penstock.data.open_data",
    "open_file_list": "penstock.sources",
    "open_image_folder": "penstock.sources",
    "open_labels_file": "penstock.sources",
    "pack": "penstock.packing.pack",
    "unpack": "penstock.packing.unpack",
    "verify": "penstock.packing.verify",
    "watch": "penstock.watching.watch",
}


def __getattr__(name: str) -> Any:
    """Import a public name from where it lives."""
    if name == "transforms":
        return import_module("penstock.transforms")
    if name not in __all__:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, "penstock.errors")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
