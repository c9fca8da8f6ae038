"""The study's four figures, with predicted figures dashed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.analysis.rate_model import FED
from penstock.experiments.findings import COLOURS, Picture
from penstock.experiments.overhead.results import Figure, Results
from penstock.experiments.overhead.settings import (
    DALI,
    FOLDER,
    PACKED,
    TORCHVISION,
    Pipeline,
)
from penstock.experiments.overhead.targets import Target
from penstock.report.figure import Spec

_KINDS = ("measured", "predicted")
_COLOUR = {TORCHVISION: COLOURS[1], DALI: COLOURS[3], FOLDER: COLOURS[5], PACKED: COLOURS[0]}
_RATE_AXIS: Spec = {"format": "~s"}
_IMAGES = "images per second"
_RULE: Spec = {"type": "rule", "color": "#1b1f23", "strokeDash": [6, 3]}


def draw_figures(results: Results) -> list[Picture]:
    """Return the figures of which something was measured."""
    if not results.fast_targets or not results.loaders:
        return []
    return [
        _by_pipeline(results),
        _against_synthetic(results),
        _by_layers(results),
        _by_loader(results),
    ]


def _row(figure: Figure, **what: Any) -> Spec:
    rate = figure.rate
    kind = _KINDS[0] if figure.is_measured else _KINDS[1]
    return {**what, "rate": rate.median, "least": rate.least, "largest": rate.largest, "kind": kind}


def _photos(results: Results) -> str:
    return f"{results.photos['distinct']:,} distinct photos."


def _main(results: Results) -> list[Target]:
    return [target for target in results.fast_targets if target.group == results.groups[0]]


def _by_pipeline(results: Results) -> Picture:
    """End to end, by pipeline and cores; one panel for each model and loader."""
    loaders = [one for one in (TORCHVISION, PACKED) if one in results.loaders] or results.loaders
    rows = []
    for target in _main(results):
        for loader in loaders:
            for pipeline, cores in _bars(results):
                found = results.end_to_end(target, loader, pipeline, cores)
                if found is not None:
                    rows.append(
                        _row(
                            found,
                            model=target.label,
                            loader=loader,
                            pipeline=_short(pipeline),
                            cores=cores,
                            synthetic=results.synthetic(target),
                        )
                    )
    encoding = {
        "x": _nominal("pipeline", [_short(one) for one in results.settings.pipelines]),
        "xOffset": {"field": "cores", "type": "ordinal"},
        "y": {"field": "rate", "type": "quantitative", "title": _IMAGES, "axis": _RATE_AXIS},
        "color": {
            "field": "cores",
            "type": "ordinal",
            "title": "cores",
            "scale": {"scheme": "blues"},
        },
        "opacity": _by_kind([1.0, 0.55]),
        "strokeDash": _by_kind([[1, 0], [3, 2]]),
        "stroke": {"value": "#5c666f"},
    }
    bars = {"mark": {"type": "bar", "strokeWidth": 0.6}, "encoding": encoding}
    rule = {"mark": _RULE, "encoding": {"y": {"field": "synthetic", "aggregate": "max"}}}
    return Picture(
        "overhead-1-end-to-end",
        "End to end, by pipeline and cores",
        f"The dashed line is the synthetic rate of {results.groups[0]}: what training would reach "
        "if it never waited. Bars with dashed edges are predicted for cores that this machine "
        f"does not have. {_photos(results)}",
        _faceted(rows, [bars, rule], column="model", row="loader", width=330, height=170),
    )


def _bars(results: Results) -> list[tuple[Pipeline, int]]:
    settings = results.settings
    layered = [(pipeline, cores) for pipeline in settings.layered for cores in results.cores]
    others = [one for one in settings.pipelines if one not in settings.layered]
    return layered + [(pipeline, settings.most_cores) for pipeline in others]


def _against_synthetic(results: Results) -> Picture:
    """Pipeline only against synthetic, by cores."""
    settings = results.settings
    chosen = dict.fromkeys([settings.layered[0], settings.typical, settings.layered[-1]])
    return Picture(
        "overhead-2-pipeline-only",
        "Input pipeline only against synthetic, by cores",
        "Where a line is below the dashed synthetic rate of a training, that training starves. "
        f"Dashed parts and hollow points are predicted. {_photos(results)}",
        {"hconcat": [_panel(results, pipeline) for pipeline in chosen]},
    )


def _panel(results: Results, pipeline: Pipeline) -> Spec:
    rows = []
    for loader in results.loaders:
        figures = [results.pipeline(loader, pipeline, cores) for cores in results.cores]
        rows += _line(results, figures, loader=loader)
    rates = [
        {"synthetic": results.synthetic(target), "label": target.label}
        for target in results.fast_targets
    ]
    y: Spec = {
        "field": "rate",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": _RATE_AXIS,
        "title": f"{_IMAGES}, input pipeline only",
    }
    height = {"y": {"field": "synthetic", "type": "quantitative"}}
    text = {"type": "text", "align": "right", "x": "width", "dx": -3, "dy": -5, "fontSize": 9}
    return {
        "title": pipeline.label,
        "width": 250,
        "height": 270,
        "data": {"values": rows},
        "layer": [
            *_lines("cores", y, results),
            {"data": {"values": rates}, "mark": _RULE, "encoding": height},
            {
                "data": {"values": rates},
                "mark": text,
                "encoding": {**height, "text": {"field": "label"}},
            },
        ],
    }


def _by_layers(results: Results) -> Picture:
    """End to end against layers, by model."""
    cores = results.settings.most_cores
    rows = []
    for target in results.fast_targets:
        for loader in results.loaders:
            for pipeline in results.settings.layered:
                found = results.measured(target, loader, pipeline, cores)
                if found is not None:
                    rows.append(
                        _row(
                            found,
                            layers=pipeline.layers,
                            loader=loader,
                            model=target.model,
                            group=target.group,
                            synthetic=results.synthetic(target),
                        )
                    )
    y = {"field": "rate", "type": "quantitative", "title": _IMAGES, "axis": _RATE_AXIS}
    x = {
        "field": "layers",
        "type": "quantitative",
        "title": "layers of RandAugment (N)",
        "axis": {"values": sorted(results.settings.layers), "format": "d"},
    }
    colour = _colour(results)
    line = {"mark": {"type": "line", "point": True}, "encoding": {"x": x, "y": y, "color": colour}}
    spread = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": {"field": "least", "type": "quantitative"},
            "y2": {"field": "largest"},
            "color": colour,
        },
    }
    rule = {"mark": _RULE, "encoding": {"y": {"field": "synthetic", "aggregate": "max"}}}
    return Picture(
        "overhead-3-layers",
        f"End to end, by layers of RandAugment, cores: {cores}",
        "The dashed line is the synthetic rate; upright lines show the spread of rounds. "
        f"All measured. {_photos(results)}",
        _faceted(rows, [line, spread, rule], column="model", row="group", width=300, height=180),
    )


def _by_loader(results: Results) -> Picture:
    """The share of the accelerator that each loader can feed, by cores."""
    typical = results.settings.typical
    rows = []
    for target in results.fast_targets:
        synthetic = results.synthetic(target)
        for loader in results.loaders:
            figures = [
                results.end_to_end(target, loader, typical, cores) for cores in results.cores
            ]
            line = _line(results, figures, loader=loader, model=target.model, group=target.group)
            rows += [{**row, "rate": row["rate"] / synthetic} for row in line]
    y = {
        "field": "rate",
        "type": "quantitative",
        "title": "of the synthetic rate",
        "axis": {"format": "%"},
        "scale": {"domain": [0, 1.05]},
    }
    starving = {"mark": _RULE, "encoding": {"y": {"datum": FED}}}
    return Picture(
        "overhead-4-loaders",
        f"Loaders side by side: where training starves, {typical.label}",
        f"Below the dashed line, at {FED:.0%} of the synthetic rate, training starves. Dashed "
        f"parts and hollow points are predicted. {_photos(results)}",
        _faceted(
            rows,
            [*_lines("cores", y, results), starving],
            column="model",
            row="group",
            width=300,
            height=180,
        ),
    )


def _line(results: Results, figures: Sequence[Figure | None], **what: Any) -> list[Spec]:
    """Return a line over cores: the last measured point also begins the predicted part."""
    rows = [
        _row(figure, cores=cores, **what)
        for cores, figure in zip(results.cores, figures, strict=True)
        if figure is not None
    ]
    measured = [row for row in rows if row["kind"] == _KINDS[0]]
    joint = (
        [{**measured[-1], "kind": _KINDS[1], "joint": True}]
        if 0 < len(measured) < len(rows)
        else []
    )
    return [*rows, *joint]


def _lines(x: str, y: Spec, results: Results) -> list[Spec]:
    encoding = {
        "x": {"field": x, "type": "quantitative", "axis": {"tickMinStep": 1}, "title": x},
        "y": y,
        "color": _colour(results),
    }
    return [
        {"mark": "line", "encoding": {**encoding, "strokeDash": _by_kind([[1, 0], [4, 3]])}},
        *(_points(encoding, kind) for kind in reversed(_KINDS)),
    ]


def _points(encoding: Spec, kind: str) -> Spec:
    look: Spec = {"filled": True, "opacity": 1}
    if kind != _KINDS[0]:
        look = {"filled": False, "fill": "#ffffff", "opacity": 1}
    return {
        "transform": [{"filter": f"datum.kind == '{kind}' && !datum.joint"}],
        "mark": {"type": "point", "size": 40, **look},
        "encoding": encoding,
    }


def _faceted(
    rows: list[Spec], layers: list[Spec], *, column: str, row: str, width: int, height: int
) -> Spec:
    columns = list(dict.fromkeys(one[column] for one in rows))
    names = list(dict.fromkeys(one[row] for one in rows))
    return {
        "data": {"values": rows},
        "facet": {
            "column": {"field": column, "title": None, "sort": columns},
            "row": {"field": row, "title": None, "sort": names},
        },
        "spec": {"width": width, "height": height, "layer": layers},
        "resolve": {"scale": {"y": "independent"}},
    }


def _nominal(field: str, order: list[str]) -> Spec:
    return {
        "field": field,
        "type": "nominal",
        "sort": order,
        "title": None,
        "axis": {"labelAngle": -35},
    }


def _by_kind(values: list[Any]) -> Spec:
    return {
        "field": "kind",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(_KINDS), "range": values},
    }


def _colour(results: Results) -> Spec:
    return {
        "field": "loader",
        "type": "nominal",
        "title": "loader",
        "scale": {
            "domain": results.loaders,
            "range": [_COLOUR[loader] for loader in results.loaders],
        },
    }


def _short(pipeline: Pipeline) -> str:
    return f"N = {pipeline.layers}" if pipeline.method == "randaugment" else pipeline.label
