"""Which numbers of cores to measure on, and which to predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.analysis.rate_model import BEYOND
from penstock.errors import AnalysisError
from penstock.usable_cores import CAN_PIN, usable_cores

_TO_PREDICT = 2  # numbers of cores that must be measured, at least


@dataclass(frozen=True, slots=True)
class CoreCounts:
    """Numbers of cores, each in ascending order."""

    measured: Sequence[int]  # the verdict is of the last
    predicted: Sequence[int] | None = None  # None: multiples of what there is
    are_asked_for: bool = False
    notes: Sequence[str] = ()


def choose_cores(asked: Sequence[int] | None, *, is_swept: bool) -> CoreCounts:
    """Split the numbers that were asked for into those that the machine has, and the others.

    A prediction needs two measured numbers: where fewer were asked for, the usual ones are added.
    """
    there = usable_cores()
    if asked is None:
        return CoreCounts(_doubling(there) if is_swept and CAN_PIN else [there])
    wanted = sorted(set(_checked("cores", asked, least=1)))
    if not CAN_PIN:
        raise AnalysisError(
            "cores: this system cannot keep a process to some of its cores. Leave it out, or "
            "measure on Linux."
        )
    measured = [count for count in wanted if count <= there]
    beyond = [count for count in wanted if count > there]
    if not measured or (beyond and len(measured) < _TO_PREDICT):
        measured = sorted({*measured, *_doubling(there)})
    most = BEYOND[-1] * measured[-1]
    predicted = [count for count in beyond if count <= most]
    notes = []
    if measured[-1] < there:
        notes.append(f"measured on at most {measured[-1]} of the {there} cores, as asked for")
    if len(predicted) < len(beyond):
        notes.append(
            f"rates on more than {most} cores are not predicted: that is more than "
            f"{BEYOND[-1]} times the cores that could be measured on"
        )
    if predicted and len(measured) < _TO_PREDICT:
        predicted = []
        notes.append("nothing is predicted for more cores: this machine has only one")
    return CoreCounts(measured, predicted, are_asked_for=True, notes=notes)


def check_layers(asked: Sequence[int]) -> list[int]:
    """Return numbers of RandAugment layers in ascending order, each once."""
    return sorted(set(_checked("layers", asked, least=0)))


def _checked(name: str, asked: Sequence[int], least: int) -> Sequence[int]:
    numbers = list(asked)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise AnalysisError(
                f"{name}: must be whole numbers of {least} or more, got {number!r}."
            )
    if not numbers:
        raise AnalysisError(f"{name}: names none. Give at least one number, or leave it out.")
    return numbers


def _doubling(available: int) -> list[int]:
    """Return 1, 2, 4, ... up to all available cores."""
    counts = [1]
    while counts[-1] * 2 < available:
        counts.append(counts[-1] * 2)
    return counts if available == 1 else [*counts, available]
