"""The whole way, on a small data set; what the figures mean is tested part by part elsewhere."""

import json

import numpy as np
import pytest

import penstock
from penstock import AnalysisError, Loader
from penstock import transforms as T
from penstock.analysis.measure import Effort
from penstock.cli.main import main
from penstock.results.records import Verdict
from penstock.usable_cores import usable_cores


@pytest.fixture(scope="module")
def photos(make_photos):
    return make_photos(24)


@pytest.fixture(scope="module")
def analysis(photos):
    transform = T.Compose(
        [T.RandomResizedCrop(64), T.RandAugment(1), T.ToDtype("float32", scale=True)]
    )
    loader = Loader(photos, batch_size=4, transform=transform, output="numpy")
    return penstock.analyze(loader, device="emulated:1e6", effort=Effort(1, 0.1), title="photos")


def test_says_what_was_analysed(analysis):
    assert analysis.title == "photos"
    assert (analysis.images, analysis.batch_size) == (24, 4)
    assert analysis.is_emulated
    assert analysis.environment["penstock"] == penstock.__version__


def test_a_device_that_nothing_can_feed_waits(analysis):
    assert analysis.verdict is not Verdict.ACCELERATOR
    assert analysis.stall > 0.5
    assert sum(analysis.stall_parts.values()) == pytest.approx(analysis.stall)


def test_cores_there_are_were_measured_and_more_are_predicted(analysis):
    for rates in (analysis.pipeline, analysis.end_to_end):
        measured = [rate.cores for rate in rates if rate.is_measured]
        assert measured[-1] == usable_cores()
        assert all(rate.cores > measured[-1] for rate in rates if not rate.is_measured)
        assert not rates[-1].is_measured


def test_ops_have_costs_and_shares(analysis):
    assert [op.name for op in analysis.ops][-1] == "RandAugment"
    assert sum(op.share for op in analysis.ops) == pytest.approx(1)


def test_layers_are_swept_and_predictions_checked(analysis):
    assert [rate.layers for rate in analysis.layers] == [0, 1, 2, 3]
    assert all(check.error is not None for check in analysis.predictions)
    assert len(analysis.predictions) >= 5


def test_other_forms_were_tried(analysis):
    changes = [change.change for change in analysis.what_ifs]

    assert "packed (.pen)" in changes
    assert "files that are not in memory" in changes or not hasattr(__import__("os"), "pread")


def test_slowest_files_are_named(analysis, photos):
    assert len(analysis.slowest_files) == 10
    assert analysis.slowest_files[0][0].startswith(str(photos))


def test_utilisation_and_steps_are_there(analysis):
    assert all(0 <= share <= 1 for share in analysis.utilisation.busy)
    assert len(analysis.steps.waited) == len(analysis.steps.computed)


def test_everything_can_be_written_as_json(analysis):
    assert json.loads(json.dumps(analysis.to_dict()))["verdict"] == analysis.verdict.value


def test_any_iterable_can_be_analysed():
    batches = [(np.zeros((4, 3, 8, 8)), np.zeros(4))] * 50
    found = penstock.analyze(batches, device="emulated:2000", effort=Effort(1, 0.2))

    assert found.verdict in Verdict
    assert found.synthetic.median > 0
    assert found.ops == ()


def test_step_of_the_user():
    seen = []
    batches = [np.zeros((4, 3, 8, 8))] * 20
    found = penstock.analyze(batches, seen.append, effort=Effort(1, 0.05))

    assert seen
    assert not found.is_emulated


def test_an_iterator_is_refused():
    with pytest.raises(AnalysisError, match="more than once"):
        penstock.analyze(iter([]))


def test_what_is_measured_is_told(photos):
    told = []
    loader = Loader(photos, batch_size=4, transform=T.CenterCrop(64), output="numpy")
    found = penstock.analyze(
        loader,
        device="emulated:1000",
        effort=Effort(1, 0.05),
        sweeps=False,
        progress=lambda *said: told.append(said),
    )

    assert told[0][2] > 1  # a bar has an end from the beginning
    assert [what for what, _, _ in told][1] == "the step alone"
    assert [number for _, number, _ in told] == list(range(1, len(told) + 1))
    assert {planned for _, number, planned in told if number > 1} == {len(told)}
    assert [rate.cores for rate in found.pipeline if rate.is_measured] == [usable_cores()]
    assert found.layers == found.slowest_files == ()


def test_progress_can_be_shown(capsys):
    batches = [np.zeros((4, 3, 8, 8), np.float32)] * 12
    options = {"device": "emulated:1e5", "effort": Effort(1, 0.02), "sweeps": False}
    penstock.analyze(batches, **options)
    assert capsys.readouterr().err == ""
    penstock.analyze(batches, progress=True, **options)
    assert "measuring 2 of " in capsys.readouterr().err


def test_command_line(photos, capsys, hurried):
    code = main(["analyze", str(photos), "--quick", "--batch-size", "4", "--json"])

    assert code == 0
    assert json.loads(capsys.readouterr().out)["images"] == 24


def test_command_line_for_people(photos, capsys, monkeypatch, tmp_path, hurried):
    (tmp_path / "recipes_of_mine.py").write_text(
        "from penstock import transforms as T\ndef crop(): return T.CenterCrop(32)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ["--transform", "recipes_of_mine:crop", "--device", "emulated:50"]
    code = main(["analyze", str(photos), "--quick", "--batch-size", "1", *arguments])

    out = capsys.readouterr().out
    assert code == 0
    assert out.startswith(" accelerator-bound ")
    assert "emulated" in out
    assert "CenterCrop" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-folder"], "no-such-folder"),
        ([".", "--device", "tpu"], "tpu"),
        ([".", "--transform", "no_such_module:x"], "no_such_module"),
        ([".", "--transform", "json"], "MODULE:OBJECT"),
    ],
)
def test_bad_arguments_end_with_a_sentence(arguments, message, photos, capsys):
    arguments = [str(photos) if one == "." else one for one in arguments]

    assert main(["analyze", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_accelerator_bound_loader():
    """The whole way with torch, on a device so slow that no machine gets it wrong."""
    torch = pytest.importorskip("torch")
    images = torch.utils.data.TensorDataset(torch.zeros(8, 3, 8, 8), torch.zeros(8))
    loader = torch.utils.data.DataLoader(images, batch_size=2)
    found = penstock.analyze(loader, device="emulated:20", effort=Effort(2, 0.6), sweeps=False)

    assert found.verdict is Verdict.ACCELERATOR
