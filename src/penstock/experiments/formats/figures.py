"""The figures of the experiment, in Vega-Lite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.experiments.findings import COLOURS, Picture
from penstock.experiments.formats.forms import FORMS, LIBRARIES, contestants
from penstock.experiments.formats.savings import (
    BASE,
    BOTH,
    FORMAT,
    LIBRARY,
    STUDY_LEAST,
    STUDY_MOST,
    Results,
    device_title,
    group_of,
    title_of,
)
from penstock.experiments.formats.storage import STORAGES
from penstock.report.figure import Spec

_LIBRARY_SCALE = {"domain": list(LIBRARIES), "range": [COLOURS[6], COLOURS[1], COLOURS[0]]}
_GROUP_SCALE = {
    "domain": [FORMAT, LIBRARY, BOTH],
    "range": [COLOURS[6], COLOURS[3], COLOURS[0]],
}


def draw_figures(results: Results) -> tuple[Picture, ...]:
    """Return the figures for which there are measurements."""
    drawn = (_bytes(results), _rates(results), _savings(results), _storage(results))
    return tuple(picture for picture in drawn if picture is not None)


def _picture(key: str, title: str, caption: str, rows: Sequence[Any], spec: Spec) -> Picture | None:
    return Picture(key, title, caption, {"data": {"values": list(rows)}, **spec}) if rows else None


def _form_axis(**more: Any) -> Spec:
    order = [form.title for form in FORMS.values()]
    return {"field": "format", "type": "nominal", "sort": order, "title": None,
            "axis": {"labelLimit": 220}, **more}  # fmt: skip


def _bytes(results: Results) -> Picture | None:
    samples = results.settings["samples"]
    rows = [
        {"format": FORMS[form].title, "kilobytes": facts["bytes"] / samples / 1e3}
        for form in FORMS
        if (facts := results.facts(f"write/{form}")) is not None
    ]
    bars: Spec = {
        "encoding": {
            "x": {"field": "kilobytes", "type": "quantitative", "title": "kB per sample"},
            "y": _form_axis(),
        },
        "layer": [
            {"mark": {"type": "bar", "color": COLOURS[0]}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"text": {"field": "kilobytes", "format": ",.0f"}},
            },
        ],
    }
    caption = f"Raw pixels take six times the bytes of the JPEGs or so. {results.photos}."
    return _picture("bytes", "Bytes per format", caption, rows, bars)


def _rates(results: Results) -> Picture | None:
    rows = [
        {"format": FORMS[form].title, "library": library, "rate": rate.median}
        for library, form in contestants()
        if (rate := results.read((library, form), "shuffled")) is not None
    ]
    bars = _library_bars("images/s, shuffled, from memory")
    caption = (
        "Random crop, flip and normalisation, each library with its own way to read the format. "
        f"{results.photos}."
    )
    return _picture("rates", "Read rates per format", caption, rows, bars | {"height": 420})


def _library_bars(title: str) -> Spec:
    return {
        "encoding": {
            "x": {"field": "rate", "type": "quantitative", "title": title,
                  "axis": {"tickCount": 5}},
            "y": _form_axis(),
            "yOffset": {"field": "library", "sort": list(LIBRARIES)},
        },
        "layer": [
            {
                "mark": "bar",
                "encoding": {
                    "color": {"field": "library", "type": "nominal", "scale": _LIBRARY_SCALE,
                              "title": None}
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 3, "fontSize": 9},
                "encoding": {"text": {"field": "rate", "format": ",.0f"}},
            },
        ],
    }  # fmt: skip


def _storage(results: Results) -> Picture | None:
    rows = [
        {"format": FORMS[form].title, "library": library, "rate": rate, "storage": storage.title}
        for name, storage in STORAGES.items()
        for library, form in contestants()
        if (rate := results.behind(f"{name}, shuffled", (library, form))) is not None
    ]
    spec: Spec = {
        "facet": {
            "column": {
                "field": "storage",
                "title": None,
                "sort": [storage.title for storage in STORAGES.values()],
            }
        },
        "spec": {**_library_bars("images/s, shuffled"), "width": 200, "height": 420},
        "resolve": {"scale": {"x": "independent"}},
    }
    caption = (
        "Simulated, for all alike: where each sample is a request of its own, latency decides; "
        f"formats that are read from front to back hide it. {results.photos}."
    )
    return _picture("storage", "Behind slower storage", caption, rows, spec)


def _savings(results: Results) -> Picture | None:
    rows = [
        {
            "who": title_of(who),
            "group": group_of(who),
            "device": device_title(device),
            "saved": saved.median,
        }
        for device in results.devices
        for who in contestants()
        if who != BASE and (saved := results.saved(device, who)) is not None
    ]
    groups = (FORMAT, LIBRARY, BOTH)
    order = [title_of(who) for group in groups for who in contestants() if group_of(who) == group]
    band = {"least": STUDY_LEAST, "most": STUDY_MOST}
    spec: Spec = {
        "facet": {
            "column": {
                "field": "device",
                "title": None,
                "sort": [device_title(device) for device in results.devices],
            }
        },
        "spec": {
            "width": 210,
            "height": {"step": 17},
            "layer": [
                {
                    "transform": [{"calculate": str(value), "as": name} for name, value in
                                  band.items()],
                    "mark": {"type": "rect", "color": "#efe3b0"},
                    "encoding": {
                        "x": {"field": "least", "type": "quantitative",
                              "title": "training time saved", "axis": {"format": "%"}},
                        "x2": {"field": "most"},
                        "y": {"field": "who", "type": "nominal", "sort": order, "title": None,
                              "axis": {"labelLimit": 260}},
                    },
                },
                {
                    "mark": "bar",
                    "encoding": {
                        "x": {"field": "saved", "type": "quantitative"},
                        "y": {"field": "who", "type": "nominal", "sort": order},
                        "color": {"field": "group", "type": "nominal", "scale": _GROUP_SCALE,
                                  "title": "what differs"},
                    },
                },
                {
                    "mark": {"type": "text", "align": "left", "dx": 3, "fontSize": 9},
                    "encoding": {
                        "x": {"field": "saved", "type": "quantitative"},
                        "y": {"field": "who", "type": "nominal", "sort": order},
                        "text": {"field": "saved", "format": ".0%"},
                    },
                },
            ],
        },
        "resolve": {"scale": {"y": "independent"}},
    }  # fmt: skip
    caption = (
        f"Against {title_of(BASE)}, with all of the study's augmentations. The band is what the "
        f"study saved. {results.photos}."
    )
    return _picture("savings", "Training time saved", caption, rows, spec)
