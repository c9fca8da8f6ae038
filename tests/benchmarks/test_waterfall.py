"""Where the microseconds go: what is made of the figures."""

import pytest

from benchmarks.waterfall import (
    OTHER,
    PLANNING,
    READING,
    Threads,
    operations,
    shares_of,
    stage_of,
    table_of,
    waterfall,
)

REPORT = """
# Samples: 14K of event 'cpu-clock'
    40.00%  [.] penstock::avx512::sparse_idct
    20.00%  [.] penstock::avx512::unpack_tile
    15.00%  [.] penstock::guard::make_photo
    10.00%  [.] penstock::avx512::(anonymous namespace)::resize_columns<0, false>
    10.00%  [.] penstock::something_new
     4.95%  [k] finish_task_switch.isra.0
     0.05%  [.] penstock::markers
"""


def test_functions_belong_to_stages():
    for function, stage in (
        ("penstock::avx2::(anonymous namespace)::decode_mcus<0>", "entropy decoding"),
        ("penstock::avx512::rgb_row", "upsample, to RGB"),
        ("penstock::avx512::(anonymous namespace)::combine_few<1, false>", "resample"),
        ("penstock::RowWriter::write", "normalise, write"),
        ("penstock::avx512::idct_row", "inverse DCT"),
        ("penstock::nothing_known", OTHER),
    ):
        assert stage_of(function) == stage


def test_shares_are_of_the_core_alone():
    """Neither the making of the photo nor the kernel counts."""
    shares = shares_of(REPORT)

    assert sum(shares.values()) == pytest.approx(1)
    assert shares["inverse DCT"] == pytest.approx(40 / 80.05)
    assert shares[OTHER] == pytest.approx(10.05 / 80.05)
    assert set(shares) == {"inverse DCT", "unpack tiles", "resample", OTHER}


def test_stages_add_up_to_the_time_of_all_threads():
    threads = Threads(python_us=20, reading_us=5, computing_us=100)

    stages = waterfall(threads, {OTHER: 0.25, "inverse DCT": 0.75})
    assert stages == {PLANNING: 20, READING: 5, "inverse DCT": 75, OTHER: 25}
    assert sum(waterfall(threads, None).values()) == 125


def test_the_table_has_all_stages_in_their_order():
    found = {
        "a": {PLANNING: 1.0, "resample": 2.0},
        "b": {PLANNING: 1.0, "entropy decoding": 4.0, "resample": 2.0},
    }

    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table_of(found)[2:]]

    assert cells == [
        [PLANNING, "1.0", "1.0"],
        ["entropy decoding", "-", "4.0"],
        ["resample", "2.0", "2.0"],
        ["all", "3.0", "7.0"],
    ]


def test_a_larger_crop_takes_more_operations():
    assert operations(448, 448) > operations(224, 224) > 224 * 224 * 3
