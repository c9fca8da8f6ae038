import itertools

from hypothesis import given
from hypothesis import strategies as st

from penstock.storage.ranges import cut_range, join_ranges

ranges = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 600)).map(lambda one: (one[0], sum(one))),
    max_size=30,
)


@given(ranges, st.integers(0, 500), st.integers(1, 3_000))
def test_every_range_lies_in_one_request(wanted, gap, most):
    joined = join_ranges(wanted, gap, most)

    assert sorted(member for one in joined for member in one.members) == list(range(len(wanted)))
    for one in joined:
        longest = max(wanted[member][1] - wanted[member][0] for member in one.members)
        assert one.end - one.start <= max(most, longest)
        for member in one.members:
            assert one.start <= wanted[member][0] <= wanted[member][1] <= one.end


def test_near_ranges_are_joined_and_far_ones_are_not():
    joined = join_ranges([(500, 600), (0, 100), (110, 200)], 10, 10_000)

    assert [(one.start, one.end, one.members) for one in joined] == [
        (0, 200, (1, 2)),
        (500, 600, (0,)),
    ]


@given(st.integers(0, 1_000), st.integers(1, 100_000), st.integers(1, 5_000))
def test_large_ranges_are_cut_without_gaps(start, size, most):
    pieces = cut_range(start, start + size, most)

    assert pieces[0][0] == start
    assert pieces[-1][1] == start + size
    assert all(a[1] == b[0] for a, b in itertools.pairwise(pieces))
    assert all(0 < end - begin <= most for begin, end in pieces)
