"""Where penstock keeps what it can make again. Imports nothing of ours."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache_folder() -> Path:
    """Return the folder for remembered scans and sample sets; it need not exist yet.

    `$PENSTOCK_CACHE` wins, then `$XDG_CACHE_HOME/penstock`, then `~/.cache/penstock`.
    """
    chosen = os.environ.get("PENSTOCK_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    # The XDG specification tells programs to ignore a relative path here.
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    base = xdg if xdg.is_absolute() else Path.home() / ".cache"
    return base / "penstock"
