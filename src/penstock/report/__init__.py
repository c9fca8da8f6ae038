"""An analysis for people: one HTML file, or a few lines in a terminal."""

from penstock.report.html import check_target, write_html
from penstock.report.terminal import print_terminal

__all__ = ["check_target", "print_terminal", "write_html"]
