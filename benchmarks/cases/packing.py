"""What it takes to write each library's format, and to get the files back from ours."""

from __future__ import annotations

from benchmarks.cases import classify_224
from benchmarks.cases.kind import CaseKind
from benchmarks.peers import UNPACK, VERIFY, WRITE

KIND = CaseKind(
    name="packing",
    title="Writing, unpacking and verifying",
    make=classify_224.vary(
        "packing", "Images per second: files written in each library's own format, and back"
    ),
    photos="in1k",
    images=256,
    peers=(
        *("penstock_packed", "webdataset", "streaming", "litdata"),
        *("ffcv_jpg_500", "ffcv_raw_500", "ffcv_raw_400"),
    ),
    cores=(1,),
    rounds=3,
    works=(WRITE, UNPACK, VERIFY),
    compares_pixels=False,
)
