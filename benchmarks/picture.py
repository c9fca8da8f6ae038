"""A line for each peer: images per second against layers of RandAugment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.runner import Measured
from benchmarks.summary import Spread

WIDTH_INCHES, HEIGHT_INCHES = 7.0, 4.2


def draw_layers(target: Path, measured: Sequence[Measured]) -> None:
    """Write the lines as SVG, with bars from the least to the largest of the rounds.

    The scale is logarithmic: a peer that loses the same share has the same slope.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    figure = Figure(figsize=(WIDTH_INCHES, HEIGHT_INCHES), layout="constrained")
    axes = figure.subplots()
    for label, points in _lines(measured).items():
        rates = [Spread.of(one.images_per_s) for one in points]
        axes.errorbar(
            [one.layers for one in points],
            [rate.median for rate in rates],
            yerr=(
                [rate.median - rate.least for rate in rates],
                [rate.largest - rate.median for rate in rates],
            ),
            marker="o",
            markersize=4,
            capsize=2,
            label=label,
        )
    axes.set_yscale("log")
    plain = FuncFormatter(lambda rate, _: f"{rate:,.0f}")
    axes.yaxis.set_major_formatter(plain)
    axes.yaxis.set_minor_formatter(plain)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("layers of RandAugment, magnitude 9")
    axes.set_ylabel("images/s")
    axes.grid(visible=True, which="both", alpha=0.25)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(target, metadata={"Date": None})


def _lines(measured: Sequence[Measured]) -> dict[str, list[Measured]]:
    """Sort what was measured into lines, one a peer and number of cores."""
    several = len({one.cores for one in measured}) > 1
    lines: dict[str, list[Measured]] = {}
    for one in sorted(measured, key=lambda one: one.layers):
        label = f"{one.label}, {one.cores} core(s)" if several else one.label
        lines.setdefault(label, []).append(one)
    return lines
