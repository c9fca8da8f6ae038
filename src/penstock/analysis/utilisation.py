"""How busy an accelerator was over time, from the intervals in which it worked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.analysis.devices import Interval
from penstock.analysis.results import Utilisation

_SLICES = 60


def utilisation(source: str, busy: Sequence[Interval]) -> Utilisation | None:
    """Cut the time from the first step to the last into equal slices; None without steps."""
    if not busy:
        return None
    begins, ends = (np.array(side) for side in zip(*busy, strict=True))
    limits = np.linspace(begins[0], ends[-1], _SLICES + 1)
    overlap = np.minimum(ends[:, None], limits[None, 1:]) - np.maximum(
        begins[:, None], limits[None, :-1]
    )
    shares = np.clip(overlap, 0, None).sum(axis=0) / np.diff(limits)
    seconds = limits[1:] - limits[0]
    return Utilisation(source, tuple(seconds.tolist()), tuple(np.clip(shares, 0, 1).tolist()))
