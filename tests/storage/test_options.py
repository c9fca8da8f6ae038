import pytest

from penstock.errors import LoaderError
from penstock.storage.options import StorageOptions, read_size


@pytest.mark.parametrize(
    ("given", "size"),
    [(5, 5), ("5", 5), ("50 GB", 50 * 10**9), ("1.5GiB", 3 * 2**29), ("200kb", 200_000)],
)
def test_sizes_are_read(given, size):
    assert read_size("cache_limit", given) == size


@pytest.mark.parametrize("given", ["", "GB", "50 parsec", "-1 GB", 0, -5, 1.5, True, None, "1e9"])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(LoaderError, match="cache_limit must be a number of bytes"):
        read_size("cache_limit", given)


@pytest.mark.parametrize(
    "wrong", [{"attempts": 0}, {"in_flight": 1.5}, {"stall_s": 0}, {"deadline_s": "1"}]
)
def test_wrong_options_are_named(wrong):
    with pytest.raises(LoaderError, match=next(iter(wrong))):
        StorageOptions(**wrong)
