"""Fast rules for warps stay within their bounds, and fill is seen where it was."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from native import run_natively
from penstock import transforms as T
from penstock._core import Effect, Engine
from penstock.geometry import Sizes
from penstock.planner.draft import Draft, Stage, verify
from penstock.planner.lower import lower
from penstock.planner.plan import as_written
from penstock.planner.rules import BY_NAME, of_fidelity
from penstock.planner.rules.rule import Fidelity, rewrite_moves
from penstock.reference.pipeline import run_moves
from penstock.transforms.effects import EffectMove
from penstock.transforms.moves import ResizeMove

EXACT = of_fidelity(Fidelity.EXACT)
SHRINK, COMPOSE = BY_NAME["warp_then_shrink"], BY_NAME["compose_warps"]
ENLARGE, ROUND = BY_NAME["resize_in_warp"], BY_NAME["warp_in_fixed_point"]
seeds = st.integers(0, 2**32)
filters = st.sampled_from(["nearest", "bilinear", "bicubic"])


def make_photo(size, seed):
    """What photographs have: detail that is weaker the finer it is, flat areas and edges."""
    rng = np.random.default_rng(seed)
    height, width = size
    total = np.zeros((height, width, 3))
    for cells in (2, 4, 8, 16, 32, 64):
        coarse = rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8)
        layer = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        total += (np.asarray(layer) - 127.5) / cells
    photo = np.clip(127.5 + 1.2 * total, 0, 255).astype(np.uint8)
    for _ in range(4):
        top, left = rng.integers(0, height), rng.integers(0, width)
        photo[top : top + height // 4, left : left + width // 4] //= 2
    return np.asarray(Image.fromarray(photo).filter(ImageFilter.GaussianBlur(0.7)))


def assert_within(bound, exact, fast):
    assert exact.shape == fast.shape
    apart = np.abs(exact.astype(float) - fast)
    assert apart.mean() <= bound.mean
    assert apart.max() <= bound.most
    assert 10 * math.log10(255**2 / max((apart**2).mean(), 1e-9)) >= bound.psnr_db


def draw(ops, sizes, seed):
    return as_written(T.Compose(ops)).segments[0].sample(seed, 0, np.arange(len(sizes)), sizes)


def plan(moves, sizes, rule):
    """The moves by exact rules alone and with the rule."""
    exact, fast = (rewrite_moves(moves, sizes, rules) for rules in (EXACT, [*EXACT, rule]))
    stages = [
        Draft(tuple(Stage(move, frozenset()) for move in version), sizes)
        for version in (moves, fast)
    ]
    verify(stages[1], stages[0])
    return exact, fast


def sizes_of(images):
    return Sizes(*np.array([image.shape[:2] for image in images], dtype=np.int64).T)


def is_reduced(moves):
    return isinstance(moves[0], ResizeMove) or isinstance(moves[1], ResizeMove)


@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    filter=filters,
    fill=st.sampled_from([0, (255, 255, 255), (10, 200, 90)]),
    before=st.sampled_from([None, T.CenterCrop((301, 333)), T.RandomCrop((260, 290))]),
    after=st.sampled_from([None, T.CenterCrop((150, 170)), T.RandomCrop((230, 210))]),
    short_side=st.integers(24, 56),
    warp=st.sampled_from(["rotation", "affine", "perspective", "choice"]),
)
def test_a_reduced_warp_stays_within_its_bound(seed, filter, fill, before, after, short_side, warp):
    """Whatever part of the image is seen, mirrored or not, and beside samples without a warp."""
    warps = {
        "rotation": T.RandomRotation(180, interpolation=filter, fill=fill),
        "affine": T.RandomAffine(30, (0.3, 0.3), (0.7, 1.4), 10, interpolation=filter, fill=fill),
        "perspective": T.RandomPerspective(0.4, 0.7, interpolation=filter, fill=fill),
    }
    warps["choice"] = T.RandomApply([warps["affine"]], 0.5)
    flips = [T.RandomHorizontalFlip(), T.RandomVerticalFlip()]
    ops = [before, *flips, warps[warp], after, T.Resize(short_side)]
    rng = np.random.default_rng(seed)
    images = [make_photo(size, seed) for size in rng.integers(340, 420, (3, 2))]
    sizes = sizes_of(images)
    exact, fast = plan(draw([op for op in ops if op], sizes, seed), sizes, SHRINK)

    for wanted, got in zip(run_natively(images, exact), run_natively(images, fast), strict=True):
        assert_within(SHRINK.bound, wanted, got)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, height=st.integers(200, 300), width=st.integers(200, 300))
def test_fill_is_seen_where_it_was(seed, height, width):
    """A black image on white: where all around is black or white as written, it is as planned."""
    sizes = Sizes(np.array([height]), np.array([width]))
    ops = [
        T.RandomHorizontalFlip(),
        T.RandomAffine(180, (0.4, 0.4), (0.85, 1.1), 10, interpolation="bilinear", fill=255),
        T.Resize((16, 17)),
    ]
    exact, fast = plan(draw(ops, sizes, seed), sizes, SHRINK)
    images = [np.zeros((height, width, 3), np.uint8)]
    (wanted,), (got,) = run_natively(images, exact), run_natively(images, fast)

    assert is_reduced(fast)
    around = Image.fromarray(wanted[:, :, 0])
    darkest = np.asarray(around.filter(ImageFilter.MinFilter(3)))
    lightest = np.asarray(around.filter(ImageFilter.MaxFilter(3)))
    assert (got[:, :, 0][lightest == 0] == 0).all()
    assert (got[:, :, 0][darkest == 255] == 255).all()


def test_reference_and_core_agree_on_what_is_planned():
    """Without a decoder, the reduction is a resize like others."""
    images = [make_photo((400, 500), 0), make_photo((371, 417), 1)]
    sizes = sizes_of(images)
    ops = [T.RandomRotation(40, interpolation="bilinear"), T.CenterCrop(300), T.Resize(60)]
    _, fast = plan(draw(ops, sizes, 3), sizes, SHRINK)

    assert is_reduced(fast)
    for row, got in enumerate(run_natively(images, fast)):
        expected = np.asarray(run_moves(Image.fromarray(images[row]), fast, row))
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("size", [(512, 640), (509, 643)], ids=str)
@pytest.mark.parametrize("crop", [260, None])
def test_jpegs_are_decoded_smaller(tmp_path, size, crop):
    """By the decoder, also where the image ends within a block of 8 pixels."""
    path = tmp_path / "photo.jpg"
    Image.fromarray(make_photo(size, 5)).save(path, quality=95)
    sizes = Sizes(*np.array([size], dtype=np.int64).T)
    ops = [T.RandomRotation((25, 25), interpolation="bilinear"), T.Resize(60)]
    if crop:
        ops.insert(1, T.CenterCrop(crop))
    versions = plan(draw(ops, sizes, 0), sizes, SHRINK)
    results = []
    for moves in versions:
        steps = lower(moves, sizes)
        part = Engine(1, 1).fetch(0, [str(path).encode()])
        assert part.wait(60)
        after = steps.out_sizes[0]
        result = np.empty((after.height, after.width, 3), np.uint8)
        part.run_to_arrays(np.zeros(1, np.int32), steps.programs(), [result])
        assert part.wait(60)
        results.append(result)

    resize = next(move for move in versions[1] if isinstance(move, ResizeMove))
    assert resize.scales[0] == 2
    assert_within(SHRINK.bound, *results)


def enlarging_ops(crop, size, jitter=None):
    return [
        T.RandomHorizontalFlip(),
        T.RandomVerticalFlip(),
        T.RandomApply([T.RandomAffine(30, (0.1, 0.1), (0.8, 1.2), 5, interpolation="bilinear")]),
        *([jitter] if jitter else []),
        T.CenterCrop(crop),
        T.Resize(size),
    ]


@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    crop=st.sampled_from([(150, 170), (90, 200), (130, 130)]),
    size=st.sampled_from([(200, 200), (170, 260), (400, 301)]),
    jitter=st.sampled_from([None, T.ColorJitter(0.5), T.ColorJitter(0, 0, 0.5), T.Grayscale(3)]),
)
def test_a_warp_that_enlarges_stays_within_its_bound(seed, crop, size, jitter):
    """Also beside samples without a warp, and those in which fill is seen."""
    images = [make_photo(side, seed) for side in ((340, 410), (390, 350), (351, 402))]
    sizes = sizes_of(images)
    exact, fast = plan(draw(enlarging_ops(crop, size, jitter), sizes, seed), sizes, ENLARGE)

    for wanted, got in zip(run_natively(images, exact), run_natively(images, fast), strict=True):
        assert_within(ENLARGE.bound, wanted, got)


@pytest.mark.parametrize("rule", [ENLARGE, SHRINK, ROUND], ids=lambda rule: rule.name)
@pytest.mark.parametrize("side", [40, 260])
def test_a_sample_does_not_depend_on_those_beside_it(rule, side):
    """Which samples are planned together depends on threads and batch size; results must not."""
    images = [make_photo((320, 400), number) for number in range(8)]
    sizes = sizes_of(images)
    moves = draw(enlarging_ops((150, 170), side, T.ColorJitter(0.5)), sizes, 3)
    together = run_natively(images, plan(moves, sizes, rule)[1])
    alone = Sizes(sizes.height[:1], sizes.width[:1])
    for row, image in enumerate(images):
        own = as_written(T.Compose(enlarging_ops((150, 170), side, T.ColorJitter(0.5))))
        drawn = own.segments[0].sample(3, 0, np.array([row]), alone)
        (got,) = run_natively([image], plan(drawn, alone, rule)[1])
        np.testing.assert_array_equal(got, together[row])


def test_one_warp_is_left_where_the_result_is_enlarged():
    images = [make_photo((320, 400), 1)]
    sizes = sizes_of(images)
    ops = [
        T.RandomHorizontalFlip(1.0),
        T.RandomRotation((30, 30), interpolation="bilinear"),
        T.ColorJitter((1.3, 1.3)),
        T.CenterCrop((120, 140)),
        T.Resize((200, 140)),
    ]
    moves = draw(ops, sizes, 0)
    for filter, left in (("bilinear", 0), ("bicubic", 1)):
        ops[-1] = T.Resize((200, 140), interpolation=filter)
        _, fast = plan(draw(ops, sizes, 0), sizes, ENLARGE)
        assert sum(isinstance(move, ResizeMove) for move in fast) == left
    _, fast = plan(moves, sizes, ENLARGE)
    expected = np.asarray(run_moves(Image.fromarray(images[0]), fast, 0))
    np.testing.assert_array_equal(run_natively(images, fast)[0], expected)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, channels=st.sampled_from([1, 3]), width=st.integers(1, 600))
def test_fixed_point_is_two_levels_off_at_most(seed, channels, width):
    photo = make_photo((151, width), seed)
    images = [photo if channels == 3 else np.repeat(photo[:, :, :1], 3, axis=2)]
    sizes = sizes_of(images)
    ops = [
        T.RandomAffine(180, (0.2, 0.2), (0.5, 2.0), 20, interpolation="bilinear", fill=99),
        T.Grayscale(3) if channels == 1 else T.RandomInvert(1.0),
    ]
    exact, fast = plan(draw(ops, sizes, seed), sizes, ROUND)
    (wanted,), (got,) = run_natively(images, exact), run_natively(images, fast)

    assert_within(ROUND.bound, wanted, got)


def test_only_bilinear_warps_are_rounded():
    sizes = Sizes(np.array([300]), np.array([300]))
    for filter in ("nearest", "bilinear", "bicubic"):
        moves = draw([T.RandomRotation((10, 10), interpolation=filter)], sizes, 0)
        _, fast = plan(moves, sizes, ROUND)
        assert bool(fast[0].values(Effect.AFFINE, "rounded")[0]) == (filter == "bilinear")


@settings(max_examples=40, deadline=None)
@given(seed=seeds, filter=st.sampled_from(["bilinear", "bicubic"]), crop=st.integers(30, 170))
def test_two_warps_in_one_stay_within_their_bound(seed, filter, crop):
    images = [make_photo((300, 320), seed), make_photo((280, 301), seed + 1)]
    sizes = sizes_of(images)
    ops = [
        T.RandomRotation(20, interpolation=filter, fill=200),
        T.RandomApply([T.RandomPerspective(0.2, 1, interpolation=filter)], 0.5),
        T.CenterCrop(200),
        T.RandomAffine(15, (0.05, 0.05), (0.9, 1.1), 5, interpolation=filter, fill=90),
        T.RandomCrop(crop),
    ]
    exact, fast = plan(draw(ops, sizes, seed), sizes, COMPOSE)

    for wanted, got in zip(run_natively(images, exact), run_natively(images, fast), strict=True):
        assert_within(COMPOSE.bound, wanted, got)


def count_warps(moves):
    return sum(
        int(np.isin(move.effect, [Effect.AFFINE, Effect.PERSPECTIVE]).sum())
        for move in moves
        if isinstance(move, EffectMove)
    )


@pytest.mark.parametrize(
    ("crop", "filters", "left"),
    [
        (100, ("bilinear", "bilinear"), 1),
        (100, ("bicubic", "bicubic"), 1),
        (300, ("bilinear", "bilinear"), 2),  # fill is seen
        (100, ("bilinear", "bicubic"), 2),
        (100, ("nearest", "nearest"), 2),
    ],
)
def test_only_warps_that_show_no_fill_are_composed(crop, filters, left):
    sizes = Sizes(np.array([300]), np.array([300]))
    ops = [T.RandomRotation((10, 10), interpolation=filter) for filter in filters]
    _, fast = plan(draw([*ops, T.CenterCrop(crop)], sizes, 0), sizes, COMPOSE)

    assert count_warps(fast) == left


def test_two_turns_are_one():
    """By the sum of their angles: of a smooth image, the same but for rounding."""
    images = [make_photo((20, 20), 3)]
    images = [np.asarray(Image.fromarray(images[0]).resize((300, 300), Image.Resampling.BICUBIC))]
    sizes = sizes_of(images)
    turns = [T.RandomRotation((degrees, degrees), interpolation="bilinear") for degrees in (20, 30)]
    both = [T.RandomRotation((50, 50), interpolation="bilinear"), T.CenterCrop(120)]
    _, fast = plan(draw([*turns, T.CenterCrop(120)], sizes, 0), sizes, COMPOSE)
    (got,) = run_natively(images, fast)
    (wanted,) = run_natively(images, draw(both, sizes, 0))

    assert count_warps(fast) == 1
    assert np.abs(got.astype(int) - wanted).max() <= 1
