import re
from pathlib import Path

import numpy as np
import pytest

from penstock._core import PadMode, StepColumn
from penstock.geometry import Sizes
from penstock.planner.lower import NO_RESIZE, lower
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove

BILINEAR = 2


def column(*values):
    return np.array(values, dtype=np.int64)


def sizes_of(*sizes):
    return Sizes(*np.array(sizes, dtype=np.int64).T)


def crop(top, left, height, width):
    return CropMove(column(top), column(left), column(height), column(width))


def resize(height, width):
    return ResizeMove(column(height), column(width), BILINEAR)


def flip(horizontal=False, vertical=False):
    return FlipMove(np.array([horizontal]), np.array([vertical]))


def pad(left, top, right, bottom, mode=PadMode.EDGE, fill=(0, 0, 0)):
    return PadMove(column(left), column(top), column(right), column(bottom), mode, fill)


def steps_of(*moves, size=(100, 200)):
    """The steps of one image, as dictionaries of what is not an identity."""
    lowered = lower(moves, sizes_of(size))
    assert lowered.table.shape[1] == lowered.counts[0]
    return [_told(step) for step in lowered.table[0]]


def _told(step):
    names = ("pad", "crop", "resize", "window", "flip")
    parts = {
        "pad": step[StepColumn.PAD_LEFT : StepColumn.PAD_BOTTOM + 1],
        "crop": step[StepColumn.CROP_TOP : StepColumn.CROP_WIDTH + 1],
        "resize": step[StepColumn.RESIZE_HEIGHT : StepColumn.RESIZE_WIDTH + 1],
        "window": step[StepColumn.WINDOW_TOP : StepColumn.WINDOW_WIDTH + 1],
        "flip": step[StepColumn.FLIP_HORIZONTAL : StepColumn.FLIP_VERTICAL + 1],
    }
    told = {name: tuple(parts[name].tolist()) for name in names}
    if not any(told["pad"]):
        del told["pad"]
    if step[StepColumn.FILTER] == NO_RESIZE:
        assert told.pop("resize") == told["crop"][2:]
    if told["window"] == (0, 0, *told.get("resize", told["crop"][2:])):
        del told["window"]
    if not any(told["flip"]):
        del told["flip"]
    return told


def test_columns_are_the_fields_of_the_cores_step():
    header = Path(__file__).parents[2] / "cpp" / "engine" / "program.h"
    fields = re.findall(r"\bFIELD\((?!name\))(\w+)\)", header.read_text())

    assert [name.lower() for name in StepColumn.__members__] == fields


def test_no_moves_are_one_step():
    assert steps_of() == [{"crop": (0, 0, 100, 200)}]


def test_crops_compose():
    assert steps_of(crop(10, 20, 50, 60), crop(1, 2, 30, 40)) == [{"crop": (11, 22, 30, 40)}]


def test_crop_then_resize_is_one_step():
    assert steps_of(crop(10, 20, 50, 60), resize(25, 30)) == [
        {"crop": (10, 20, 50, 60), "resize": (25, 30)}
    ]


def test_crop_after_resize_is_a_window():
    assert steps_of(resize(50, 60), crop(5, 6, 40, 40), crop(1, 1, 9, 9)) == [
        {"crop": (0, 0, 100, 200), "resize": (50, 60), "window": (6, 7, 9, 9)}
    ]


def test_resize_to_the_same_size_is_nothing():
    assert steps_of(crop(0, 0, 50, 60), resize(50, 60)) == [{"crop": (0, 0, 50, 60)}]


def test_two_resizes_are_two_steps():
    assert steps_of(resize(50, 60), crop(1, 2, 30, 40), resize(7, 8)) == [
        {"crop": (0, 0, 100, 200), "resize": (50, 60), "window": (1, 2, 30, 40)},
        {"crop": (0, 0, 30, 40), "resize": (7, 8)},
    ]


def test_flips_cancel_out():
    both = flip(horizontal=True, vertical=True)
    assert steps_of(both, flip(vertical=True)) == [{"crop": (0, 0, 100, 200), "flip": (1, 0)}]
    assert steps_of(resize(5, 6), both, both, resize(7, 8))[1:] == [
        {"crop": (0, 0, 5, 6), "resize": (7, 8)}
    ]


def test_crop_after_flip_is_mirrored_and_done_before():
    assert steps_of(flip(horizontal=True), crop(10, 20, 50, 60)) == [
        {"crop": (10, 200 - 20 - 60, 50, 60), "flip": (1, 0)}
    ]
    assert steps_of(resize(50, 60), flip(vertical=True), crop(1, 2, 30, 40)) == [
        {
            "crop": (0, 0, 100, 200),
            "resize": (50, 60),
            "window": (50 - 1 - 30, 2, 30, 40),
            "flip": (0, 1),
        }
    ]


def test_resize_after_flip_is_a_step_of_its_own():
    assert steps_of(flip(horizontal=True), resize(50, 60)) == [
        {"crop": (0, 0, 100, 200), "flip": (1, 0)},
        {"crop": (0, 0, 100, 200), "resize": (50, 60)},
    ]


def test_pad_then_crop_resize_flip_is_one_step():
    moves = (pad(1, 2, 3, 4), crop(5, 6, 70, 80), resize(7, 8), flip(horizontal=True))
    assert steps_of(*moves) == [
        {"pad": (1, 2, 3, 4), "crop": (5, 6, 70, 80), "resize": (7, 8), "flip": (1, 0)}
    ]


@pytest.mark.parametrize(
    "before", [crop(0, 0, 99, 200), resize(9, 9), flip(vertical=True), pad(1, 0, 0, 0)]
)
def test_pad_after_anything_is_a_new_step(before):
    steps = steps_of(before, pad(1, 2, 3, 4))

    assert len(steps) == 2
    assert steps[1]["pad"] == (1, 2, 3, 4)


def test_a_border_of_one_colour_joins_a_crop_that_reaches_the_edges_next_to_it():
    plain = PadMode.CONSTANT
    corner = crop(0, 0, 60, 70), pad(3, 2, 0, 0, plain)
    other_corner = crop(40, 130, 60, 70), pad(0, 0, 3, 2, plain)

    assert steps_of(*corner) == [{"pad": (3, 2, 0, 0), "crop": (0, 0, 62, 73)}]
    assert steps_of(*other_corner) == [{"pad": (0, 0, 3, 2), "crop": (40, 130, 62, 73)}]
    assert steps_of(*corner, crop(1, 1, 50, 60)) == [{"pad": (3, 2, 0, 0), "crop": (1, 1, 50, 60)}]


@pytest.mark.parametrize(
    "moves",
    [
        (crop(0, 1, 60, 70), pad(3, 0, 0, 0, PadMode.CONSTANT)),
        (crop(1, 0, 60, 70), pad(0, 3, 0, 0, PadMode.CONSTANT)),
        (crop(0, 0, 60, 70), pad(0, 0, 3, 0, PadMode.CONSTANT)),
        (crop(0, 0, 60, 70), pad(0, 0, 0, 3, PadMode.CONSTANT)),
        (crop(0, 0, 60, 70), pad(3, 0, 0, 0, PadMode.EDGE)),
        (crop(0, 0, 60, 70), flip(horizontal=True), pad(3, 0, 0, 0, PadMode.CONSTANT)),
        (resize(60, 70), pad(3, 0, 0, 0, PadMode.CONSTANT)),
        (pad(1, 0, 0, 0), crop(0, 0, 60, 70), pad(3, 0, 0, 0, PadMode.CONSTANT)),
    ],
)
def test_any_other_border_does_not(moves):
    assert len(steps_of(*moves)) == 2


@pytest.mark.parametrize(
    ("moves", "rows", "columns"),
    [
        ((pad(4, 4, 4, 4, PadMode.CONSTANT), crop(10, 20, 30, 40)), (6, 36), (16, 56)),
        ((pad(4, 4, 4, 4, PadMode.CONSTANT), crop(0, 0, 30, 40)), (0, 26), (0, 36)),
        ((pad(4, 4, 4, 4, PadMode.CONSTANT), crop(80, 180, 28, 28)), (76, 100), (176, 200)),
        ((pad(40, 40, 0, 0, PadMode.CONSTANT), crop(0, 0, 30, 40)), (0, 100), (0, 200)),
        ((pad(4, 4, 4, 4, PadMode.REFLECT), crop(10, 20, 30, 40)), (0, 100), (0, 200)),
        ((pad(4, 4, 4, 4, PadMode.CONSTANT), resize(50, 50)), (0, 100), (0, 200)),
    ],
)
def test_what_is_read_of_an_image_with_a_border(moves, rows, columns):
    """Only what is seen of it, where the core can add the border on its way; else all of it."""
    size = sizes_of((100, 200))

    found = lower(moves, size).regions(size)

    assert (found.top.item(), found.bottom.item()) == rows
    assert (found.left.item(), found.right.item()) == columns


@pytest.mark.parametrize("before", [crop(0, 0, 100, 200), resize(100, 200), pad(0, 0, 0, 0)])
def test_what_changes_nothing_takes_no_step(before):
    assert len(steps_of(before, pad(1, 2, 3, 4))) == 1


def test_pad_carries_mode_and_colour():
    step = lower([pad(1, 1, 1, 1, PadMode.CONSTANT, (1, 2, 255))], sizes_of((3, 3))).table[0, 0]

    assert step[StepColumn.PAD_MODE] == PadMode.CONSTANT
    assert step[StepColumn.PAD_FILL] == 1 | 2 << 8 | 255 << 16


def test_the_order_of_the_passes_is_pillows():
    from penstock.pillow_order import vertical_first

    moves = [crop(10, 20, 90, 31), resize(24, 30)]
    step = lower(moves, sizes_of((100, 200))).table[0, 0]

    assert step[StepColumn.VERTICAL_FIRST] == vertical_first(
        column(90), column(31), column(24), column(30)
    )


def test_each_sample_takes_only_the_steps_it_needs():
    """One is mirrored before the resize, one is not, one has its size already."""
    moves = [
        FlipMove(np.array([True, False, False]), np.zeros(3, dtype=np.bool_)),
        ResizeMove(column(10, 10, 10), column(20, 20, 20), BILINEAR),
    ]
    steps = lower(moves, sizes_of((40, 50), (40, 50), (10, 20)))

    assert steps.counts.tolist() == [2, 1, 1]
    assert steps.table[:, 0, StepColumn.FILTER].tolist() == [NO_RESIZE, BILINEAR, NO_RESIZE]
    assert [_told(step) for step in steps.table[1:, 1]] == [{"crop": (0, 0, 10, 20)}] * 2


def test_an_empty_batch_is_no_trouble():
    nothing = Sizes(np.empty(0, np.int64), np.empty(0, np.int64))

    assert lower([], nothing).table.shape == (0, 1, len(StepColumn))
