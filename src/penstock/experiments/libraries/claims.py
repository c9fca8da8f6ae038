"""The study's sentences, judged by what was measured here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.experiments.findings import Claim, Judgement
from penstock.experiments.libraries.detector.training import LOADERS, PLAIN, STUDY_CORES
from penstock.experiments.libraries.ours import STORAGES, title
from penstock.experiments.libraries.readings import STUDIED, Readings, told
from penstock.experiments.libraries.work import (
    AS_STUDIED,
    CHAINS,
    CROP_FIRST,
    OPS,
    Chain,
    Photos,
)

WITHIN = 1.25  # the study: libraries differ by up to 25 %
TIMES = 4.0  # the study: up to four times faster
_CLEARLY = 1.05  # below this a ratio is called none
_SMOOTH, _NEAREST = "rotate", "rotate (nearest)"


def judge(readings: Readings) -> tuple[Claim, ...]:
    """Return all claims, in the order of the study."""
    return (
        judge_libraries(readings),
        judge_jitter(readings),
        judge_order(readings),
        judge_planner(readings),
        judge_cores(readings),
    )


def judge_libraries(readings: Readings) -> Claim:
    """Do the libraries of the study differ by up to 25 %, loading included?"""
    says = "Pillow, OpenCV and NumPy differ by up to 25 % (each operation, loading included)."
    cells = []
    for photos in readings.settings.sizes:
        found = readings.ops(photos)
        names = [name for name in STUDIED if name in found]
        for op in OPS if len(names) > 1 else ():
            took = {name: found[name][op][1].median for name in names}
            cells.append((max(took.values()) / min(took.values()), op, photos.name, took))
    if not cells:
        return _untested(says)
    near = [cell for cell in cells if cell[0] <= WITHIN]
    ratio, op, size, took = max(cells, key=lambda cell: cell[0])
    slowest, fastest = max(took, key=took.__getitem__), min(took, key=took.__getitem__)
    because = (
        f"{len(near)} of {len(cells)} pairs of operation and size are within 25 %; the furthest is "
        f"{op} at {size}, where {slowest} takes {told(ratio)} times as long as {fastest}."
    )
    if len(near) == len(cells):
        return Claim(says, Judgement.HOLDS, because)
    if not near:
        return Claim(says, Judgement.FAILS, because)
    where = _grouped((op, size) for _, op, size, _ in near)
    return Claim(says, Judgement.DEPENDS, f"on the operation. {because} Within 25 %: {where}.")


def judge_jitter(readings: Readings) -> Claim:
    """Is jitter the operation that takes longest, by itself?"""
    says = "Jitter (brightness and contrast) is the dearest operation."
    dearest: dict[bool, list[tuple[str, str, str]]] = {True: [], False: []}
    for photos in readings.settings.sizes:
        found = readings.ops(photos)
        for name in STUDIED:
            if name not in found:
                continue
            alone = {op: both.median - load.median for op, (load, both) in found[name].items()}
            for smooth in (True, False):
                left_out = _NEAREST if smooth else _SMOOTH
                op = max((op for op in alone if op != left_out), key=alone.__getitem__)
                dearest[smooth].append((op, name, photos.name))
    if not dearest[True]:
        return _untested(says)
    is_jitter = {
        smooth: [cell for cell in cells if cell[0] == "jitter"] for smooth, cells in dearest.items()
    }
    count = len(dearest[True])
    because = (
        f"with a bilinear rotation it is the dearest in {len(is_jitter[True])} of {count} pairs of "
        f"library and size, with a nearest one, Pillow's default, in {len(is_jitter[False])}"
    )
    others = _grouped((op, f"{name} {size}") for op, name, size in dearest[False] if op != "jitter")
    because += f"; dearer there: {others}." if others else "."
    hits = sum(map(len, is_jitter.values()))
    if hits == 2 * count:
        return Claim(says, Judgement.HOLDS, because)
    if not hits:
        return Claim(says, Judgement.FAILS, because)
    return Claim(says, Judgement.DEPENDS, f"on the filter of the rotation and the sizes: {because}")


@dataclass(frozen=True, slots=True)
class _Gain:
    ratio: float
    name: str
    photos: Photos
    side_px: int

    def __str__(self) -> str:
        return f"{told(self.ratio)} times for {self.name}, {self.photos.name} to {self.side_px}"

    @property
    def enlarges(self) -> bool:
        """Whether the middle half of the photo is smaller than the result."""
        return self.photos.width_px * self.photos.height_px // 4 < self.side_px**2


def judge_order(readings: Readings) -> Claim:
    """Is crop and resize first up to four times faster?"""
    says = "Cropping and resizing first is up to 4 times faster."
    gains = list(_gains(readings))
    if not gains:
        return _untested(says)
    best, worst = (pick(gains, key=lambda gain: gain.ratio) for pick in (max, min))
    slower = [gain for gain in gains if gain.ratio < 1 / _CLEARLY]
    because = f"up to {best}."
    if not slower:
        judgement = Judgement.HOLDS if best.ratio >= TIMES else Judgement.FAILS
        return Claim(says, judgement, because)
    why = (
        "all of them enlarge what was cropped, so the operations after it have more pixels"
        if all(gain.enlarges for gain in slower)
        else f"{sum(gain.enlarges for gain in slower)} of them enlarge what was cropped"
    )
    return Claim(
        says,
        Judgement.DEPENDS,
        f"on the sizes: {because} It is slower in {len(slower)} of {len(gains)} cases ({why}): "
        f"down to {worst}.",
    )


def _gains(readings: Readings) -> Iterator[_Gain]:
    for photos in readings.settings.sizes:
        for chain in CHAINS:
            if chain.order == CROP_FIRST:
                continue
            other = Chain(CROP_FIRST, chain.side_px)
            for name in STUDIED:
                ratio = None
                if name in readings.chain(photos, chain):
                    ratio = readings.ratios(photos, chain, other, name)
                if ratio is not None:
                    yield _Gain(ratio.median, name, photos, chain.side_px)


def judge_planner(readings: Readings) -> Claim:
    """Not the study's: does a planner find the order, with no change by the user?"""
    says = (
        "(Ours, not the study's:) a planner gains as much, with no change of the user's code and "
        "without being slower where the result is larger than the crop."
    )
    ratios = []
    for photos in readings.settings.sizes:
        for chain in CHAINS:
            found = readings.chain(photos, chain)
            for storage in STORAGES:
                written, pillow = title(storage, "as written"), "Pillow"
                if written not in found or pillow not in found:
                    continue
                for plan in ("exact", "fast"):
                    took = found[title(storage, plan)][-1].median
                    ratios.append(
                        (
                            found[written][-1].median / took,
                            found[pillow][-1].median / took,
                            chain.order,
                            f"{plan}, {storage}, {photos.name} to {chain.side_px}",
                        )
                    )
    flip_first = [cell for cell in ratios if cell[2] == AS_STUDIED]
    if not flip_first:
        return _untested(says)
    best = max(flip_first)
    over_pillow = max(flip_first, key=lambda cell: cell[1])
    slower = [cell for cell in ratios if cell[0] < 1 / WITHIN]
    because = (
        f"flip first, as written over planned: up to {told(best[0])} times ({best[3]}); over "
        f"Pillow's: up to {told(over_pillow[1])} times ({over_pillow[3]}). More than 25 % slower "
        f"than as written: {len(slower)} of {len(ratios)}"
    )
    because += f" (such as {slower[0][3]}, {slower[0][2]})." if slower else "."
    if best[0] < TIMES:
        return Claim(says, Judgement.FAILS, because)
    return Claim(says, Judgement.DEPENDS if slower else Judgement.HOLDS, because)


def judge_cores(readings: Readings) -> Claim:
    """How many cores does the detector's accelerator need?"""
    says = f"SSD-300 with a MobileNet backbone needs {STUDY_CORES} cores for one V100."
    accelerator, loading = readings.emulated(), readings.loading()
    if not accelerator or (PLAIN, 1) not in loading:
        return _untested(says)
    rate = accelerator["images_per_s"]
    needs = ", ".join(
        f"{name} {told(rate / loading[name, 1].median)}" for name in LOADERS if (name, 1) in loading
    )
    origin = (
        f"no V100 here: it is emulated by {rate:,.0f} images/s, {STUDY_CORES} times what the plain "
        "Dataset loads on one core of this machine, so that its figure is the study's by definition"
        if readings.settings.accelerator is None
        else f"no V100 here: {rate:,.0f} images/s are emulated, as asked"
    )
    return Claim(says, Judgement.UNTESTED, f"{origin}. Cores for that rate: {needs}.")


def _untested(says: str) -> Claim:
    return Claim(says, Judgement.UNTESTED, "too little was measured.")


def _grouped(pairs: Iterator[tuple[str, str]]) -> str:
    """Return `a (x, y), b (z)` of pairs."""
    groups: dict[str, list[str]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return ", ".join(f"{first} ({', '.join(seconds)})" for first, seconds in groups.items())
