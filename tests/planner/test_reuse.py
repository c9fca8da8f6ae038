"""How first parts are drawn for their uses, what that costs in diversity, and where it is cut."""

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import LoaderError, TransformError
from penstock.planner.cut import cut_plan
from penstock.planner.plan import as_written
from penstock.planner.reuse import Echo, Reuse, read_memory

KEYS = np.arange(4000)
NORMALIZE = T.Normalize((0.5,) * 3, (0.5,) * 3)


def drawn_in(times, epochs, seed=1):
    uses = [Reuse(times).uses(seed, epoch, KEYS, fixed=False) for epoch in range(epochs)]
    return uses, np.stack([one.drawn_in for one in uses])


@pytest.mark.parametrize("times", [2, 3, 7])
def test_each_epoch_draws_the_same_share_anew(times):
    epochs = 3 * times
    _, epochs_of = drawn_in(times, epochs)
    anew = (epochs_of == np.arange(epochs)[:, None]).mean(axis=1)

    assert anew[0] == 1
    # Five standard deviations of a share of 4000 samples.
    spread = 5 * np.sqrt(1 / times * (1 - 1 / times) / len(KEYS))
    np.testing.assert_allclose(anew[1:], 1 / times, atol=spread)
    for begin in range(1, epochs - times + 1):  # in any `times` epochs, each sample once
        within = epochs_of[begin : begin + times] == np.arange(begin, begin + times)[:, None]
        assert (within.sum(axis=0) == 1).all()


@pytest.mark.parametrize("times", [2, 3, 7])
def test_uses_are_counted_down_to_the_last_one(times):
    uses, epochs_of = drawn_in(times, 4 * times)
    for epoch in range(len(uses) - 1):
        here, after = uses[epoch], uses[epoch + 1]
        stays = epochs_of[epoch] == epochs_of[epoch + 1]
        assert ((here.left > 1) == stays).all()
        assert (after.left[stays] == here.left[stays] - 1).all()
        assert (here.last_epochs == epoch + here.left - 1).all()


def test_a_sample_is_drawn_alike_in_any_company():
    whole = Reuse(3).uses(5, 8, KEYS, fixed=False)
    some = np.array([3999, 17, 4])
    alone = Reuse(3).uses(5, 8, some, fixed=False)

    assert (alone.drawn_in == whole.drawn_in[some]).all()
    assert (Reuse(3).uses(6, 8, KEYS, fixed=False).drawn_in != whole.drawn_in).any()


@pytest.mark.parametrize("times", [2, 3, 5])
@pytest.mark.parametrize("epochs", [1, 2, 5, 30])
def test_the_formula_for_reuse_is_what_counting_gives(times, epochs):
    _, epochs_of = drawn_in(times, epochs)
    counted = np.mean([len(set(column)) for column in epochs_of.T.tolist()])
    figure = Reuse(times).diversity(epochs)

    assert figure.images == epochs
    assert figure.first_parts == pytest.approx(1 + (epochs - 1) / times)
    assert counted == pytest.approx(figure.first_parts, abs=5 * 0.5 / np.sqrt(len(KEYS)))
    assert figure.relative == pytest.approx(figure.first_parts / epochs)


@pytest.mark.parametrize("times", [2, 3, 5])
def test_the_formula_for_echo_is_what_counting_gives(times):
    echo, epochs = Echo(times), 4
    firsts, images = set(), 0
    for epoch in range(epochs):
        for repeat in range(times):
            keys = echo.echo_keys(np.arange(9), np.full(9, repeat))
            uses = echo.uses(0, epoch, keys, fixed=False)
            assert (uses.left == times - repeat).all()
            firsts |= set(zip(uses.drawn_in.tolist(), uses.keys.tolist(), strict=True))
            images += 9
    figure = echo.diversity(epochs)

    assert images == 9 * figure.images
    assert len(firsts) == 9 * figure.first_parts
    assert figure.relative == pytest.approx(1 / times)


def test_a_sample_that_is_listed_twice_has_echoes_of_its_own():
    echo = Echo(3)
    listed = np.array([7, 7 | 1 << 32])
    keys = [echo.echo_keys(listed, np.full(2, repeat)) for repeat in range(3)]

    assert len(set(np.concatenate(keys).tolist())) == 6
    firsts = [echo.uses(0, 0, one, fixed=False).keys.tolist() for one in keys]
    assert firsts[0] == firsts[1] == firsts[2] == keys[0].tolist()


def cut(*steps, asked=None, mixes=False):
    return cut_plan(as_written(T.Compose(steps)), asked or Reuse(2), mixes=mixes)


FLIP, JITTER = T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4)


@pytest.mark.parametrize(
    ("steps", "after", "fixed"),
    [
        ([T.RandomResizedCrop(224), FLIP, JITTER], "RandomResizedCrop (step 1)", False),
        ([FLIP, T.RandomResizedCrop(224), JITTER], "RandomResizedCrop (step 2)", False),
        # A crop costs nothing: it stays random, and the first part draws nothing at all.
        ([T.Resize(256), T.RandomCrop(224), FLIP], "Resize (step 1)", True),
        ([T.Resize(256), T.RandomCrop(224)], "Resize (step 1)", True),
        ([T.RandomResizedCrop(256), T.Resize(128), FLIP], "Resize (step 2)", False),
        # Nothing resizes.
        ([T.RandomCrop(224), FLIP], "RandomCrop (step 1)", False),
        ([T.CenterCrop(224), FLIP], "CenterCrop (step 1)", True),
        # Only what comes after the final pass is random.
        (
            [T.RandomResizedCrop(224), NORMALIZE, T.RandomErasing(p=0.2)],
            "RandomResizedCrop (step 1)",
            False,
        ),
        # The last resize has nothing random after it.
        ([T.Resize(256), FLIP, T.Resize(224)], "Resize (step 1)", True),
    ],
)
def test_the_cut_is_after_the_last_resize_with_something_random_behind(steps, after, fixed):
    found = cut(*steps)

    assert (found.after, found.fixed) == (after, fixed)


def test_parts_have_the_steps_of_the_plan_in_their_order():
    def mine(image):
        return image

    steps = [FLIP, mine, T.RandomResizedCrop(24), JITTER, mine, FLIP, NORMALIZE]
    plan = as_written(T.Compose(steps))
    for after in range(1, 6):
        found = cut_plan(plan, Reuse(2, after=after), mixes=False)
        streams = [node.stream for part in (found.first, found.rest) for node in nodes_of(part)]
        assert streams == [0, 1, 2, 3, 4, 5]
        assert [node.stream for node in nodes_of(found.first)] == list(range(after))
        assert found.plan.segments == (*found.first, *found.rest)
        assert found.plan.final == plan.final
        assert found.plan.segments[-1].python is None
        assert found.why == "as after= says"


def nodes_of(segments):
    for segment in segments:
        yield from segment.ops
        if segment.python is not None:
            yield segment.python


@pytest.mark.parametrize(
    ("steps", "asked", "says"),
    [
        ([T.RandomResizedCrop(224)], Reuse(2), "nothing random comes after RandomResizedCrop"),
        ([T.RandomResizedCrop(9), T.RandomHorizontalFlip(p=1)], Reuse(2), "nothing random comes"),
        ([T.Resize((9, 9)), T.RandomCrop(9)], Echo(2), "Echo: nothing random comes after Resize"),
        ([T.RandomResizedCrop(9), lambda image: image], Reuse(2), "nothing random comes after"),
        ([FLIP, JITTER], Reuse(2), "no step makes images smaller"),
        ([], Reuse(2), "no step makes images smaller"),
        ([FLIP, JITTER], Reuse(3, after=2), r"ColorJitter \(step 2\), so every image would come 3"),
        ([FLIP, JITTER], Reuse(2, after=3), "after=3 is no step"),
        ([FLIP, JITTER], Reuse(2, after="Flip"), "There are: RandomHorizontalFlip .step 1., Col"),
        ([FLIP, FLIP, JITTER], Reuse(2, after="RandomHorizontalFlip"), "the name of 2 steps"),
        (
            [T.PopulationBasedAugment(), T.RandomResizedCrop(9), FLIP],
            Reuse(2),
            r"PopulationBasedAugment \(step 1\): follows a schedule",
        ),
        (
            [T.RandomApply([T.PopulationBasedAugment()]), T.RandomResizedCrop(9), FLIP],
            Reuse(2),
            r"RandomApply \(step 1\): follows a schedule",
        ),
    ],
)
def test_what_would_repeat_images_or_is_unclear_is_refused(steps, asked, says):
    with pytest.raises(TransformError, match=says):
        cut(*steps, asked=asked)


def test_mixing_is_random_enough():
    assert cut(T.RandomResizedCrop(9), mixes=True).finishes == 2


def test_finishes_are_counted():
    flips = cut(T.RandomResizedCrop(24), FLIP, asked=Reuse(3))

    assert flips.finishes == pytest.approx(2 * (1 - 0.5**3), abs=0.15)  # two outcomes, three tries
    assert cut(T.RandomResizedCrop(24), JITTER, asked=Reuse(3)).finishes == 3
    drawing = cut(
        T.RandomResizedCrop(24), lambda image, rng: np.roll(image, rng.integers(9)), asked=Reuse(3)
    )
    assert drawing.finishes == 3


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (5, 5),
        ("4 GB", 4 * 10**9),
        ("4GB", 4 * 10**9),
        ("1.5 MiB", 3 << 19),
        ("512k", 512_000),
        ("7", 7),
        ("7 B", 7),
    ],
)
def test_memory_is_bytes_or_a_text(given, size):
    assert read_memory("Reuse", given) == size


@pytest.mark.parametrize("given", [0, -1, True, 1.5, None, "", "much", "4 XB", "0 GB", "-1 GB"])
def test_other_memory_is_refused(given):
    with pytest.raises(LoaderError, match="Reuse: memory must be"):
        Reuse(2, memory=given)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Reuse(1), "Reuse: times must be a whole number from 2 on, got 1"),
        (lambda: Echo(True), "Echo: times must be"),
        (lambda: Reuse(2.0), "Reuse: times must be"),
        (lambda: Reuse(2, after=1.5), "Reuse: after must be"),
        (lambda: Echo(2, window=0), "Echo: window must be"),
    ],
)
def test_wrong_arguments_are_refused(make, says):
    with pytest.raises(LoaderError, match=says):
        make()
