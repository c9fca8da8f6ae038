import numpy as np
import pytest

from penstock._core import draw_words
from penstock.errors import LoaderError
from penstock.rng import Draws, JoinedDraws, draw_words_reference, multiply_high, philox4x32

SAMPLES = np.array([0, 1, 7, 2**32 + 7, 2**40], dtype=np.int64)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        (
            [0xFFFFFFFF] * 4,
            [0xFFFFFFFF] * 2,
            [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
        ),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_philox_gives_the_published_answers(counter, key, expected):
    """Known-answer vectors of Random123 for philox4x32 with ten rounds."""
    words = philox4x32(np.array(counter, dtype=np.uint64)[:, None], np.array(key, dtype=np.uint64))

    assert words[:, 0].tolist() == expected


def test_counter_and_key_are_laid_out_as_documented():
    seed, epoch, sample, stream = 0x1234567890ABCDEF, 5, 2**40 + 3, 9
    counter = np.array([3, 2**8, epoch, stream << 16], dtype=np.uint64)[:, None]
    words = philox4x32(counter, np.array([0x90ABCDEF, 0x12345678], dtype=np.uint64))[:, 0]
    low, high = words[0::2].astype(object), words[1::2].astype(object)

    drawn = Draws(seed, epoch, np.array([sample]), stream).bits(2)[:, 0]

    assert drawn.tolist() == (low + high * 2**32).tolist()


def test_a_sample_draws_the_same_in_any_batch():
    together = Draws(3, 1, SAMPLES, 2).units(5)
    for row, sample in enumerate(SAMPLES):
        alone = Draws(3, 1, np.array([sample]), 2).units(5)
        np.testing.assert_array_equal(together[:, row], alone[:, 0])


def test_numbers_do_not_depend_on_how_many_are_asked_for_at_once():
    one_by_one = Draws(3, 1, SAMPLES, 2)
    at_once = Draws(3, 1, SAMPLES, 2)
    at_once.reserve(7)

    drawn = np.stack([one_by_one.uniform() for _ in range(7)])

    np.testing.assert_array_equal(drawn, at_once.units(7))
    assert len(np.unique(drawn)) == drawn.size


@pytest.mark.parametrize("change", [{"seed": 4}, {"epoch": 2}, {"stream": 3}])
def test_each_part_of_the_key_changes_the_draws(change):
    key = {"seed": 3, "epoch": 1, "stream": 2}
    before = Draws(samples=SAMPLES, **key).uniform()
    after = Draws(samples=SAMPLES, **{**key, **change}).uniform()

    assert not np.any(before == after)


def test_uniform_fills_its_range_evenly():
    drawn = Draws(0, 0, np.arange(100_000), 0).uniform(-1.0, 3.0)
    counts, _ = np.histogram(drawn, bins=100, range=(-1.0, 3.0))

    assert counts.sum() == len(drawn)
    assert _chi_square(counts) < 160  # 99 degrees of freedom: exceeded once in 10,000 seeds


def test_integers_are_even_and_below_their_bound():
    bounds = np.tile([1, 2, 3, 7, 1000], 20_000)
    drawn = Draws(0, 0, np.arange(len(bounds)), 0).integers(bounds)

    assert drawn.min() == 0
    assert np.all(drawn < bounds)
    assert _chi_square(np.bincount(drawn[bounds == 7], minlength=7)) < 27


def test_multiply_high_is_exact_up_to_its_largest_bound():
    words = Draws(1, 0, np.arange(200), 0).bits()[0]
    words[:2] = [0, 2**64 - 1]
    for bound in (1, 2, 255, 2**31, 2**32 - 1, 2**32):
        expected = [int(word) * bound >> 64 for word in words]
        assert multiply_high(words, np.uint64(bound)).tolist() == expected


def test_generator_can_be_repeated_and_is_the_samples_own():
    draws = Draws(3, 1, SAMPLES, 2)
    again = Draws(3, 1, SAMPLES[::-1].copy(), 2)
    numbers = [draws.generator(row).random(4).tolist() for row in range(len(SAMPLES))]

    assert [again.generator(row).random(4).tolist() for row in range(len(SAMPLES))] == numbers[::-1]
    assert len({tuple(four) for four in numbers}) == len(SAMPLES)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(LoaderError, match=f"seed must be between 0 and 2.*got {seed}"):
        Draws(seed, 0, SAMPLES, 0)


def test_an_epoch_out_of_range_is_refused():
    with pytest.raises(LoaderError, match="epoch must be between"):
        Draws(0, 2**32, SAMPLES, 0)


def test_draws_of_one_stream_never_run_into_the_next():
    draws = Draws(0, 0, SAMPLES[:1], 0)
    draws.bits(1 << 17)
    with pytest.raises(LoaderError, match="more than 131072 draws"):
        draws.bits()


def _chi_square(counts):
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def test_branches_depend_on_their_place_and_not_on_what_was_drawn_or_who_takes_part():
    samples = np.arange(6, dtype=np.int64)
    draws = Draws(seed=7, epoch=2, samples=samples, stream=3)
    branch = draws.branch(1).uniform()
    draws.uniform()

    rows = np.array([1, 4])
    assert (draws.branch(1, rows).uniform() == branch[rows]).all()
    for other in (draws.branch(0), draws.branch(1).branch(1), draws):
        assert not np.isin(other.uniform(), branch).any()


def test_the_core_draws_what_the_reference_draws():
    for seed, epoch, stream, first, slots in [
        (0, 0, 0, 0, 1),
        (2**64 - 1, 2**32 - 1, 0xFFFF, 0xFFFE, 2),
        (0x1234567890ABCDEF, 5, 9, 100, 11),
    ]:
        arguments = (seed, epoch, SAMPLES[::2], stream, first, slots)
        np.testing.assert_array_equal(draw_words(*arguments), draw_words_reference(*arguments))


def test_samples_of_several_epochs_draw_as_in_their_own():
    epochs = np.array([4, 0, 4, 9, 1], dtype=np.int64)
    mixed = Draws(3, epochs, SAMPLES, 2)
    drawn, branched = mixed.units(5), mixed.branch(1, np.array([3, 1])).units(3)
    for row, epoch in enumerate(epochs.tolist()):
        alone = Draws(3, epoch, SAMPLES[row : row + 1], 2)
        np.testing.assert_array_equal(drawn[:, row], alone.units(5)[:, 0])
        assert mixed.generator(row).random() == alone.generator(0).random()
    for column, row in enumerate((3, 1)):
        alone = Draws(3, int(epochs[row]), SAMPLES[row : row + 1], 2)
        np.testing.assert_array_equal(branched[:, column], alone.branch(1).units(3)[:, 0])
    with pytest.raises(LoaderError, match="several epochs"):
        _ = mixed.epoch
    with pytest.raises(LoaderError, match="epoch must be between"):
        Draws(3, np.array([0, -1]), SAMPLES[:2], 2)


def test_joined_streams_draw_what_each_draws():
    """Rows one after the other, also inside branches and for some rows only."""
    samples = np.array([7, 1, 2**40, 3])

    def apart() -> list[Draws]:
        return [Draws(5, 2, samples, 4), Draws(5, 2, samples[:1], 9), Draws(5, 2, samples, 6)]

    joined, parts = JoinedDraws(apart()), apart()
    for count in (1, 3, 2):
        expected = np.concatenate([part.bits(count) for part in parts], axis=1)
        np.testing.assert_array_equal(joined.bits(count), expected)
    rows = np.array([0, 3, 5, 8])
    branch = joined.branch(2, rows)
    own_rows = [np.array([0, 3]), np.array([], dtype=np.int64), np.array([0, 3])]
    expected = np.concatenate(
        [part.branch(2, own).bits(5) for part, own in zip(parts, own_rows, strict=True)], axis=1
    )
    np.testing.assert_array_equal(branch.bits(5), expected)
    np.testing.assert_array_equal(branch.samples, joined.samples[rows])
    inner = branch.branch(1).units(2)
    assert inner.shape == (2, 4)
    for row, part in ((2, parts[0]), (4, parts[1]), (6, parts[2])):
        mine, theirs = joined.generator(row), part.generator(row - (0, 4, 5)[parts.index(part)])
        assert mine.integers(1 << 60) == theirs.integers(1 << 60)
