"""What the planner knows of a stage before anything runs."""

from dataclasses import replace

import numpy as np

from penstock import transforms as T
from penstock._core import Element
from penstock.geometry import Size, Sizes
from penstock.planner.access import Access
from penstock.planner.draft import replace_stages
from penstock.planner.plan import as_written
from penstock.planner.rules import RULES
from penstock.planner.rules.rule import rewrite
from penstock.transforms.moves import CropMove


def draft(*ops):
    (segment,) = as_written(T.Compose(list(ops))).segments
    sizes = Sizes(np.array([300, 200]), np.array([400, 500]))
    return segment.draft(0, 0, np.arange(2), sizes)[0]


def test_sizes_streams_and_kinds_are_known_before_running():
    drawn = draft(
        T.RandomRotation(10), T.RandomResizedCrop(64), T.GaussianBlur(3), T.RandomInvert()
    )
    assert [sorted(stage.streams) for stage in drawn.stages] == [[0], [1], [1], [2], [3]]
    assert [sizes[1] for sizes in drawn.sizes_along()[:2]] == [Size(200, 500)] * 2
    assert [sizes[0] for sizes in drawn.sizes_along()[3:]] == [Size(64, 64)] * 3
    kinds = [stage.access for stage in drawn.stages]
    assert kinds[0] == {Access.GATHER}
    assert kinds[1:4] == [{Access.MOVED}, {Access.RESAMPLED}, {Access.NEIGHBOURHOOD}]
    assert drawn.stages[0].follows == {"image", "boxes", "keypoints", "masks"}
    assert drawn.stages[4].follows == {"image"}
    assert {stage.element for stage in drawn.stages} == {Element.UINT8}


def test_a_moved_stage_keeps_its_stream():
    drawn = draft(T.RandomInvert(), T.CenterCrop(50))
    effect, crop = drawn.moves
    moved = replace_stages(drawn, 0, 2, (crop, effect, crop))
    assert [sorted(stage.streams) for stage in moved.stages] == [[1], [0], [1]]
    joined = replace_stages(draft(T.CenterCrop(90), T.CenterCrop(50)), 0, 2, (crop,))
    assert [sorted(stage.streams) for stage in joined.stages] == [[0, 1]]
    made = replace_stages(draft(T.RandomInvert(), T.RandomGrayscale()), 0, 2, (crop,))
    assert [sorted(stage.streams) for stage in made.stages] == [[0, 1]]
    assert isinstance(made.moves[0], CropMove)


def streams_planned(*ops, rows=64):
    """What is done after all rules, and by whom."""
    (segment,) = as_written(T.Compose(list(ops))).segments
    sizes = Sizes(np.full(rows, 300), np.full(rows, 400))
    drawn = segment.draft(0, 0, np.arange(rows), sizes)[0]
    planned = rewrite(drawn, RULES)[0]
    return [(type(stage.move).__name__, sorted(stage.streams)) for stage in planned.stages]


def test_an_inserted_grayscale_is_that_of_its_op():
    """Others keep what they drew: a jitter behind it, and an op that is gray for some samples."""
    planned = streams_planned(T.CenterCrop(200), T.RandomGrayscale(0.5), T.ColorJitter(0.4))
    assert planned[0] == ("EffectMove", [1])
    assert ("CropMove", [0]) in planned
    assert planned[-1] == ("EffectMove", [2])
    other = streams_planned(T.CenterCrop(200), T.ColorJitter(hue=0.1), T.RandomGrayscale(0.5))
    assert [streams for name, streams in other if name == "EffectMove"] == [[1], [2]]


def test_what_two_ops_have_drawn_is_that_of_both():
    flips = streams_planned(T.RandomHorizontalFlip(), T.RandomVerticalFlip())
    assert flips == [("FlipMove", [0, 1])]


def test_a_warp_that_also_resizes_is_that_of_both():
    drawn = draft(T.RandomRotation(10), T.Resize(50))
    warp = drawn.moves[0]
    moved = replace_stages(drawn, 0, 2, (replace(warp, height=warp.height // 2),))
    assert [sorted(stage.streams) for stage in moved.stages] == [[0, 1]]
