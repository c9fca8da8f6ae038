"""An analysis as one HTML file that needs nothing else: charts, styles and scripts are inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from os import PathLike, fspath
from os.path import abspath, dirname, isdir
from typing import Any

from penstock._version import __version__
from penstock.errors import AnalysisError
from penstock.report.bars import draw_op_costs, draw_throughput
from penstock.report.figure import Figure, Run
from penstock.report.markup import Html, draw_legend, element, join, json_block
from penstock.report.opening import draw_lost_time, draw_opening
from penstock.report.sections import (
    draw_advice,
    draw_environment,
    draw_left_out,
    draw_predictions,
    draw_slowest_files,
    draw_store,
    draw_what_ifs,
    table,
)
from penstock.report.summary import finite_parts
from penstock.report.sweeps import (
    draw_accuracy,
    draw_core_sweep,
    draw_layer_sweep,
    named_predictions,
)
from penstock.report.time_series import draw_steps, draw_utilisation, thin_for_saving
from penstock.report.vega import chart_script
from penstock.results.records import Analysis

# Vega compiles its expressions, hence unsafe-eval. Nothing may be fetched from anywhere.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data:"
)
STYLES = (
    "colours.css",
    "page.css",
    "lost_time.css",
    "small_and_print.css",
)  # the later ones overrule
LONGEST_LIST = 40  # values in the table of all figures; longer ones are for programs
FIRST_FIGURES = (draw_throughput, draw_op_costs)
OTHER_FIGURES = (draw_core_sweep, draw_layer_sweep, draw_utilisation, draw_steps, draw_accuracy)


def check_target(path: str | PathLike[str]) -> None:
    """Raise if the folder for a report is missing; call this before measuring for minutes."""
    folder = dirname(abspath(path))
    if not isdir(folder):
        raise AnalysisError(
            f"{fspath(path)}: the report cannot be written, there is no folder {folder}. "
            "Make it, or name another file."
        )


def write_html(
    analysis: Analysis,
    path: str | PathLike[str],
    *,
    before: Analysis | None = None,
    note: str = "",
) -> None:
    """Write the report of an analysis, beside the one `before` a change if that is given.

    A `note` stands under the headline. Needs `pip install "penstock[report]"`.
    """
    page = draw_page(analysis, before=before, note=note)
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(page)
    except OSError as error:
        raise AnalysisError(
            f"{fspath(path)}: cannot write the report: {error.strerror}. "
            "Name a file in a folder that you may write to."
        ) from error


def draw_page(analysis: Analysis, *, before: Analysis | None = None, note: str = "") -> str:
    """Return the report as a page of HTML."""
    analysis, before = finite_parts(analysis), before and finite_parts(before)
    runs = [Run("before", before), Run("after", analysis)] if before else [Run("", analysis)]
    first = [figure for draw in FIRST_FIGURES if (figure := draw(runs))]
    others = [figure for draw in OTHER_FIGURES if (figure := draw(runs))]
    charts = [chart for figure in first + others for chart in figure.charts]
    body = join(
        [
            _masthead(analysis),
            element(
                "main",
                draw_opening(analysis, before, note),
                draw_lost_time(runs),
                _figures(first, "rates"),
                draw_advice(analysis),
                draw_store(analysis.store),
                _figures(others, "studies"),
                draw_what_ifs(analysis.what_ifs, analysis.assumption),
                draw_predictions(named_predictions(runs)),
                draw_slowest_files(analysis.slowest_files),
                draw_left_out(analysis.left_out),
                draw_environment(run.analysis for run in runs),
                _raw(runs),
            ),
            element("footer", f"Written by penstock {__version__}. This file needs no network."),
            element("div", id="tip", role="tooltip", hidden=""),
            json_block("charts", [chart.spec for chart in charts]),
            json_block("figures", [thin_for_saving(run.analysis).to_dict() for run in runs]),
            element("script", Html(chart_script().replace("</script", "<\\/script")))
            if charts
            else Html(),
            element("script", _resource("page.js")),
        ]
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=CONTENT_POLICY),
        element("title", f"{analysis.title}: {analysis.verdict.value}"),
        element("style", *map(_resource, STYLES)),
        element("script", _resource("theme.js")),
    )
    page = element("html", head, element("body", body), lang="en")
    return Html(f"<!doctype html>\n{page}\n")


def _masthead(analysis: Analysis) -> Html:
    return element(
        "header",
        element("span", "penstock", class_="brand"),
        element("span", analysis.title, class_="subject"),
        element("button", "◐", type="button", id="theme", aria_label="light or dark"),
        class_="masthead",
    )


def _figures(figures: list[Figure], identity: str) -> Html:
    if not figures:
        return Html()
    return element("section", *map(_figure, figures), class_="figures", id=identity)


def _figure(figure: Figure) -> Html:
    charts = [
        element(
            "div",
            element("h3", chart.heading) if chart.heading else Html(),
            draw_legend(chart.legend),
            element("div", class_="chart", role="img", aria_label=figure.title),
        )
        for chart in figure.charts
    ]
    return element(
        "figure",
        element("h2", figure.title),
        element("div", *charts, class_="charts"),
        element("figcaption", figure.caption),
        class_="card" if len(charts) == 1 else "card wide",
        id=figure.key,
    )


def _raw(runs: list[Run]) -> Html:
    tables = []
    for run in runs:
        rows = [[element("code", name), value] for name, value in flatten(run.analysis.to_dict())]
        heading = element("h3", run.name) if run.name else Html()
        tables.append(join([heading, table(("figure", "value"), rows, "text text")]))
    return element(
        "section",
        element(
            "details",
            element("summary", "All figures"),
            element("button", "Save as JSON", type="button", id="save"),
            *tables,
        ),
        id="raw",
    )


def _resource(name: str) -> Html:
    return Html(files("penstock.report").joinpath(name).read_text(encoding="utf-8"))


def flatten(values: Any, name: str = "") -> Iterable[tuple[str, str]]:
    """Yield the name and the value of each entry, however deep it lies."""
    if isinstance(values, Mapping):
        for key, value in values.items():
            yield from flatten(value, f"{name}.{key}" if name else f"{key}")
    elif isinstance(values, list | tuple):
        if len(values) > LONGEST_LIST:
            yield name, f"{len(values):,} values"
            return
        for i, value in enumerate(values):
            yield from flatten(value, f"{name}[{i}]")
    elif isinstance(values, float):
        yield name, f"{values:,.6g}"
    elif values is not None and values != "":
        yield name, f"{values}"
