"""Charts written in Vega-Lite: the script that draws them in a page, and drawings as SVG.

The only place that knows vl-convert, which carries Vega-Lite's JavaScript.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from penstock.errors import AnalysisError

VEGA_LITE_VERSION = "6.4"  # vl-convert carries several; one of them keeps reports the same


@cache  # putting it together takes a second
def chart_script() -> str:
    """Return the JavaScript that draws charts, as `window.vegaEmbed`."""
    script: str = _vl_convert().javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE_VERSION
    )
    return script


def draw_svg(spec: Mapping[str, Any]) -> str:
    """Return a chart as an SVG drawing that needs no script."""
    drawing: str = _vl_convert().vegalite_to_svg(dict(spec), vl_version=VEGA_LITE_VERSION)
    return drawing


def _vl_convert() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise AnalysisError(
            "Report: the charts need vl-convert, which is not installed. "
            'Install it with: pip install "penstock[report]"'
        ) from error
    return vl_convert
