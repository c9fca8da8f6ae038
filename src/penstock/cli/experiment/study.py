"""An experiment as the command line knows it: its options, before anything heavy is imported."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.experiments.experiment import Experiment
    from penstock.experiments.findings import Findings
    from penstock.experiments.journal import Journal


@dataclass(frozen=True, slots=True)
class Study:
    """One experiment; `make` and `draw` import what they need when they are called."""

    name: str
    help: str  # one line in the list of all experiments
    description: str
    add_options: Callable[[argparse.ArgumentParser], None]
    make: Callable[[argparse.Namespace], Experiment]
    draw: Callable[[Journal], Findings]
