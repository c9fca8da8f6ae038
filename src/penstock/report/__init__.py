"""An analysis for people: one HTML file, or a few lines in a terminal.

| file | does |
|---|---|
| html.py | the page: puts the parts together, with all that it needs inside |
| opening.py | its top: the verdict, its evidence, and where the time goes |
| sections.py | its words and tables: advice, what-ifs, predictions, files |
| figure.py | what a figure is made of, and the look that all of them share |
| bars.py, sweeps.py, time_series.py | the figures |
| terminal.py | the same in a terminal |
| summary.py, wording.py | the few figures that sum an analysis up, and figures in words |
| vega.py | what draws the figures: a script for pages, or SVG |
| markup.py | HTML that is safe by construction |
"""

from penstock.report.html import check_target, write_html
from penstock.report.terminal import print_terminal

__all__ = ["check_target", "print_terminal", "write_html"]
