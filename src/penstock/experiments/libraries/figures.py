"""The study's figures: utilisation, operations, and the chain in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.experiments.findings import COLOURS, Picture
from penstock.experiments.libraries.detector.training import LOADERS
from penstock.experiments.libraries.ours import STORAGES, title
from penstock.experiments.libraries.readings import Readings
from penstock.experiments.libraries.work import AS_STUDIED, CHAINS, CROP_FIRST, LOAD, OPS
from penstock.report.figure import Spec

_BEYOND = (4, 8, 12)  # cores that are predicted
_ORDER_NAMES = {AS_STUDIED: "as written", CROP_FIRST: "crop and resize first"}
_SHOWN_OF_OURS = tuple(title(storage, "exact") for storage in STORAGES)


def draw_pictures(readings: Readings) -> tuple[Picture, ...]:
    """Return all figures for which there are measurements."""
    drawn = (
        _utilisation(readings),
        _cores(readings),
        _operations(readings),
        _chains(readings, AS_STUDIED, 3),
        _chains(readings, CROP_FIRST, 4),
        _plans(readings),
    )
    return tuple(picture for picture in drawn if picture is not None)


def _utilisation(readings: Readings) -> Picture | None:
    emulated = readings.emulated()
    runs = [(_cores_named(run["cores"]), run) for run in emulated.get("runs", ())]
    runs += [("CPU trains", run) for run in readings.real(LOADERS)]
    rows: list[dict[str, Any]] = []
    for where, run in runs:
        begins = [0.0, *run["seconds"][:-1]]
        for begin, end, busy in zip(begins, run["seconds"], run["busy"], strict=True):
            share = {"from": begin / run["seconds"][-1], "to": end / run["seconds"][-1]}
            rows.append({**share, "busy": busy, "loader": run["loader"], "where": where})
    if not rows:
        return None
    spec: Spec = {
        "data": {"values": rows},
        "facet": {
            "row": _header("where", list(dict.fromkeys(where for where, _ in runs))),
            "column": _header("loader", list(LOADERS)),
        },
        "spec": {
            "width": 170,
            "height": 70,
            "mark": {"type": "rect", "color": COLOURS[0], "stroke": COLOURS[0], "strokeWidth": 0.4},
            "encoding": {
                "x": _quantity(
                    "from", "share of the run", axis={"format": ".0%", "values": [0, 0.5, 1]}
                ),
                "x2": {"field": "to"},
                "y": _quantity(
                    "busy", "busy", scale={"domain": [0, 1]}, axis={"format": ".0%", "tickCount": 3}
                ),
                "y2": {"datum": 0},
            },
        },
    }
    rate = emulated.get("images_per_s")
    emulation = f"an emulated accelerator of {rate:,.0f} images/s" if rate else "no emulation"
    return Picture(
        "libraries-utilisation",
        "Figure 1: how busy the accelerator is while SSD-300 trains",
        f"Rows: {emulation} (EMULATED: it computes nothing, and is busy for as long as it would "
        "take), fed by so many cores; and the CPU as the accelerator, which really trains. "
        "Each run over its own time. White is waiting for data.",
        spec,
    )


def _cores(readings: Readings) -> Picture | None:
    loading, rate = readings.loading(), readings.emulated().get("images_per_s")
    rows: list[dict[str, Any]] = []
    for name in LOADERS:
        known = {cores: spread for (loader, cores), spread in loading.items() if loader == name}
        if not known:
            continue
        for cores, spread in known.items():
            rows.append({"loader": name, "cores": cores, "rate": spread.median, "kind": "measured"})
        most = max(known)
        for cores in (most, *(count for count in _BEYOND if count > most)):
            predicted = known[most].median * cores / most
            rows.append({"loader": name, "cores": cores, "rate": predicted, "kind": "predicted"})
    if not rows:
        return None
    lines: Spec = {
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": _quantity("cores", "cores", axis={"values": [1, 2, *_BEYOND], "grid": False}),
            "y": _quantity("rate", "images/s", scale={"type": "log"}, axis={"tickCount": 5}),
            "color": {"field": "loader", "type": "nominal", "sort": list(LOADERS), "title": None},
            "strokeDash": {
                "field": "kind",
                "type": "nominal",
                "title": None,
                "scale": {"domain": ["measured", "predicted"], "range": [[1, 0], [5, 4]]},
            },
        },
    }
    layers = [lines]
    if rate:
        rule = {"mark": {"type": "rule", "color": "#5c666f"}, "encoding": {"y": {"datum": rate}}}
        layers.append(rule)
    return Picture(
        "libraries-cores",
        "Figure 1, images per second against cores",
        "Loading alone. Solid: measured here; dashed: predicted as proportional to the cores from "
        "the largest number measured, which is the best that can happen. The horizontal line is "
        "the emulated accelerator.",
        {"data": {"values": rows}, "layer": layers},
    )


def _operations(readings: Readings) -> Picture | None:
    rows: list[dict[str, Any]] = []
    for photos in readings.settings.sizes:
        for name, ops in readings.ops(photos).items():
            for op in OPS:
                load, both = ops[op][0].median, ops[op][1].median
                shared = {"library": name, "op": op, "size": photos.name}
                # A crop that the decoder does makes both together shorter than loading.
                rows.append({**shared, "part": LOAD, "ms": min(load, both)})
                rows.append({**shared, "part": "operation", "ms": max(0.0, both - load)})
    if not rows:
        return None
    names = list(dict.fromkeys(row["library"] for row in rows))
    spec: Spec = {
        "data": {"values": rows},
        "facet": {"row": _header("size", [photos.name for photos in readings.settings.sizes])},
        "spec": {
            "width": 820,
            "height": 170,
            "mark": {"type": "bar"},
            "encoding": {
                "x": {
                    "field": "op",
                    "type": "nominal",
                    "sort": list(OPS),
                    "title": None,
                    "axis": {"labelAngle": 0},
                },
                "xOffset": {"field": "library", "type": "nominal", "sort": names},
                "y": _quantity("ms", "ms"),
                "color": _libraries(names),
                "opacity": {
                    "field": "part",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": [LOAD, "operation"], "range": [0.4, 1]},
                },
                "order": {"field": "part", "type": "nominal"},
            },
        },
        "resolve": {"scale": {"y": "independent"}},
    }
    return Picture(
        "libraries-operations",
        "Figure 2: each operation alone, with loading",
        "Milliseconds per image, the median of all iterations: loading pale, the operation full. "
        "Photos of three sizes, each with a scale of its own. For penstock, which does both in one "
        "pass, the operation is what it adds to loading.",
        spec,
    )


def _chains(readings: Readings, order: str, number: int) -> Picture | None:
    rows: list[dict[str, Any]] = []
    steps = [LOAD]
    for photos in readings.settings.sizes:
        for chain in CHAINS:
            if chain.order != order:
                continue
            steps = [LOAD, *(_short(step) for step in chain.steps)]
            for name, after in readings.chain(photos, chain).items():
                if name.startswith("penstock") and name not in _SHOWN_OF_OURS:
                    continue
                for step, spread in zip(steps[-len(after) :], after, strict=True):
                    rows.append(
                        {
                            "library": name,
                            "step": step,
                            "ms": spread.median,
                            "size": photos.name,
                            "side": f"to {chain.side_px}",
                        }
                    )
    if not rows:
        return None
    names = list(dict.fromkeys(row["library"] for row in rows))
    spec: Spec = {
        "data": {"values": rows},
        "facet": {
            "row": _header("size", [photos.name for photos in readings.settings.sizes]),
            "column": _header("side", ["to 300", "to 1000"]),
        },
        "spec": {
            "width": 360,
            "height": 190,
            "mark": {"type": "line", "point": {"size": 22}},
            "encoding": {
                "x": {
                    "field": "step",
                    "type": "ordinal",
                    "sort": steps,
                    "title": None,
                    "axis": {"labelAngle": 0},
                },
                "y": _quantity("ms", "ms so far", scale={"type": "log"}, axis={"tickCount": 5}),
                "color": _libraries(names),
            },
        },
        "resolve": {"scale": {"y": "independent"}},
    }
    return Picture(
        f"libraries-chain{number}",
        f"Figure {number}: the chain {_ORDER_NAMES[order]}, step by step",
        "Milliseconds per image from the file up to each step, the median of all iterations; the "
        "scale is logarithmic. penstock plans every part of the chain anew, so a crop further down "
        "can make all of it cheaper.",
        spec,
    )


def _plans(readings: Readings) -> Picture | None:
    rows: list[dict[str, Any]] = []
    for photos in readings.settings.sizes:
        for chain in CHAINS:
            for name, after in readings.chain(photos, chain).items():
                if name == "Pillow" or name.startswith("penstock"):
                    what = f"{photos.name} to {chain.side_px}"
                    rows.append(
                        {"name": name, "ms": after[-1].median, "what": what, "order": chain.order}
                    )
    if not rows:
        return None
    names = list(dict.fromkeys(row["name"] for row in rows))
    spec: Spec = {
        "data": {"values": rows},
        "facet": {
            "row": _header("what", list(dict.fromkeys(row["what"] for row in rows)))
            | {"header": {"labelPadding": 30}},
            "column": _header("order", [AS_STUDIED, CROP_FIRST]),
        },
        "spec": {
            "width": 320,
            "height": 120,
            "mark": {"type": "bar"},
            "encoding": {
                "y": {"field": "name", "type": "nominal", "sort": names, "title": None},
                "x": _quantity("ms", "ms"),
                "color": {
                    "condition": {"test": "datum.name === 'Pillow'", "value": COLOURS[6]},
                    "value": COLOURS[0],
                },
            },
        },
        "resolve": {"scale": {"x": "independent"}},
    }
    return Picture(
        "libraries-planned",
        "The planner's order beside both",
        "Milliseconds per image for whole chains: Pillow as written; penstock as written "
        "(plan=False), and as its planner orders it: exact, fast, and with all relaxed rules, from "
        "the files and packed.",
        spec,
    )


def _short(step: str) -> str:
    return "resize" if step.startswith("resize") else step


def _cores_named(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def _libraries(names: Sequence[str]) -> Spec:
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(names))]
    ours = iter(("#7a0177", "#c51b8a"))
    scale = [
        next(ours) if name.startswith("penstock") else colour
        for name, colour in zip(names, colours, strict=True)
    ]
    return {
        "field": "library",
        "type": "nominal",
        "title": None,
        "sort": list(names),
        "scale": {"domain": list(names), "range": scale},
    }


def _header(field: str, sort: Sequence[str]) -> Spec:
    return {"field": field, "type": "nominal", "sort": list(sort), "title": None}


def _quantity(field: str, title: str, **more: Any) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, **more}
