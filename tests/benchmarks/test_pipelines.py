import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("cv2")

import benchmarks.pipelines.__main__ as pipelines
from benchmarks import coco_set
from benchmarks.pipelines import data
from benchmarks.turns import Figures

EXAMPLES = Path(__file__).parents[2] / "examples" / "pipelines"
FILES = ("INSTANCES", "BOXES_ALONE", "PACKED", "PACKED_WITH_MASKS")


def test_every_example_is_measured_and_listed():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    listed = (EXAMPLES / "README.md").read_text("utf-8")

    assert set(pipelines.PIPELINES) == names
    assert [name for name in names if f"[{name}.py]({name}.py)" not in listed] == []
    assert len(names) == 12


@pytest.fixture
def few_samples(monkeypatch, tmp_path, in1k, coco_folder):
    """Four samples of each kind, and everything that is written in a folder of its own."""
    folders = {"in1k": in1k[0].parent, "detect/coco128/images": coco_folder / "images"}
    monkeypatch.setattr(data, "default_folder", lambda photos="in1k": folders[photos])
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    monkeypatch.setattr(coco_set, "FOLDER", tmp_path)
    for name in FILES:
        monkeypatch.setattr(coco_set, name, tmp_path / getattr(coco_set, name).name)
    few = {name: replace(kind, samples=4) for name, kind in pipelines.PIPELINES.items()}
    monkeypatch.setattr(pipelines, "PIPELINES", few)
    monkeypatch.setattr(pipelines, "RESULTS", tmp_path)
    monkeypatch.setattr(pipelines, "stay_on_one_core", lambda: None)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["torchvision_classification_eval", "torchvision_ssdlite", "medical", "simclr"]
)
def test_each_kind_of_data_is_measured(torchvision, few_samples, capsys, name):
    arguments = ["--only", name, "--rounds", "1", "--seconds", "0", "--write"]
    assert pipelines.main(arguments) == 0

    written = capsys.readouterr().out
    assert f"| {name} " in written
    assert (few_samples / "pipelines.md").read_text("utf-8") == written.removesuffix("\n")
    (entry,) = json.loads((few_samples / "pipelines.json").read_text("utf-8"))["entries"]
    assert list(entry["ms"]) == ["torchvision", "as written", "exact", "fast"]


def entry_of(name, exact_ms):
    took = {"torchvision": [10.0], "as written": [3.0], "exact": [exact_ms], "fast": [1.0]}
    return {"name": name, "rounds": 1, "time_over_cpu": 1.0, "ms": took}


def test_what_is_not_fast_enough_is_named():
    slow, fast = entry_of("slow", 2.5), entry_of("fast", 2.0)

    assert pipelines.below([slow, fast]) == "Below 5 times torchvision: slow."
    assert pipelines.below([fast]) == "Below 5 times torchvision: none."
    assert pipelines.row(fast)[-2:] == ("5.0 (5.0-5.0)", "1.50 (1.50-1.50)")
    assert "| fast " in pipelines.report(Figures({"machine": "one"}, [slow, fast]))


def test_an_unknown_pipeline_is_named(capsys):
    with pytest.raises(SystemExit):
        pipelines.main(["--only", "medical,magical"])
    assert "no pipeline is called 'magical'" in capsys.readouterr().err
