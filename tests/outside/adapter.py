"""penstock's transforms behind torchvision v2's calls, so that torchvision's tests can judge them.

Draws are ours, with a seed from torch's generator: what a test repeats by torch.manual_seed repeats
here. Pixels go through the native core, boxes and keypoints through `move_targets`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

from penstock import transforms as ours
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.move_targets import move_targets
from penstock.transforms.moves import Move, out_sizes
from penstock.transforms.op import BoxOp, TargetOp
from penstock.transforms.targets import Targets
from tests.outside.params import describe, watch_draws
from tests.outside.samples import (
    find_size,
    is_image,
    move_image,
    move_keypoints,
    move_mask,
    read_boxes,
    write_boxes,
)
from tests.outside.second_opinion import COMPARED, assert_as_torchvision

SCRIPTING = "TorchScript: penstock's transforms are not torch modules"


class Drawn(dict[str, Any]):
    """What torchvision's make_params returns, and beside it what penstock drew."""

    def __init__(self, moves: tuple[Move, ...], sizes: Sizes, targets: Targets | None) -> None:
        super().__init__()
        self.moves = moves
        self.sizes = sizes
        self.after = out_sizes(moves, sizes)
        self.targets = targets  # after the moves, of an op that asked for them


class Adapter(v2.Transform):
    """Base of the adapters; each is named as the transform that it stands for, in both packages."""

    uses: ClassVar[int] = 0  # calls of any adapter; a test that adds none judges torchvision alone
    decides_first: ClassVar[bool] = False  # torchvision draws one number before it asks for others

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        Adapter.uses += 1
        self.arguments = (args, kwargs)
        self.op = getattr(ours, self.name)(
            *map(_translate, args), **{key: _translate(value) for key, value in kwargs.items()}
        )

    @property
    def name(self) -> str:
        return type(self).__name__

    def __getattr__(self, name: str) -> Any:
        """Arguments are the op's."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["op"], name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the op itself: the class exists only while torchvision's names are replaced."""
        return _restore, (self.name, self.op, self.arguments)

    def __prepare_scriptable__(self) -> Any:
        pytest.skip(SCRIPTING)

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        return self._original()._extract_params_for_v1_transform()

    def _original(self) -> v2.Transform:
        """torchvision's transform with the same arguments."""
        args, kwargs = self.arguments
        return ORIGINALS[self.name](*args, **kwargs)

    def forward(self, *inputs: Any) -> Any:
        if self.decides_first:
            torch.rand(1)
        return super().forward(*inputs)

    def make_params(self, flat_inputs: list[Any]) -> Drawn:
        Adapter.uses += 1
        sizes = find_size(flat_inputs)
        draws = Draws(int(torch.randint(1 << 62, ())), 0, np.zeros(1, dtype=np.int64), 0)
        if isinstance(self.op, TargetOp):
            return self._draw_with_boxes(draws, sizes, flat_inputs)
        with watch_draws(self.name) as handed_over:
            drawn = Drawn(self.op.sample(draws, sizes), sizes, None)
        drawn.update(describe(self.name, drawn.moves, handed_over))
        return drawn

    def _draw_with_boxes(self, draws: Draws, sizes: Sizes, items: list[Any]) -> Drawn:
        if isinstance(self.op, BoxOp):
            return Drawn((), sizes, None)
        boxes = next((item for item in items if isinstance(item, tv_tensors.BoundingBoxes)), None)
        given = Targets(np.zeros(2, dtype=np.int64))
        if boxes is not None:
            given = read_boxes(boxes, clamps=True)
        moves, after = self.op.sample_targets(draws, sizes, given)
        drawn = Drawn(moves, sizes, after)
        if drawn.after[0] != sizes[0]:
            kept = torch.from_numpy((after.boxes != 0).any(axis=1))
            drawn.update(describe(self.name, moves, None), is_within_crop_area=kept)
        return drawn

    def transform(self, inpt: Any, params: Drawn) -> Any:
        if isinstance(self.op, BoxOp):
            return self._change_boxes(inpt, params.sizes)
        if not params.moves:
            return inpt
        moved = self._apply(inpt, params)
        if params and self.name in COMPARED:
            assert_as_torchvision(self._original(), inpt, dict(params), moved)
        return moved

    def _apply(self, inpt: Any, params: Drawn) -> Any:
        size = params.after[0]
        if isinstance(inpt, tv_tensors.BoundingBoxes):
            boxes = params.targets or self._move(read_boxes(inpt, clamps=True), params)
            return write_boxes(boxes, inpt, size)
        if isinstance(inpt, tv_tensors.KeyPoints):
            return move_keypoints(inpt, lambda points: self._move(points, params), size)
        if isinstance(inpt, tv_tensors.Mask):
            return move_mask(inpt, params.moves)
        if is_image(inpt):
            return move_image(inpt, params.moves, getattr(self.op, "num_output_channels", None))
        return inpt

    def _change_boxes(self, inpt: Any, sizes: Sizes) -> Any:
        if not isinstance(inpt, tv_tensors.BoundingBoxes):
            return inpt
        clamps = getattr(self.op, "clamping_mode", None) == "auto"
        return write_boxes(self.op.apply(read_boxes(inpt, clamps=clamps), sizes), inpt, sizes[0])

    @staticmethod
    def _move(targets: Targets, params: Drawn) -> Targets:
        return move_targets(params.moves, targets, params.sizes)


# torchvision's own classes, by name, while adapters stand in their places.
ORIGINALS: dict[str, type[v2.Transform]] = {}


def _restore(name: str, op: object, arguments: tuple[Any, ...]) -> Adapter:
    adapter = getattr(v2, name).__new__(getattr(v2, name))
    v2.Transform.__init__(adapter)
    adapter.op = op
    adapter.arguments = arguments
    return adapter


def _translate(argument: Any) -> Any:
    """torchvision's ways to give an argument that penstock has no use for."""
    if isinstance(argument, Adapter):
        return argument.op
    if isinstance(argument, (list, torch.nn.ModuleList)) and any(
        isinstance(item, Adapter) for item in argument
    ):
        return [_translate(item) for item in argument]
    if isinstance(argument, dict) and "others" in argument:  # fill for each kind of input
        return argument["others"]
    return argument
