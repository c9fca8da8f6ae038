"""What `explain` says about reuse: figures that follow from each other; when it does not pay."""

import pytest

from penstock import transforms as T
from penstock.planner.cut import cut_plan
from penstock.planner.plan import as_written
from penstock.planner.reuse import ENTRY_BYTES, Echo, Reuse
from penstock.planner.reuse_forecast import Forecast, PartCosts

IMAGE = 150_000
SAMPLES = 10_000
PHOTOS = PartCosts(plain_us=1_000, first_us=950, rest_us=80)
CHEAP = PartCosts(plain_us=120, first_us=90, rest_us=80)
STEPS = (T.RandomResizedCrop(224), T.ColorJitter(0.4, 0.4, 0.4))


def forecast(asked, costs=PHOTOS, steps=STEPS, **options):
    cut = cut_plan(as_written(T.Compose(steps)), asked, mixes=False)
    return Forecast(asked, cut, SAMPLES, IMAGE, costs, **options)


def text_of(found):
    return "\n".join(found.lines())


def test_memory_is_what_must_wait_for_another_epoch():
    found = forecast(Reuse(4))

    assert found.needed_bytes == 7_500 * (IMAGE + ENTRY_BYTES)
    assert found.fits == 1
    assert found.found == pytest.approx(0.75)
    assert found.new_share == 0.25


def test_an_echo_needs_a_window():
    found = forecast(Echo(2, window=1000))

    assert found.needed_bytes == 1_000 * (IMAGE + ENTRY_BYTES)
    assert found.found == pytest.approx(0.5)
    assert "10,000 of the 20,000 images of an epoch have a new first part (50%;" in text_of(found)


def test_costly_first_parts_pay():
    found = forecast(Reuse(4))

    assert 2.5 < found.speedup < 4
    assert found.pays
    assert "does not pay" not in text_of(found)
    assert "keeps images after RandomResizedCrop (step 1), the last step that" in text_of(found)
    assert "2,500 of the 10,000 images of an epoch have a new first part (25%;" in text_of(found)
    assert "4.0 of 4 uses of it differ in the last part" in text_of(found)


def test_too_little_memory_is_told_with_what_would_do():
    found = forecast(Reuse(4, memory="100 MB"))

    assert found.fits == pytest.approx(1e8 / found.needed_bytes)
    assert "need 1.13 GB, 100 MB may be used: 9% fit" in text_of(found)
    assert "memory='1.15 GB' holds all" in text_of(found)
    assert "does not pay" in text_of(found)
    assert "Only 9% of the images fit into memory." in text_of(found)


def test_cheap_first_parts_do_not_pay():
    found = forecast(Echo(2), CHEAP)

    assert not found.pays
    assert "The first part is too cheap, as it mostly is with packed files." in text_of(found)
    heavy_end = forecast(Reuse(2), PartCosts(1_000, 90, 930))
    assert "Most of the work (91%) is in the last part." in text_of(heavy_end)


def test_a_first_part_that_draws_nothing_costs_no_diversity():
    found = forecast(Reuse(4), steps=(T.Resize(256), T.RandomCrop(224)))

    assert found.new_share == found.found == 1
    assert found.needed_bytes == SAMPLES * (IMAGE + ENTRY_BYTES)
    assert "the first part draws nothing, so that keeping it costs none" in text_of(found)


def test_few_different_finishes_are_told():
    found = forecast(Reuse(4), steps=(T.RandomResizedCrop(224), T.RandomHorizontalFlip()))

    assert "only 1.9 of 4 uses of it differ in the last part: draw more" in text_of(found)


@pytest.mark.parametrize("way", [Reuse(4), Echo(2)])
def test_small_batches_gain_less(way):
    """A part that is run in two groups costs more, however few images are in it."""
    speedups = [forecast(way, part_images=images).speedup for images in (64, 16, 3, 1)]
    assert speedups == sorted(speedups, reverse=True)
    assert forecast(way, part_images=3).plain_us > forecast(way).plain_us == PHOTOS.plain_us


def test_windows_of_an_echo_are_not_mixed():
    """So a part is run once where first parts are found, and twice where they are computed."""
    few = {"part_images": 3}
    costs = PartCosts(1_000, 950, 80)
    echoed, reused = forecast(Echo(2), costs, **few), forecast(Reuse(2), costs, **few)
    assert echoed.found == reused.found
    assert echoed.reused_us < reused.reused_us
