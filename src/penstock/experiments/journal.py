"""The measurements of an experiment, kept in a JSON file as they are made.

An experiment that was interrupted goes on where it stopped, and its figures can be drawn again
without measuring.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from penstock.errors import AnalysisError, OutputError

VERSION = 1
FILE_NAME = "results.json"
# Of the environment, what may change between two sittings without spoiling a comparison.
_MAY_DIFFER = frozenset({"system"})


@dataclass(slots=True)
class Journal:
    """What an experiment was told, where it ran, and what it has measured so far."""

    experiment: str
    settings: Mapping[str, Any]
    environment: Mapping[str, str]
    created: str = field(
        default_factory=lambda: datetime.now(timezone.utc).isoformat("T", "seconds")
    )
    measurements: dict[str, Any] = field(default_factory=dict)
    version: int = VERSION

    def keep(self, key: str, value: Any, path: Path) -> None:
        """Add a measurement, and write everything: a crash loses what is being measured only."""
        self.measurements[key] = value
        text = json.dumps(asdict(self), indent=1, allow_nan=False) + "\n"
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            beside.write_text(text, encoding="utf-8")
            os.replace(beside, path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise OutputError(
                f"{path}: the results cannot be written: {error.strerror}. Make room, or name "
                "another folder with --out; the measurements so far are kept if they were written."
            ) from error


def read_journal(path: Path, experiment: str) -> Journal:
    """Return the results in a file; AnalysisError if they are not those of this experiment."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AnalysisError(
            f"{path}: no results to read: {error.strerror}. Run the experiment first."
        ) from error
    except ValueError as error:
        raise AnalysisError(
            f"{path}: not a file of results ({error}). Name another folder with --out."
        ) from error
    names = set(Journal.__dataclass_fields__)
    if not isinstance(found, dict) or set(found) != names or found["version"] != VERSION:
        raise AnalysisError(
            f"{path}: not results of an experiment that this version reads. "
            "Name another folder with --out, or measure again with --fresh."
        )
    if found["experiment"] != experiment:
        raise AnalysisError(
            f"{path}: holds the experiment {found['experiment']!r}, not {experiment!r}. "
            "Name another folder with --out."
        )
    return Journal(**found)


def open_journal(path: Path, begun: Journal, *, fresh: bool) -> Journal:
    """Return the results so far: those in the file if they can be continued, else `begun`.

    Settings and environment must be the same: figures measured in another way, or with other
    versions, do not belong in one table.
    """
    if fresh or not path.exists():
        return begun
    found = read_journal(path, begun.experiment)
    differences = [
        *_differences(found.settings, json.loads(json.dumps(dict(begun.settings)))),
        *_differences(found.environment, begun.environment, _MAY_DIFFER),
    ]
    if differences:
        raise AnalysisError(
            f"{path}: these results were measured differently: {'; '.join(differences)}. "
            "Repeat the arguments to continue them, name another folder with --out, or begin "
            "anew with --fresh, which replaces them."
        )
    return found


def _differences(
    before: Mapping[str, Any], now: Mapping[str, Any], besides: frozenset[str] = frozenset()
) -> list[str]:
    names = sorted((set(before) | set(now)) - besides)
    return [
        f"{name} was {before.get(name)}, now {now.get(name)}"
        for name in names
        if before.get(name) != now.get(name)
    ]
