"""An analysis for people: one HTML file, or a few lines in a terminal."""

from penstock.analysis.report.html import write_html
from penstock.analysis.report.terminal import print_terminal

__all__ = ["print_terminal", "write_html"]
