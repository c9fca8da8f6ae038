"""What samples carry beside their image: boxes, labels and keypoints that follow it."""

from penstock.transforms.targets.box_format import BoxFormat
from penstock.transforms.targets.move import move_targets
from penstock.transforms.targets.read import read_targets
from penstock.transforms.targets.targets import Targets

__all__ = ["BoxFormat", "Targets", "move_targets", "read_targets"]
