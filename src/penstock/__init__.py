"""penstock: feeds images to models in training.

Names are imported when they are first used, so that `penstock --help` does not wait for NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock._version import __version__

if TYPE_CHECKING:
    from penstock import transforms
    from penstock.analysis.analyze import analyze
    from penstock.analysis.measure import Effort
    from penstock.analysis.result import Analysis
    from penstock.certifying.certificate import Certificate
    from penstock.certifying.certify import certify, make_certificate
    from penstock.certifying.result import Certification
    from penstock.data.hugging_face import from_hf
    from penstock.data.open_data import open_data
    from penstock.demo.sample_set import make_sample_set
    from penstock.demo.shape_sets import make_shape_scenes, make_shape_set
    from penstock.errors import (
        AnalysisError,
        CertifyError,
        CoreError,
        DecodeError,
        LoaderError,
        LossyError,
        OutputError,
        PackError,
        PenstockError,
        PlanError,
        ResourceError,
        SampleIndexError,
        SearchError,
        SourceError,
        StorageError,
        TransformError,
        TransformTypeError,
        TranslationError,
    )
    from penstock.limits import Limits
    from penstock.loading.decode import decode, decode_batch
    from penstock.loading.loader import Loader
    from penstock.loading.past_batch import PastBatch
    from penstock.loading.sampling.balanced import ClassBalanced
    from penstock.loading.sampling.buckets import BucketBatches
    from penstock.loading.sampling.repeated import RepeatedAugmentation
    from penstock.loading.sampling.splits import k_fold, random_split
    from penstock.loading.sampling.weighted import Weighted
    from penstock.loading.sampling.window import WindowShuffle
    from penstock.packing.inspect import inspect
    from penstock.packing.items import Column, PackItem, PackSource
    from penstock.packing.pack import pack
    from penstock.packing.unpack import unpack
    from penstock.packing.verify import verify
    from penstock.planner.reuse import Echo, Reuse
    from penstock.reordering.explain import explain
    from penstock.sources import Source, open_file_list, open_image_folder, open_labels_file
    from penstock.storage.options import StorageOptions
    from penstock.transforms.declared import keeps_size, per_pixel
    from penstock.transforms.targets import read_targets
    from penstock.translation.accelerate import accelerate, explain_translation
    from penstock.watching.watch import watch

__all__ = [
    "Analysis",
    "AnalysisError",
    "BucketBatches",
    "Certificate",
    "Certification",
    "CertifyError",
    "ClassBalanced",
    "Column",
    "CoreError",
    "DecodeError",
    "Echo",
    "Effort",
    "Limits",
    "Loader",
    "LoaderError",
    "LossyError",
    "OutputError",
    "PackError",
    "PackItem",
    "PackSource",
    "PastBatch",
    "PenstockError",
    "PlanError",
    "RepeatedAugmentation",
    "ResourceError",
    "Reuse",
    "SampleIndexError",
    "SearchError",
    "Source",
    "SourceError",
    "StorageError",
    "StorageOptions",
    "TransformError",
    "TransformTypeError",
    "TranslationError",
    "Weighted",
    "WindowShuffle",
    "__version__",
    "accelerate",
    "analyze",
    "certify",
    "decode",
    "decode_batch",
    "explain",
    "explain_translation",
    "from_hf",
    "inspect",
    "k_fold",
    "keeps_size",
    "make_certificate",
    "make_sample_set",
    "make_shape_scenes",
    "make_shape_set",
    "open_data",
    "open_file_list",
    "open_image_folder",
    "open_labels_file",
    "pack",
    "per_pixel",
    "random_split",
    "read_targets",
    "transforms",
    "unpack",
    "verify",
    "watch",
]

_HOME = {
    "Analysis": "penstock.analysis.result",
    "BucketBatches": "penstock.loading.sampling.buckets",
    "Certificate": "penstock.certifying.certificate",
    "Certification": "penstock.certifying.result",
    "ClassBalanced": "penstock.loading.sampling.balanced",
    "Column": "penstock.packing.items",
    "Echo": "penstock.planner.reuse",
    "Effort": "penstock.analysis.measure",
    "Limits": "penstock.limits",
    "Loader": "penstock.loading.loader",
    "PackItem": "penstock.packing.items",
    "PackSource": "penstock.packing.items",
    "PastBatch": "penstock.loading.past_batch",
    "RepeatedAugmentation": "penstock.loading.sampling.repeated",
    "Reuse": "penstock.planner.reuse",
    "Source": "penstock.sources",
    "StorageOptions": "penstock.storage.options",
    "Weighted": "penstock.loading.sampling.weighted",
    "WindowShuffle": "penstock.loading.sampling.window",
    "accelerate": "penstock.translation.accelerate",
    "explain": "penstock.reordering.explain",
    "explain_translation": "penstock.translation.accelerate",
    "analyze": "penstock.analysis.analyze",
    "certify": "penstock.certifying.certify",
    "decode": "penstock.loading.decode",
    "decode_batch": "penstock.loading.decode",
    "from_hf": "penstock.data.hugging_face",
    "inspect": "penstock.packing.inspect",
    "k_fold": "penstock.loading.sampling.splits",
    "random_split": "penstock.loading.sampling.splits",
    "open_data": "penstock.data.open_data",
    "open_file_list": "penstock.sources",
    "open_image_folder": "penstock.sources",
    "open_labels_file": "penstock.sources",
    "make_certificate": "penstock.certifying.certify",
    "make_sample_set": "penstock.demo.sample_set",
    "make_shape_scenes": "penstock.demo.shape_sets",
    "make_shape_set": "penstock.demo.shape_sets",
    "pack": "penstock.packing.pack",
    "keeps_size": "penstock.transforms.declared",
    "per_pixel": "penstock.transforms.declared",
    "read_targets": "penstock.transforms.targets",
    "unpack": "penstock.packing.unpack",
    "verify": "penstock.packing.verify",
    "watch": "penstock.watching.watch",
}


def __getattr__(name: str) -> Any:
    """Import a public name from where it lives."""
    if name in {"lightning", "torch", "transforms"}:
        return import_module(f"penstock.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, "penstock.errors")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
