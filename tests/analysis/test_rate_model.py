import pytest

from penstock.analysis.rate_model import (
    CoreModel,
    Point,
    cores_needed,
    fit_cores,
    fit_overlap,
    predict,
)


def test_far_apart_the_slower_side_decides():
    assert predict(Point(100, 10_000, 1, 0.0), 8) == pytest.approx(100)
    assert predict(Point(20_000, 500, 1, 0.0), 8) == pytest.approx(500)


def test_one_after_the_other_adds_up():
    assert predict(Point(1000, 1000, 1, 0.0), 1) == pytest.approx(500)


def test_the_training_process_takes_its_share_of_the_cores():
    """A millisecond of pipeline and one of step on the same core make 500 images per second."""
    assert predict(Point(1e9, 1000, 1, 1e-3), 8) == pytest.approx(500)
    assert predict(Point(1e9, 2000, 2, 1e-3), 8) == pytest.approx(1000)


@pytest.mark.parametrize("overlap", [1.5, 4.0, 10.0])
def test_overlap_is_found_again(overlap):
    points = [
        Point(rate, 1000, 1, 0.0, predict(Point(rate, 1000, 1, 0.0), overlap))
        for rate in (500, 800, 1000, 1200, 2000)
    ]

    assert fit_overlap(points) == pytest.approx(overlap, rel=0.35)


def test_without_measurements_overlap_is_the_default():
    assert fit_overlap([]) == pytest.approx(8, rel=0.05)


def test_cores_are_fitted():
    model = CoreModel(1e-4, 1e-3)
    fitted = fit_cores({cores: model.rate(cores) for cores in (1, 2, 4)})

    assert fitted.rate(16) == pytest.approx(model.rate(16))


def test_better_than_linear_is_taken_as_linear():
    assert fit_cores({1: 100.0, 2: 230.0}).rate(4) == pytest.approx(430, rel=0.05)


def test_no_scaling_stays_so():
    assert fit_cores({1: 100.0, 2: 90.0}).rate(64) == pytest.approx(95, rel=0.05)


def test_model_is_moved_to_a_known_rate():
    model = CoreModel(1e-4, 1e-3).through(2, 1000)

    assert model.rate(2) == pytest.approx(1000)
    assert model.rate(1) < 1000 < model.rate(4)


def test_cores_needed():
    model = CoreModel(0.0, 1 / 500)

    assert cores_needed(1000, model, 0.0, 32, most=64) == 2
    assert cores_needed(1000, CoreModel(1 / 500, 0.0), 0.0, 32, most=64) is None
