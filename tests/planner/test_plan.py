import re

import numpy as np
import pytest

from penstock import transforms as T
from penstock._core import Element
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.planner.plan import Node, Plan, Segment, as_written
from penstock.rng import Draws
from penstock.transforms.values import FinalSpec

CROP, FLIP, PAD = T.CenterCrop(3), T.RandomHorizontalFlip(), T.Pad(1)


def mine(image):
    return image


MINE = T.PythonStep(mine)


def test_streams_follow_the_order_written_through_nested_lists():
    plan = as_written(T.Compose([CROP, T.Compose([FLIP, T.Compose([PAD])]), T.ToDtype("float32")]))

    assert plan == Plan(
        (Segment((Node(CROP, 0), Node(FLIP, 1), Node(PAD, 2))),), FinalSpec(Element.FLOAT32)
    )


def test_functions_cut_a_plan_into_segments():
    plan = as_written(T.Compose([CROP, mine, mine, FLIP, PAD]))

    assert plan.segments == (
        Segment((Node(CROP, 0),), Node(MINE, 1)),
        Segment((), Node(MINE, 2)),
        Segment((Node(FLIP, 3), Node(PAD, 4))),
    )


def test_the_last_segment_never_ends_in_a_function():
    assert as_written(mine).segments == (Segment((), Node(MINE, 0)), Segment(()))


@pytest.mark.parametrize("transform", [None, T.ToDtype("uint8")])
def test_nothing_to_do_is_a_plan_too(transform):
    assert as_written(transform) == Plan((Segment(()),), FinalSpec())


def test_a_single_transform_needs_no_compose():
    assert as_written(CROP) == as_written(T.Compose([CROP]))


@pytest.mark.parametrize(("late", "name"), [(FLIP, "RandomHorizontalFlip"), (mine, "mine")])
def test_work_on_pixels_comes_before_the_end(late, name):
    message = (
        f"{name} (step 3): comes after ToDtype (step 2), which ends the work on pixels. "
        "Move it before ToDtype."
    )
    with pytest.raises(TransformError, match=re.escape(message)):
        as_written(T.Compose([CROP, T.ToDtype("float32"), late]))


def test_step_numbers_in_messages_count_all_steps():
    normalize = T.Normalize((0.5,), (0.5,))
    with pytest.raises(TransformError, match=re.escape("Normalize (step 4)")):
        as_written(T.Compose([CROP, FLIP, normalize, normalize]))


def test_what_is_no_transform_is_refused():
    with pytest.raises(TransformError, match="3 is not a transform"):
        as_written(3)


def test_a_segment_draws_from_the_streams_of_its_nodes():
    """Each op sees the sizes the ops before it leave, and draws from its own stream."""
    crop = T.RandomCrop(5)
    (segment,) = as_written(T.Compose([PAD, crop])).segments
    samples = np.array([4, 9])
    sizes = Sizes(np.array([10, 20]), np.array([30, 40]))

    border, box = segment.sample(7, 2, samples, sizes)

    (expected,) = crop.sample(Draws(7, 2, samples, 1), border.out_sizes(sizes))
    np.testing.assert_array_equal(box.top, expected.top)
    np.testing.assert_array_equal(box.left, expected.left)


def test_erasing_may_follow_the_final_pass():
    erasing = T.RandomErasing()
    plan = as_written(T.Compose([CROP, T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD), erasing]))

    assert plan.segments == (Segment((Node(CROP, 0),), finishing=(Node(erasing, 2),)),)
    assert as_written(T.Compose([erasing, CROP])).segments == (
        Segment((Node(erasing, 0), Node(CROP, 1))),
    )


def test_erasing_between_the_last_steps_is_refused():
    steps = [T.ToDtype("float32", scale=True), T.RandomErasing()]
    with pytest.raises(TransformError, match=r"Normalize \(step 3\).*RandomErasing \(step 2\)"):
        as_written(T.Compose([*steps, T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)]))


def test_views_count_their_steps_on():
    """What stands before MultiView has the same streams in all views, the rest its own in each."""
    transform = T.Compose([CROP, T.MultiView([FLIP, T.Compose([PAD, CROP])]), FLIP])
    plan = as_written(transform)

    assert plan.segments == (Segment((Node(CROP, 0),)),)
    assert [view.segments for view in plan.views] == [
        (Segment((Node(CROP, 0), Node(FLIP, 1), Node(FLIP, 2))),),
        (Segment((Node(CROP, 0), Node(PAD, 3), Node(CROP, 4), Node(FLIP, 5))),),
    ]
    assert plan.after_shared(plan.views[1]).segments == (
        Segment((Node(PAD, 3), Node(CROP, 4), Node(FLIP, 5))),
    )


def test_functions_around_and_inside_views():
    plan = as_written(T.Compose([mine, CROP, T.MultiView([PAD, T.Compose([FLIP, mine])])]))

    assert plan.segments == (Segment((), Node(MINE, 0)), Segment((Node(CROP, 1),)))
    assert [plan.after_shared(view).segments for view in plan.views] == [
        (Segment((Node(PAD, 2),)),),
        (Segment((Node(FLIP, 3),), Node(MINE, 4)), Segment(())),
    ]


def test_what_erases_finished_views_is_drawn_once_if_it_stands_before():
    erasing = T.RandomErasing()
    plan = as_written(T.Compose([T.ToDtype("float32"), erasing, T.MultiView([T.Identity()] * 2)]))

    assert plan.segments == (Segment(()),)
    assert [view.segments[-1].finishing for view in plan.views] == [(Node(erasing, 1),)] * 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.MultiView([]), "MultiView: views must be a list of transforms"),
        (lambda: T.MultiView(FLIP), r"write MultiView\(\[transform\] \* 2\)"),
        (lambda: T.MultiView([T.MultiView([FLIP])]), "one of its views is a MultiView again"),
        (
            lambda: as_written(T.RandomApply([T.MultiView([FLIP])])),
            "RandomApply: MultiView changes how many",
        ),
        (lambda: T.MultiView([T.MixUp(num_classes=2)]), "works on whole batches"),
        (lambda: as_written(T.Compose([T.MultiView([FLIP])] * 2)), "MultiView: there are two"),
        (
            lambda: as_written(T.MultiView([FLIP, T.ToDtype("float16")])),
            "view 1 ends in uint8, view 2 in float16; they must agree",
        ),
        (
            lambda: as_written(T.Compose([T.MultiView([T.ToDtype("float32"), PAD]), FLIP])),
            r"RandomHorizontalFlip \(step 2\): comes after ToDtype \(step 1\)",
        ),
    ],
)
def test_views_that_cannot_be_are_refused(make, message):
    with pytest.raises(TransformError, match=message):
        make()
