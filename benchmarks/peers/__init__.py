"""Who takes part, one file a peer; each is imported only in the process that measures it.

Apart from penstock's own, they import the standard library, their libraries, `benchmarks.case` and
each other: their environments have nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, cast

from benchmarks.case import Case

LOAD, WRITE, UNPACK, VERIFY = "load", "write", "unpack", "verify"


@dataclass(frozen=True, slots=True)
class Entrant:
    """What is known of a peer without importing it."""

    venv: str | None = None  # one of `peer_venvs.RECIPES`; None: that of penstock
    format: str | None = None  # what it writes of the images first; peers may share one
    works: tuple[str, ...] = (LOAD, WRITE)  # what it can do; it writes only if it has a format
    variables: dict[str, str] = field(default_factory=dict)  # of the environment of its process

    def can(self, work: str) -> bool:
        """Whether it has a function for this work."""
        return work in self.works and (work != WRITE or self.format is not None)


PEERS: dict[str, Entrant] = {
    "penstock_packed": Entrant(format="pen", works=(LOAD, WRITE, UNPACK, VERIFY)),
    "penstock_packed_avx2": Entrant(format="pen", variables={"PENSTOCK_SIMD": "avx2"}),
    "penstock_packed_fast": Entrant(format="pen"),
    "penstock_folder": Entrant(),
    "penstock_folder_fast": Entrant(),
    "torchvision_pillow": Entrant("torchvision"),
    "torchvision_pillow_simd": Entrant("pillow_simd"),
    "torchvision_io": Entrant("torchvision"),
    "torchcodec": Entrant("torchcodec"),
    "opencv": Entrant("opencv"),
    "simplejpeg": Entrant("simplejpeg"),
    "albumentations": Entrant("albumentations"),
    "dali": Entrant("dali"),
    "tf_data": Entrant("tf_data"),
    "spdl": Entrant("spdl"),
    "grain": Entrant("grain"),
    "webdataset": Entrant("webdataset", format="tar"),
    "streaming": Entrant("streaming", format="mds"),
    "litdata": Entrant("litdata", format="litdata"),
    "ffcv_jpg_500": Entrant("ffcv", format="ffcv_jpg_500"),
    "ffcv_raw_500": Entrant("ffcv", format="ffcv_raw_500"),
    "ffcv_raw_400": Entrant("ffcv", format="ffcv_raw_400"),
    "penstock_coco": Entrant(),
    "penstock_coco_masks": Entrant(),
    "torchvision_coco": Entrant(),  # with what penstock's own environment has, pycocotools too
    "torchvision_coco_masks": Entrant(),
}
COCO_PEERS = tuple(name for name in PEERS if "coco" in name)
REFERENCES = ("torchvision_pillow", "torchvision_coco")  # ratios are to the one that takes part


class Peer(Protocol):
    """What a peer's module has.

    One that has a format also has `write(case, folder, cores)`, which writes it. One that does more
    with it has `unpack` and `verify` with the same arguments, where the folder is an empty one.
    """

    label: str

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries that do the work."""

    def batches(self, case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
        """Return what yields one pass of (images, labels or targets) each time it is iterated.

        Images are tensors or arrays of `case.batch_shape` and `case.output` (the last batch may be
        shorter), or for detectors a sequence of single ones.
        If it has a method `before_turn`, that is called before the clock starts.
        The process is already pinned to `cores` cores.
        """


def load_peer(name: str) -> Peer:
    """Import a peer's module, and with it the libraries it needs.

    A name with a dot is that of a module elsewhere.
    """
    return cast("Peer", import_module(name if "." in name else f"benchmarks.peers.{name}"))
