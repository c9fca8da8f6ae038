"""The whole experiment on tiny photos: everything is measured, written, resumed and redrawn."""

import json
from dataclasses import replace

import pytest

from penstock.cli.main import main
from penstock.errors import SourceError
from penstock.experiments.experiment import redraw, run
from penstock.experiments.libraries import work
from penstock.experiments.libraries.detector import training
from penstock.experiments.libraries.detector.training import LOADERS, DetectorBench, real_key
from penstock.experiments.libraries.detector.voc import make_voc, open_voc
from penstock.experiments.libraries.study import NAME, draw, make_experiment
from penstock.experiments.libraries.work import Photos, Settings

pytest.importorskip("vl_convert")

TINY = Settings(
    sizes=(Photos(60, 40, distinct=2, turn=1, images=2),),
    iterations=1,
    voc_photos=4,
    batch_size=2,
    real_batch_size=2,
    cores=(1,),
    rounds=1,
    steps_emulated=2,
    steps_real=1,
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(training, "_LEAST_S", 0.01)


@pytest.mark.usefixtures("cache")
def test_everything_is_measured_and_drawn(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torchvision")
    pytest.importorskip("line_profiler")
    monkeypatch.setattr(work, "QUICK", TINY)
    out = tmp_path / "out"

    assert main(["experiment", "libraries", "--quick", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["claims"]) == 5
    assert {picture["key"] for picture in told["pictures"]} >= {
        "libraries-cores",
        "libraries-chain4",
    }
    kept = json.loads((out / "results.json").read_text("utf-8"))
    assert kept["settings"]["iterations"] == 1
    assert "CPU" in kept["environment"]
    assert not [value for value in kept["measurements"].values() if "failed" in value]
    for name in LOADERS:
        assert len(kept["measurements"][real_key(name)]["losses"]) == 2

    before = (out / "results.json").read_bytes()
    run(make_experiment(TINY), out)  # all is there: nothing is measured
    assert (out / "results.json").read_bytes() == before
    assert [claim.says for claim in redraw(NAME, draw, out).claims] == [
        claim["says"] for claim in told["claims"]
    ]


@pytest.mark.usefixtures("cache")
def test_made_photos_with_boxes_are_made_once(tmp_path):
    root = make_voc(3)
    folder, year = open_voc(root)
    written = (folder / "JPEGImages" / "000002.jpg").stat().st_mtime_ns

    assert year == "2012"
    assert make_voc(3) == root
    assert (folder / "JPEGImages" / "000002.jpg").stat().st_mtime_ns == written
    with pytest.raises(SourceError, match="VOCdevkit"):
        open_voc(tmp_path)


@pytest.mark.usefixtures("cache")
def test_the_plain_dataset_gives_boxes_inside_the_image():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchvision")
    dataset = DetectorBench(TINY).plain

    assert len(dataset) == 4
    for index in range(len(dataset)):
        image, target = dataset[index]
        assert image.shape == (3, 300, 300)
        assert image.dtype == torch.float32
        boxes = target["boxes"]
        assert (boxes[:, :2] < boxes[:, 2:]).all()
        assert boxes.min() >= 0
        assert boxes.max() <= 300
        assert len(target["labels"]) == len(boxes)


def test_more_cores_than_the_machine_has_are_left_out():
    assert DetectorBench(replace(TINY, cores=(1, 100_000))).cores == (1,)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--photos", "/no/such"], "no such folder"),
        (["--voc", "/no/such"], "no such folder"),
        (["--accelerator", "0"], "above 0"),
        (["--iterations", "0"], "1 or more"),
    ],
)
def test_bad_options_are_refused(options, why, capsys, tmp_path):
    try:
        code = main(["experiment", "libraries", "--out", str(tmp_path), *options])
    except SystemExit as error:
        code = error.code

    assert code not in (0, None)
    assert why in capsys.readouterr().err
