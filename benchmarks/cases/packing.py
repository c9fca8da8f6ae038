"""What it takes to write each library's format, and to get the files back from ours.

Loading is measured in the same run, for that is what verifying is compared with.
"""

from __future__ import annotations

from benchmarks.cases import classify_224
from benchmarks.cases.kind import CaseKind
from benchmarks.peers import LOAD, UNPACK, VERIFY, VERIFY_ORIGINALS, WRITE

KIND = CaseKind(
    name="packing",
    title="Writing, unpacking and verifying",
    make=classify_224.vary(
        "packing", "Images per second: files written in each library's own format, and back"
    ),
    photos="in1k",
    images=256,
    repeats=1,
    peers=(
        *("penstock_packed", "webdataset", "streaming", "litdata"),
        *("ffcv_jpg_500", "ffcv_raw_500", "ffcv_raw_400"),
    ),
    cores=(1,),
    turn="does the work on all images, again and again",
    rounds=3,
    works=(LOAD, WRITE, UNPACK, VERIFY, VERIFY_ORIGINALS),
    compares_pixels=False,
)
