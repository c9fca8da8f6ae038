"""Where penstock keeps what it can make again."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.errors import OutputError


def user_cache_folder() -> Path | None:
    """Return the folder for remembered scans and sample sets; it need not exist, nor be writable.

    `$PENSTOCK_CACHE` if set, else `$XDG_CACHE_HOME/penstock`, else `~/.cache/penstock`. None for a
    user without a home folder, as in a container whose user has a number but no name.
    """
    chosen = os.environ.get("PENSTOCK_CACHE")
    if chosen:
        return Path(os.path.expanduser(chosen))
    # The XDG specification tells programs to ignore a relative path here.
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(xdg):
        return Path(xdg, "penstock")
    # Stays "~" where neither HOME nor a name of the user is known.
    home = os.environ.get("HOME", os.path.expanduser("~"))
    return Path(home, ".cache", "penstock") if os.path.isabs(home) else None


def needed_cache_folder() -> Path:
    """Return the folder, for what must be written somewhere; OutputError if that cannot be done."""
    folder = user_cache_folder()
    if folder is None:
        raise OutputError(
            "There is no home folder to keep files in: HOME is not set, and this user has no name. "
            "Set PENSTOCK_CACHE to a folder that can be written."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        can_write = os.access(folder, os.W_OK | os.X_OK)
        reason = "not writable"
    except OSError as error:
        can_write, reason = False, error.strerror or str(error)
    if not can_write:
        raise OutputError(
            f"{folder}: files cannot be kept there ({reason}). "
            "Set PENSTOCK_CACHE to a folder that can be written."
        )
    return folder
