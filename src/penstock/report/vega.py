"""Vega-Lite's JavaScript, through vl-convert: the only place that knows it."""

from __future__ import annotations

from functools import cache

from penstock.errors import AnalysisError

VEGA_LITE_VERSION = "6.4"  # vl-convert carries several; one of them keeps reports the same


@cache  # putting it together takes a second
def chart_script() -> str:
    """Return the JavaScript that draws charts, as `window.vegaEmbed`."""
    try:
        from vl_convert import javascript_bundle
    except ImportError as error:
        raise AnalysisError(
            "HTML report: the charts need vl-convert, which is not installed. "
            'Install it with: pip install "penstock[report]"'
        ) from error
    return javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE_VERSION)
