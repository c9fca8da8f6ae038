"""Numbers of cores and of layers that somebody asks for."""

import numpy as np
import pytest

import penstock
from penstock import AnalysisError, Loader
from penstock import transforms as T
from penstock.analysis import core_counts
from penstock.analysis.budget import Pace, plan_rates
from penstock.analysis.core_counts import check_layers, choose_cores
from penstock.analysis.measure import Effort
from penstock.cli.main import main


@pytest.fixture
def cores(monkeypatch):
    """Set the number of cores that there seem to be."""

    def have(count):
        monkeypatch.setattr(core_counts, "usable_cores", lambda: count)
        monkeypatch.setattr(core_counts, "CAN_PIN", True)

    return have


@pytest.mark.parametrize(
    ("available", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])]
)
def test_usual_numbers(cores, available, counts):
    cores(available)

    assert choose_cores(None, is_swept=True).measured == counts
    assert choose_cores(None, is_swept=False).measured == [available]
    assert choose_cores(None, is_swept=True).predicted is None


@pytest.mark.parametrize(
    ("available", "asked", "measured", "predicted"),
    [
        (8, [2, 4, 6, 8], [2, 4, 6, 8], []),
        (8, [6, 2, 2], [2, 6], []),
        (64, [4], [4], []),
        (2, [1, 2, 4], [1, 2], [4]),
        (2, [2, 4, 16], [1, 2], [4, 16]),
        (2, [8], [1, 2], [8]),
        (2, [16, 17], [1, 2], [16]),
        (1, [1, 2], [1], []),
    ],
)
def test_what_is_there_is_measured_and_the_rest_predicted(
    cores, available, asked, measured, predicted
):
    cores(available)
    chosen = choose_cores(asked, is_swept=False)

    assert (chosen.measured, chosen.predicted) == (measured, predicted)
    assert chosen.are_asked_for


def test_what_is_not_predicted_is_told(cores):
    cores(2)
    assert "more than 16 cores are not predicted" in choose_cores([17], is_swept=True).notes[0]
    cores(1)
    assert "only one" in choose_cores([1, 4], is_swept=True).notes[0]


def test_fewer_cores_than_there_are_is_told(cores):
    cores(64)

    assert "at most 4 of the 64 cores" in choose_cores([1, 4], is_swept=True).notes[0]


@pytest.mark.parametrize("asked", [[], [0], [-1], [True], [1.5], ["2"]])
def test_odd_numbers_are_refused(asked):
    with pytest.raises(AnalysisError, match="cores: "):
        choose_cores(asked, is_swept=True)
    if asked != [0]:
        with pytest.raises(AnalysisError, match="layers: "):
            check_layers(asked)


def test_a_system_that_cannot_pin_says_so(cores, monkeypatch):
    cores(8)
    monkeypatch.setattr(core_counts, "CAN_PIN", False)

    assert choose_cores(None, is_swept=True).measured == [8]
    with pytest.raises(AnalysisError, match="Linux"):
        choose_cores([1], is_swept=True)


def test_cores_that_were_asked_for_are_never_left_out():
    pace = Pace(0.1, 0.01, 0.01, 0.0, 2, 4)
    plan = plan_rates(pace, 1.0, (1, 2, 4), 64, can_shrink=False, sweeps=True, all_counts=True)

    assert plan.core_counts == (1, 2, 4)


@pytest.fixture(scope="module")
def photos(make_photos):
    return make_photos(24)


def test_analysis_has_what_was_asked_for(photos):
    loader = Loader(photos, batch_size=4, transform=T.CenterCrop(64), output="numpy")
    told = []
    found = penstock.analyze(
        loader,
        device="emulated:1e6",
        effort=Effort(1, 0.05),
        sweeps=False,
        cores=[1],
        layers=(5, 0),
        progress=lambda *said: told.append(said),
    )

    assert [rate.cores for rate in found.pipeline] == [1]
    assert [rate.layers for rate in found.layers] == [0, 5]
    assert told[-1][1] == told[-1][2]


def test_layers_that_cannot_be_tried_are_told():
    batches = [np.zeros((4, 3, 8, 8), np.float32)] * 12
    found = penstock.analyze(
        batches, device="emulated:1e5", effort=Effort(1, 0.02), sweeps=False, layers=[1]
    )

    assert found.layers == ()
    assert any("layers of RandAugment could not be tried" in line for line in found.evidence)


def test_command_line(photos, capsys, hurried):
    code = main(
        ["analyze", str(photos), "--quick", "--batch-size", "4", "--cores", "1", "--layers", "0,5"]
    )

    assert code == 0
    assert "on 1 core" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--cores=0", "--cores=x", "--layers=-1", "--layers=1,,2"])
def test_odd_numbers_on_the_command_line(option, photos, capsys):
    with pytest.raises(SystemExit) as left:
        main(["analyze", str(photos), option])

    assert left.value.code == 2
    assert "whole number" in capsys.readouterr().err
