"""Who takes part, one file a peer; each is imported only in the process that measures it.

Apart from penstock's own, they import the standard library, their libraries, `benchmarks.case` and
each other: their environments have nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, Protocol, cast

from benchmarks.case import Case

LOAD, WRITE, UNPACK, VERIFY = "load", "write", "unpack", "verify"
VERIFY_ORIGINALS = "verify_originals"


@dataclass(frozen=True, slots=True)
class Entrant:
    """What is known of a peer without importing it."""

    venv: str | None = None  # one of `peer_venvs.RECIPES`; None: that of penstock
    format: str | None = None  # what it writes of the images first; peers may share one
    works: tuple[str, ...] = (LOAD, WRITE)  # what it can do; it writes only if it has a format
    variables: dict[str, str] = field(default_factory=dict)  # of the environment of its process
    # Batches that it keeps ready or under way as its file sets it up: so many for each core, and so
    # many more. A DataLoader's prefetch_factor is 2.
    ahead_per_core: int = 2
    ahead: int = 0

    def batches_held(self, cores: int) -> int:
        """Return how many batches are in memory by its settings: also the one that the user has."""
        return self.ahead_per_core * cores + self.ahead + 1

    def can(self, work: str) -> bool:
        """Whether it has a function for this work."""
        return work in self.works and (work != WRITE or self.format is not None)


# glibc gives memory of 32 MB and more back at once, and takes it from the system again, page by
# page: FFCV delivers a third less. So those who make batches in it are told to keep it.
_KEEPS_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
    "MALLOC_ARENA_MAX": "1",
}
_OURS = partial(Entrant, ahead_per_core=0, ahead=3)  # prefetch=2, and one under way
# batches_ahead=3, and one under way
_FFCV = partial(Entrant, "ffcv", ahead_per_core=0, ahead=4, variables=_KEEPS_MEMORY)

PEERS: dict[str, Entrant] = {
    "penstock_packed": _OURS(format="pen", works=(LOAD, WRITE, UNPACK, VERIFY, VERIFY_ORIGINALS)),
    "penstock_packed_avx2": _OURS(format="pen", variables={"PENSTOCK_SIMD": "avx2"}),
    "penstock_packed_fast": _OURS(format="pen"),
    "penstock_packed_small": _OURS(format="pen_small"),
    "penstock_folder": _OURS(),
    "penstock_folder_anew": _OURS(variables={"PENSTOCK_ROW_MEMORY": "0"}),
    "penstock_folder_fast": _OURS(),
    "torchvision_pillow": Entrant("torchvision"),
    "torchvision_pillow_simd": Entrant("pillow_simd"),
    "torchvision_io": Entrant("torchvision"),
    "torchcodec": Entrant("torchcodec"),
    "opencv": Entrant("opencv"),
    "simplejpeg": Entrant("simplejpeg"),
    "albumentations": Entrant("albumentations"),
    "dali": Entrant("dali", ahead_per_core=0, ahead=3),  # prefetch_queue_depth=2, one under way
    "tf_data": Entrant("tf_data", ahead_per_core=0, ahead=3),  # READY, and one under way
    # READY, and one in each of two steps
    "spdl": Entrant("spdl", ahead_per_core=0, ahead=5, variables=_KEEPS_MEMORY),
    "grain": Entrant("grain", variables=_KEEPS_MEMORY),
    "webdataset": Entrant("webdataset", format="tar"),
    "streaming": Entrant("streaming", format="mds"),
    "litdata": Entrant("litdata", format="litdata"),
    "ffcv_jpg_500": _FFCV(format="ffcv_jpg_500"),
    "ffcv_raw_500": _FFCV(format="ffcv_raw_500"),
    "ffcv_raw_400": _FFCV(format="ffcv_raw_400"),
    "penstock_coco": _OURS(),
    "penstock_coco_masks": _OURS(),
    "torchvision_coco": Entrant(),  # with what penstock's own environment has, pycocotools too
    "torchvision_coco_masks": Entrant(),
}
COCO_PEERS = tuple(name for name in PEERS if "coco" in name)
REFERENCES = ("torchvision_pillow", "torchvision_coco")  # ratios are to the one that takes part


class Peer(Protocol):
    """What a peer's module has.

    One that has a format also has `write(case, folder, cores)`, which writes it. One that does more
    with it has `unpack`, `verify` and `verify_originals` with the same arguments, where the folder
    is an empty one.
    """

    label: str

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries that do the work."""

    def batches(self, case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
        """Return what yields an epoch of (images, labels or targets) each time it is iterated.

        Images are tensors or arrays of `case.batch_shape` and `case.output` (the last batch may be
        shorter), or for detectors a sequence of single ones.
        An epoch may also never end, unless the case is cold.
        The process is already pinned to `cores` cores.
        """


def load_peer(name: str) -> Peer:
    """Import a peer's module, and with it the libraries it needs.

    A name with a dot is that of a module elsewhere.
    """
    return cast("Peer", import_module(name if "." in name else f"benchmarks.peers.{name}"))
