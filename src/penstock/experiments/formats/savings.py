"""What follows from the measurements: rates, shares of training time saved, and claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from penstock.analysis.device.accelerators import EMULATED
from penstock.experiments.experiment import reason_missing
from penstock.experiments.findings import Claim, Judgement
from penstock.experiments.formats.forms import DALI, FORMS, PENSTOCK, TORCH, reads
from penstock.experiments.journal import Journal

BASE = (TORCH, "folder")
STUDY_LEAST, STUDY_MOST = 0.2, 0.4  # of training time, that the study saved
NEAR = 0.01  # of training time: not told apart
STEADY = 0.2  # between the quarters of all rates of the base; beyond that, nothing is concluded
SEEKS = "seeks, shuffled"
FORMAT, LIBRARY, BOTH = "format alone", "library alone", "both"

Who = tuple[str, str]  # library and format


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure that was measured in some rounds."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.values)

    def text(self, *, percent: bool = False) -> str:
        """Return the median; with more than one round, also the range."""
        form = "{:.0%}" if percent else "{:,.0f}"
        lowest, highest = form.format(min(self.values)), form.format(max(self.values))
        around = "" if lowest == highest else f" ({lowest} to {highest})"
        return form.format(self.median) + around


@dataclass(frozen=True, slots=True)
class Results:
    """The measurements by what they are about; None where there is none."""

    measurements: Mapping[str, Any]
    settings: Mapping[str, Any]

    @staticmethod
    def of(journal: Journal) -> Results:
        """Read a journal."""
        return Results(journal.measurements, journal.settings)

    @property
    def devices(self) -> list[str]:
        """Accelerators that were trained with."""
        return list(self.settings["devices"])

    @property
    def count(self) -> int:
        """Rounds so far; a later run with more of them adds to what was measured."""
        numbers = [int(key.split("/")[1]) for key in self.measurements if key.startswith("read/")]
        return max(numbers, default=0) + 1

    @property
    def photos(self) -> str:
        """How many samples there are, and of how many photos; for every table."""
        settings = self.settings
        return f"{settings['samples']:,} samples of {settings['distinct']:,} distinct photos"

    def facts(self, key: str) -> Any:
        """Return one measurement."""
        found = self.measurements.get(key)
        return None if reason_missing(found) else found

    def rounds(self, before: str, after: str, field: str | None = None) -> Spread | None:
        """Return what was measured in each round under `before/ROUND/after`."""
        found = (self.facts(f"{before}/{n}/{after}") for n in range(self.count))
        there = [value if field is None else value[field] for value in found if value is not None]
        return Spread(tuple(map(float, there))) if there and None not in there else None

    def read(self, who: Who, field: str) -> Spread | None:
        """Return a figure of reading."""
        return self.rounds("read", "/".join(who), field)

    def augmented(self, who: Who, name: str) -> Spread | None:
        """Return the rate with an augmentation."""
        return self.rounds("augment", "/".join(who), name)

    def trained(self, device: str, who: Who) -> Spread | None:
        """Return images per second of a training."""
        return self.rounds("train", f"{device}/{'/'.join(who)}", "rate")

    def behind(self, storage: str, who: Who) -> float | None:
        """Return the rate behind a simulated storage."""
        found = self.facts(f"storage/{'/'.join(who)}")
        return None if found is None else found.get(storage)

    def saved(self, device: str, who: Who) -> Spread | None:
        """Return the share of training time that is saved, by round: 1 - base rate / rate.

        The base was measured right before each, and for itself shows how certain the others are.
        """
        rate = self.trained(device, who)
        base = self.rounds("train", f"{device}/{'/'.join(who)}", "base")
        if rate is None or base is None:
            return None
        pairs = zip(base.values, rate.values, strict=True)
        return Spread(tuple(1 - slow / fast for slow, fast in pairs))

    def unsteady(self, device: str) -> str:
        """Say why nothing is concluded from trainings on a device; nothing if it can be.

        The base trained again and again, with the same work each time.
        """
        rates = self._base_rates(device)
        if len(rates) < 2:
            return ""
        low, _, high = quantiles(rates, n=4)
        if high - low <= STEADY * median(rates):
            return ""
        return (
            f"{device_title(device)}: not judged, since the same training ran at "
            f"{min(rates):,.0f} to {max(rates):,.0f} images/s; measure on an idle machine"
        )

    def is_beyond_doubt(self, device: str, fast: Who, slow: Who) -> bool:
        """Tell whether two rates differ by more than those of the same training do."""
        rates = self._base_rates(device)
        one, other = (self.trained(device, who) for who in (fast, slow))
        if not rates or one is None or other is None:
            return False
        return min(one.values) / max(other.values) > max(rates) / min(rates)

    def _base_rates(self, device: str) -> list[float]:
        return [
            value["base"]
            for key, value in self.measurements.items()
            if key.startswith("train/") and f"/{device}/" in key and not reason_missing(value)
        ]

    def saved_behind(self, storage: str, who: Who) -> float | None:
        """Return the same for a training that waits for a storage's data all the time."""
        rate, base = self.behind(storage, who), self.behind(storage, BASE)
        return None if rate is None or base is None else 1 - base / rate

    def reasons(self) -> list[str]:
        """Return why anything is missing, each reason once."""
        found = map(reason_missing, self.measurements.values())
        return list(dict.fromkeys(reason for reason in found if reason))


def group_of(who: Who) -> str:
    """Return which of the two changed against the folder read by torchvision."""
    library, form = who
    if library == TORCH:
        return FORMAT
    return LIBRARY if form == "folder" else BOTH


def title_of(who: Who) -> str:
    """Return a contestant's name."""
    library, form = who
    return f"{library}, {FORMS[form].title}"


def device_title(device: str) -> str:
    """Return a device's name, which says so if it is emulated."""
    if device.startswith(EMULATED):
        return f"emulated, {float(device.removeprefix(EMULATED)):,.0f} images/s"
    return f"{device}, real steps"


def judge(results: Results) -> tuple[Claim, ...]:
    """Return the study's claims and ours, with what was found."""
    records = [form for form in FORMS if FORMS[form].is_record]
    formats = [(TORCH, form) for form in (*records, "pen_jpeg")]
    with_dali = [(DALI, form) for form in records if reads(DALI, form)]
    return (
        _study_claim(
            results,
            "The study: binary record formats save 20-40 % of training time.",
            formats,
            _behind_seeks(results, formats),
        ),
        _study_claim(
            results,
            "The study: augmenting with NVIDIA DALI saves 20-40 % of training time.",
            [(DALI, "folder")],
        ),
        _study_claim(
            results,
            "The study: record formats and DALI together save 20-40 % of training time.",
            with_dali,
        ),
        _more_than_dali(results),
        _codec_not_container(results),
    )


def _study_claim(
    results: Results, says: str, who: Sequence[Who], elsewhere: tuple[float, str] | None = None
) -> Claim:
    steady = [device for device in results.devices if not results.unsteady(device)]
    best = {device: found for device in steady if (found := _best(results, device, who))}
    if not best:
        return _untested(results, says)
    told = [
        f"{device_title(device)}: {saved:.0%} at best ({title_of(winner)})"
        for device, (saved, winner) in best.items()
    ]
    enough = [saved >= STUDY_LEAST for saved, _ in best.values()]
    if elsewhere is not None:
        enough.append(elsewhere[0] >= STUDY_LEAST)
        told.append(elsewhere[1])
    more = [saved > STUDY_MOST for saved, _ in best.values()]
    if all(more):
        told.append("more than the study found")
    return _judged(results, says, enough, told)


def _judged(results: Results, says: str, answers: Sequence[bool], told: Sequence[str]) -> Claim:
    if not answers:
        return _untested(results, says)
    unsteady = filter(None, map(results.unsteady, results.devices))
    return Claim(says, _judgement(answers), "; ".join([*told, *unsteady]))


def _untested(results: Results, says: str) -> Claim:
    why = [*filter(None, map(results.unsteady, results.devices)), *results.reasons()]
    return Claim(says, Judgement.UNTESTED, "; ".join(why) or "not measured yet")


def _judgement(answers: Sequence[bool]) -> Judgement:
    if all(answers):
        return Judgement.HOLDS
    return Judgement.DEPENDS if any(answers) else Judgement.FAILS


def _best(results: Results, device: str, who: Sequence[Who]) -> tuple[float, Who] | None:
    found = [(saved.median, one) for one in who if (saved := results.saved(device, one))]
    return max(found, default=None)


def _behind_seeks(results: Results, who: Sequence[Who]) -> tuple[float, str] | None:
    found = [(saved, one) for one in who if (saved := results.saved_behind(SEEKS, one)) is not None]
    if not found:
        return None
    saved, best = max(found)
    return saved, (
        f"behind a simulated disk with seeks, where training only waits for data: {saved:.0%} "
        f"({title_of(best)})"
    )


def _more_than_dali(results: Results) -> Claim:
    says = "penstock: .pen saves more, end to end, than DALI with any record format."
    ours = (PENSTOCK, "pen")
    theirs = [(DALI, form) for form in FORMS if reads(DALI, form)]
    told, more = [], []
    for device in results.devices:
        saved, best = results.saved(device, ours), _best(results, device, theirs)
        if saved is None or best is None:
            continue
        dali, winner = best
        certain = all(results.is_beyond_doubt(device, ours, one) for one in theirs)
        if results.unsteady(device) and not certain:
            continue
        more.append(saved.median > dali + NEAR)
        if results.unsteady(device):
            told.append(f"{device_title(device)}: more, by far more than rates of the base differ")
        else:
            told.append(
                f"{device_title(device)}: {saved.median:.0%} against {dali:.0%} "
                f"({title_of(winner)})"
            )
    return _judged(results, says, more, told)


def _codec_not_container(results: Results) -> Claim:
    says = "penstock: what .pen saves comes from its codec and decoder, not from being one file."
    told, answers = [], []
    for device in results.devices:
        container = results.saved(device, (TORCH, "pen_jpeg"))
        decoder = results.saved(device, (PENSTOCK, "pen_jpeg"))
        both = results.saved(device, (PENSTOCK, "pen"))
        if container is None or decoder is None or both is None or results.unsteady(device):
            continue
        answers.append(container.median < both.median / 2)
        told.append(
            f"{device_title(device)}: the container alone {container.median:.0%}, with our decoder "
            f"{decoder.median:.0%}, with tiles {both.median:.0%}"
        )
    return _judged(results, says, answers, told)
