"""Stand-ins for the demo's loaders; importable, because processes are started with them."""

import os
import time

from penstock.demo.loaders import Work
from penstock.demo.passes import Pass
from penstock.errors import SourceError


class FakeSide:
    """A loader of a known speed that takes no time at all."""

    images_per_s = 100.0

    def __init__(self, work: Work) -> None:
        self.work = work

    def run_pass(self, cores: int) -> Pass:
        """Tell the speed, which grows with the cores."""
        return Pass(100, 100 / (self.images_per_s * cores), 0.25)

    def fail(self, how: str) -> None:
        """Fail in one of three ways."""
        if how == "penstock":
            raise SourceError("class_0/1.jpg: not an image.")
        if how == "die":
            os._exit(7)
        raise ZeroDivisionError("division by zero")

    def sleep(self, seconds: float) -> None:
        """Be busy."""
        time.sleep(seconds)


class FastSide(FakeSide):
    """Four times as fast."""

    images_per_s = 400.0


class UnmakeableSide(FakeSide):
    """Needs what is not installed."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        raise ImportError("No module named 'torch'")
