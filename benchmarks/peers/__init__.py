"""Who takes part, one file a peer; each is imported only in the process that measures it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Protocol, cast

from benchmarks.case import Case

PEERS = (
    "penstock_packed",
    "penstock_packed_avx2",
    "penstock_packed_fast",
    "penstock_folder",
    "penstock_folder_fast",
    "torchvision_pillow",
    "torchvision_io",
    "opencv",
    "dali",
    "penstock_coco",
    "penstock_coco_masks",
    "torchvision_coco",
    "torchvision_coco_masks",
)
PACKED_PEERS = tuple(name for name in PEERS if "packed" in name)
COCO_PEERS = tuple(name for name in PEERS if "coco" in name)
ENVIRONMENTS = {"penstock_packed_avx2": {"PENSTOCK_SIMD": "avx2"}}
REFERENCES = ("torchvision_pillow", "torchvision_coco")  # ratios are to the one that takes part


class Peer(Protocol):
    """What a peer's module has."""

    label: str

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries that do the work."""

    def batches(self, case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
        """Return what yields one pass of (images, labels or targets) each time it is iterated.

        Images are float32 torch tensors of `case.batch_shape` (the last batch may be shorter), or
        for detectors a sequence of single ones.
        The process is already pinned to `cores` cores.
        """


def load_peer(name: str) -> Peer:
    """Import a peer's module, and with it the libraries it needs."""
    return cast("Peer", import_module(f"benchmarks.peers.{name}"))
