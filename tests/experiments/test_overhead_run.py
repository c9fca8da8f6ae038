"""The overhead experiment from end to end, on a few images and an emulated accelerator."""

import json
import multiprocessing
from pathlib import Path

import pytest

from penstock.cli.main import main
from penstock.experiments.overhead import loaders, settings, tasks
from penstock.experiments.overhead import photos as photos_module
from penstock.experiments.overhead.loaders import open_loader
from penstock.experiments.overhead.photos import choose_photos
from penstock.experiments.overhead.settings import TORCHVISION, Pipeline
from penstock.packing.pack import pack

FEW = [
    *("--quick", "--photos", "9", "--device", "emulated:40000", "--cores", "1,64"),
    *("--layers", "0", "--methods", "mixup", "--loaders", "torchvision,packed"),
    *("--rounds", "1", "--seconds", "0.01"),
]


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_a_small_run_is_kept_and_drawn_again(folder, tmp_path, torchvision, capsys, monkeypatch):
    pytest.importorskip("vl_convert")
    del torchvision
    for module in (settings, loaders, tasks):
        monkeypatch.setattr(module, "BATCH_SIZE", 4)  # no figure is looked at
    arguments = ["experiment", "overhead", "--data", str(folder), *FEW]
    arguments += ["--out", str(tmp_path), "--json"]

    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["claims"]) == 6
    assert all("9 distinct photos" in table["note"] for table in told["tables"])
    names = {path.name for path in tmp_path.iterdir()}
    assert {"overhead.md", "report.html", "results.json", "overhead-4-loaders.svg"} <= names

    results = (tmp_path / "results.json").read_bytes()
    assert main(arguments) == 0  # nothing is left to measure
    assert main([*arguments, "--redraw"]) == 0
    assert (tmp_path / "results.json").read_bytes() == results
    capsys.readouterr()
    assert main([*arguments, "--seconds", "0.02"]) == 2
    assert "measured differently" in capsys.readouterr().err


def test_photos_are_distinct_and_of_any_layout(folder, tmp_path):
    """A packed file has no photos as files of their own, and one photo is there twice."""
    paths = sorted(str(path) for path in folder.rglob("*.jpg"))[:5]
    pack([*paths, paths[0]], tmp_path / "some.pen", labels=[0] * 6)
    chosen = choose_photos(str(tmp_path / "some.pen"), 100)
    from_files = choose_photos(str(folder), 100)

    assert len(chosen.paths) == 5
    originals = {path.read_bytes() for path in folder.rglob("*.jpg")}
    assert all(Path(path).read_bytes() in originals for path in chosen.paths)
    assert len(from_files.paths) == 23
    assert from_files.packed() == from_files.packed()
    assert chosen.digest != from_files.digest


def test_without_data_the_project_makes_photos(monkeypatch, tmp_path):
    asked = []

    def make(target, images):
        asked.append((target, images))
        return tmp_path

    monkeypatch.setattr(photos_module, "make_sample_set", make)
    monkeypatch.setattr(photos_module, "open_data", lambda _: [])
    with pytest.raises(photos_module.AnalysisError, match="no photos"):
        choose_photos(None, 7)
    assert asked[0][1] == 7


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        (["--loaders", "ffcv"], "ffcv"),
        (["--methods", "cutout"], "cutout"),
        (["--cores", "0,1"], "at least one core"),
        (["--device", "emulated:x"], "emulated:x"),
        (["--device", "cpu", "--gpus", "2"], "--gpus 2"),
        (["--device", "cpu", "--models", "no_such_model"], "no_such_model"),
    ],
)
def test_wrong_choices_are_refused_before_measuring(
    folder, tmp_path, capsys, torchvision, choice, named
):
    del torchvision
    arguments = ["experiment", "overhead", "--data", str(folder), *FEW]

    assert main([*arguments, "--out", str(tmp_path), *choice]) == 2
    assert named in capsys.readouterr().err
    assert not (tmp_path / "results.json").exists()


def test_no_worker_outlives_its_measurement(folder, torchvision):
    """It would use the cores of the loader that comes next."""
    del torchvision
    photos = choose_photos(str(folder), 9)
    with open_loader(TORCHVISION, photos, Pipeline(), 1) as loader:
        next(iter(loader))
        assert multiprocessing.active_children()
    assert not multiprocessing.active_children()
