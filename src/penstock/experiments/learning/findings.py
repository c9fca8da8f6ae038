"""What is concluded from the trainings: from the journal alone, complete or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

from penstock.experiments.experiment import reason_missing
from penstock.experiments.findings import COLOURS, Claim, Findings, Judgement, Picture, Table
from penstock.experiments.journal import Journal
from penstock.report.figure import Spec

NAME = "learning"

# Trainings with one seed, whose losses are compared batch by batch; the first is the measure.
CURVES = {
    "torchvision": "torchvision, with penstock's draws",
    "folder": "penstock, from the folder",
    "packed": "penstock, from a packed file",
    "fast": "penstock, fidelity='fast'",
}
EXACT_CURVES = ("folder", "packed")

# Trainings with several seeds, each with its own weights, order and draws.
VARIANTS = {
    "torchvision": "torchvision, with its own draws",
    "exact": "penstock, exact",
    "fast": "penstock, fast",
    "relaxed": "penstock, fast and relaxed",
    "none": "no augmentation",
}
FEWEST_SEEDS = 4  # with three and three, even the rarest split is one in ten
RARE = 0.05  # a difference that chance makes less often counts as one
TEST = (
    "The test: if the two ways were equal, the seeds' accuracies could be dealt to them in any "
    "way; p is the share of all ways to deal them that give at least this difference of means."
)

Trained = dict[str, Any]


def draw(journal: Journal) -> Findings:
    """Return claims, tables and figures."""
    found = {key: value for key, value in journal.measurements.items() if not reason_missing(value)}
    curves = {name: found[f"curve/{name}"] for name in CURVES if f"curve/{name}" in found}
    variants = _by_variant(found, int(journal.settings["seeds"]))
    missing = [
        f"{key}: {reason_missing(value)}"
        for key, value in journal.measurements.items()
        if reason_missing(value)
    ]
    tables = [_curve_table(curves), _accuracy_table(variants)]
    pictures = [_curve_picture(curves, journal), _accuracy_picture(variants)]
    return Findings(
        "Learning: the same model from penstock's batches as from torchvision's",
        "Is a model that was trained with penstock the one that torchvision would have given, "
        "and does augmentation do its work?",
        _setting(journal),
        claims=[*_curve_claims(curves), *_seed_claims(variants)],
        pictures=[picture for picture in pictures if picture is not None],
        tables=[table for table in tables if table is not None],
        notes=[*missing, *_notes(variants)],
    )


def _by_variant(found: dict[str, Any], seeds: int) -> dict[str, list[Trained]]:
    """The trainings of each variant, with those seeds that all of them have."""
    begun = [name for name in VARIANTS if f"seed/0/{name}" in found]
    whole = [seed for seed in range(seeds) if all(f"seed/{seed}/{name}" in found for name in begun)]
    return {name: [found[f"seed/{seed}/{name}"] for seed in whole] for name in begun}


def _setting(journal: Journal) -> list[str]:
    told = journal.settings
    images = (
        f"{told['train_images']:,} distinct training images and {told['test_images']:,} test "
        f"images of ten drawn shapes (`make_shape_set`), JPEG, "
        f"{told['image_px']}x{told['image_px']} pixels"
    )
    model = (
        f"a network of four convolutions on {told['side_px']}x{told['side_px']} pixels, batches of "
        f"{told['batch_size']}, SGD with momentum, one thread, deterministic algorithms"
    )
    steps = (
        "flip, rotation by up to 180 degrees, contrast, brightness and saturation, "
        "RandomResizedCrop, normalise"
    )
    trainings = (
        f"losses: {told['curve_epochs']} epochs with seed 0; accuracy: {told['epochs']} epochs "
        f"with each of {told['seeds']} seeds"
    )
    machine = [f"{name} {told}" for name, told in journal.environment.items() if name in _SHOWN]
    return [images, model, steps, trainings, ", ".join(machine)]


_SHOWN = ("CPU", "penstock", "torch", "torchvision", "pillow")


# ---- one seed, batch by batch -------------------------------------------------------------------


def first_difference(one: Sequence[float], other: Sequence[float]) -> int | None:
    """Return the first batch whose losses differ, from 1; None if none does."""
    if len(one) != len(other):
        return min(len(one), len(other)) + 1
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=True), 1) if a != b), None)


def _curve_claims(curves: dict[str, Trained]) -> list[Claim]:
    same = (
        "With the same model, seed, order and parameters, penstock gives the loss curve of "
        "torchvision's loader, to the last bit of every batch."
    )
    control = "The comparison notices small changes: with fidelity='fast' the losses differ."
    measure = curves.get("torchvision")
    if measure is None or not all(name in curves for name in EXACT_CURVES):
        why = "not all of these trainings were run"
        return [Claim(text, Judgement.UNTESTED, why) for text in (same, control)]
    holds, told = True, []
    for name in EXACT_CURVES:
        at = first_difference(measure["losses"], curves[name]["losses"])
        equal_weights = curves[name]["weights"] == measure["weights"]
        holds = holds and at is None and equal_weights
        of_batches = "all" if at is None else f"the first {at - 1:,} of"
        told.append(f"{CURVES[name]}: {of_batches} {len(measure['losses']):,} losses are equal")
        told.append(f"the final weights are {'equal' if equal_weights else 'different'}")
    claims = [Claim(same, _judged(holds), "; ".join(told))]
    if "fast" in curves:
        at = first_difference(measure["losses"], curves["fast"]["losses"])
        because = "no loss differs" if at is None else f"they differ from batch {at} on"
        claims.append(Claim(control, _judged(at is not None), because))
    return claims


def _curve_table(curves: dict[str, Trained]) -> Table | None:
    if "torchvision" not in curves:
        return None
    measure = curves["torchvision"]["losses"]
    rows = []
    for name, trained in curves.items():
        losses = trained["losses"]
        equal = sum(a == b for a, b in zip(measure, losses, strict=True))
        rows.append(
            [
                CURVES[name],
                f"{equal:,} of {len(losses):,}",
                losses[-1].hex(),
                trained["weights"][:12],
                f"{100 * trained['accuracy']:.1f} %",
            ]
        )
    return Table(
        "One seed, batch by batch",
        ("loader", "equal losses", "last loss, in hexadecimal", "weights", "accuracy"),
        rows,
        "Losses are compared as float32 values, without any tolerance. `weights` is the beginning "
        "of the SHA-256 digest of all parameters after the last batch.",
    )


def _curve_picture(curves: dict[str, Trained], journal: Journal) -> Picture | None:
    if not curves:
        return None
    steps = int(journal.settings["train_images"]) // int(journal.settings["batch_size"])
    rows = [
        {"loader": CURVES[name], "epoch": at // steps + 1, "loss": fmean(losses[at : at + steps])}
        for name, trained in curves.items()
        for losses in [trained["losses"]]
        for at in range(0, len(losses), steps)
    ]
    names = [CURVES[name] for name in curves]
    colours = [_CURVE_STYLES[name][0] for name in curves]
    colour: Spec = {
        "field": "loader",
        "type": "nominal",
        "title": None,
        "scale": {"domain": names, "range": colours},
        "legend": {"orient": "top", "columns": 2, "symbolType": "stroke", "labelLimit": 300},
    }
    loss: Spec = {"field": "loss", "type": "quantitative", "scale": {"zero": False}}
    spec: Spec = {
        "data": {"values": rows},
        "encoding": {
            "x": {"field": "epoch", "type": "quantitative", "title": "epoch"},
            "y": {**loss, "title": "mean loss of the epoch's batches"},
            "color": colour,
        },
        "layer": [
            {
                "transform": [{"filter": {"field": "loader", "equal": CURVES[name]}}],
                "mark": {"type": "line", "strokeWidth": width, "strokeDash": dash},
            }
            for name in curves
            for _, width, dash in [_CURVE_STYLES[name]]
        ],
    }
    caption = "Equal curves lie on each other, which is why they have different widths."
    return Picture("learning-losses", "Loss curves", caption, spec)


# Colour, width and dashes of each curve: the first is wide, so that others are seen upon it.
_CURVE_STYLES: dict[str, tuple[str, float, list[int]]] = {
    "torchvision": (COLOURS[5], 9, [1, 0]),
    "folder": (COLOURS[0], 4, [1, 0]),
    "packed": (COLOURS[7], 1.5, [5, 4]),
    "fast": (COLOURS[1], 1.5, [1, 0]),
}


# ---- several seeds ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one way is than another over some seeds, in points of accuracy."""

    points: float
    standard_error: float
    p: float  # see TEST

    @property
    def is_noise(self) -> bool:
        """Whether chance makes such a difference often enough."""
        return self.p >= RARE

    def __str__(self) -> str:
        return (
            f"{self.points:+.1f} points, standard error {self.standard_error:.1f}, p = {self.p:.2f}"
        )


def compare(one: Sequence[float], other: Sequence[float]) -> Difference:
    """Compare the accuracies of two ways, each over two seeds or more."""
    error = math.sqrt(stdev(one) ** 2 / len(one) + stdev(other) ** 2 / len(other))
    pooled, total = [*one, *other], sum(one) + sum(other)
    # Sums differ in their last bits by the order of adding; the margin counts those as equal.
    least = abs(fmean(one) - fmean(other)) - 1e-9
    ways = [
        abs(sum(chosen) / len(one) - (total - sum(chosen)) / len(other)) >= least
        for chosen in combinations(pooled, len(one))
    ]
    points = 100 * (fmean(one) - fmean(other))
    return Difference(points, 100 * error, sum(ways) / len(ways))


def _accuracies(trained: Sequence[Trained]) -> list[float]:
    return [float(one["accuracy"]) for one in trained]


def _seed_claims(variants: dict[str, list[Trained]]) -> list[Claim]:
    claims = [
        _seed_claim(
            variants,
            f"Over several seeds, {VARIANTS[name]}, reaches the accuracy of torchvision within "
            "noise.",
            (name, "torchvision"),
            lambda found: found.is_noise,
        )
        for name in ("exact", "fast", "relaxed")
    ]
    helps = "Augmentation helps on this data: accuracy is clearly above that without."
    return [
        *claims,
        _seed_claim(
            variants,
            helps,
            ("exact", "none"),
            lambda found: found.points > 0 and not found.is_noise,
        ),
    ]


def _seed_claim(
    variants: dict[str, list[Trained]],
    says: str,
    pair: tuple[str, str],
    holds: Callable[[Difference], bool],
) -> Claim:
    if not all(name in variants for name in pair):
        return Claim(says, Judgement.UNTESTED, "not all of these trainings were run")
    one, other = (_accuracies(variants[name]) for name in pair)
    means = f"{100 * fmean(one):.1f} % against {100 * fmean(other):.1f} %"
    if len(one) < FEWEST_SEEDS:
        why = f"{means}; {len(one)} seeds are too few to tell, {FEWEST_SEEDS} are needed"
        return Claim(says, Judgement.UNTESTED, why)
    found = compare(one, other)
    return Claim(says, _judged(holds(found)), f"{means} with {len(one)} seeds: {found}")


def _judged(holds: bool) -> Judgement:
    return Judgement.HOLDS if holds else Judgement.FAILS


def _accuracy_table(variants: dict[str, list[Trained]]) -> Table | None:
    if not variants:
        return None
    count = len(next(iter(variants.values())))
    rows = []
    for name, trained in variants.items():
        accuracies = _accuracies(trained)
        spread = f"{100 * stdev(accuracies):.1f}" if count > 1 else ""
        row = [f"{100 * accuracy:.1f}" for accuracy in accuracies]
        rows.append([VARIANTS[name], *row, f"{100 * fmean(accuracies):.1f}", spread])
        compared = ["", "", ""]
        if name != "torchvision" and "torchvision" in variants and count > 1:
            found = compare(accuracies, _accuracies(variants["torchvision"]))
            compared = [f"{found.points:+.1f}", f"{found.standard_error:.1f}", f"{found.p:.3f}"]
        rows[-1] += compared
    seeds = [f"seed {seed}" for seed in range(count)]
    head = ("trained with", *seeds, "mean", "deviation", "to torchvision", "error", "p")
    return Table(
        f"Accuracy on the test images in per cent, {count} seeds",
        head,
        rows,
        f"`to torchvision` is the difference of the means in points, `error` its standard error. "
        f"{TEST}",
    )


def _accuracy_picture(variants: dict[str, list[Trained]]) -> Picture | None:
    if not variants:
        return None
    rows = [
        {"variant": VARIANTS[name], "accuracy": 100 * accuracy}
        for name, trained in variants.items()
        for accuracy in _accuracies(trained)
    ]
    names = [VARIANTS[name] for name in variants]
    variant: Spec = {"field": "variant", "type": "nominal", "title": None, "sort": names}
    accuracy: Spec = {"field": "accuracy", "type": "quantitative", "title": "accuracy in %"}
    spec: Spec = {
        "data": {"values": rows},
        "height": 40 * len(names),
        "encoding": {"y": {**variant, "axis": {"labelLimit": 240}}},
        "layer": [
            {
                "mark": {"type": "tick", "thickness": 3, "size": 26, "color": COLOURS[6]},
                "encoding": {"x": {**accuracy, "aggregate": "mean"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 0.75},
                "encoding": {
                    "x": {**accuracy, "scale": {"zero": False}},
                    "color": {**variant, "legend": None, "scale": {"domain": names}},
                },
            },
        ],
    }
    caption = "A point for each seed; the gray stroke is their mean."
    return Picture("learning-accuracy", "Accuracy over seeds", caption, spec)


def _notes(variants: dict[str, list[Trained]]) -> list[str]:
    rules = {
        name: sorted({rule for one in variants[name] for rule in one["rules"]})
        for name in ("fast", "relaxed")
        if name in variants
    }
    used = [
        f"{VARIANTS[name]}: rules that change pixels were {', '.join(names) or 'not used'}"
        for name, names in rules.items()
    ]
    proof = (
        "Equal losses are a proof for these batches; seeds that cannot be told apart are none: a "
        "difference of about twice the standard error or less would go unnoticed."
    )
    reach = (
        "The data is drawn, the model small and the training short: the table says nothing about "
        "how much augmentation helps on photos."
    )
    again = (
        "Repeat it with `penstock experiment learning`; `--seeds` and `--epochs` change its "
        "length, `--redraw` draws these tables and figures again from results.json."
    )
    return [*used, proof, reach, again]
