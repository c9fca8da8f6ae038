"""The questions that can be asked, one a file: each makes a Case of a list of image files."""

from __future__ import annotations

from benchmarks.cases import classify_224

CASES = {classify_224.NAME: classify_224.make_case}
