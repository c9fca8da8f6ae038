"""Stand-ins for the demo's loaders; importable, because processes are started with them."""

import os
import time

from penstock.cli.demo_loaders import Pass, Work
from penstock.errors import SourceError


class FakeSide:
    """A loader of a known speed that takes no time at all."""

    images_per_s = 100.0

    def __init__(self, work: Work) -> None:
        self.work = work
        self.passes = 0

    def run_pass(self, cores: int) -> Pass:
        """Tell the speed, which grows with the cores."""
        self.passes += 1
        return Pass(100, 100 / (self.images_per_s * cores), 0.25)

    def fail(self, how: str) -> None:
        """Fail in one of four ways."""
        if how == "penstock":
            raise SourceError("class_0/1.jpg: not an image.")
        if how == "import":
            raise ImportError("No module named 'torch'")
        if how == "die":
            os._exit(7)
        raise ZeroDivisionError("division by zero")

    def sleep(self, seconds: float) -> None:
        """Be busy."""
        time.sleep(seconds)


class FakePenstock(FakeSide):
    """Four times as fast."""

    images_per_s = 400.0


class FakeTorchvision(FakeSide):
    """The reference."""

    def count_identical(self, images: int) -> tuple[int, int]:
        """Find no difference."""
        return images, images


class DifferingTorchvision(FakeTorchvision):
    """A reference whose images are not ours."""

    def count_identical(self, images: int) -> tuple[int, int]:
        """Find one difference."""
        return images - 1, images


class MissingTorchvision(FakeTorchvision):
    """A reference that is not installed."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        raise ImportError("No module named 'torch'")
