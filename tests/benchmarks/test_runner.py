import json

import numpy as np
import PIL.Image
import pytest

from benchmarks.__main__ import main, parse
from benchmarks.dataset import image_paths


@pytest.fixture
def pictures(tmp_path, photo):
    for name in ("one.jpg", "two.JPEG"):
        PIL.Image.fromarray(photo[:90, :120]).save(tmp_path / name, format="JPEG")
    (tmp_path / "notes.txt").write_text("no image")
    return tmp_path


def test_paths_are_repeated_to_the_count_asked_for(pictures):
    paths = image_paths(pictures, 5)

    assert len(paths) == 5
    assert set(paths) == {str(pictures / "one.jpg"), str(pictures / "two.JPEG")}


def test_folder_without_images_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="--data"):
        image_paths(tmp_path, 5)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--peers", "nobody"], "nobody"),
        (["--cores", "0"], "available"),
        (["--cores", "one"], "numbers"),
        (["--layers", "-1"], "negative"),
        (["--rounds", "0"], "at least 1"),
        (["--write", "../elsewhere"], "not a path"),
    ],
)
def test_bad_options_are_refused_with_their_value(arguments, complaint, capsys):
    with pytest.raises(SystemExit):
        parse(arguments)

    assert complaint in capsys.readouterr().err


@pytest.fixture
def measured(pictures, torchvision, tmp_path):
    """Return a function that runs a case and returns what was measured, one entry per turn."""

    def run(case, peers, *arguments):
        figures = tmp_path / "figures.json"
        options = [f"--case={case}", f"--peers={peers}", f"--data={pictures}", f"--json={figures}"]
        options += ["--seconds=0"]  # one pass is enough
        assert main([*options, *arguments]) == 0
        (found,) = json.loads(figures.read_text())["cases"]
        return found["outcome"]["measured"]

    return run


@pytest.mark.parametrize("peer", ["torchvision_pillow", "penstock_folder"])
def test_a_peer_is_measured_in_its_own_process(peer, measured, capsys):
    (found,) = measured("classify_224", peer, "--cores=1", "--images=6", "--rounds=2")

    assert found["peer"] == peer
    assert len(found["images_per_s"]) == 2
    assert np.all(np.array(found["images_per_s"]) > 0)
    assert found["label"] in capsys.readouterr().out


def test_a_peer_that_fails_is_named(tmp_path, torchvision, capsys):
    (tmp_path / "broken.jpg").write_bytes(b"no image")

    status = main(["--peers=torchvision_pillow", f"--data={tmp_path}", "--cores=1", "--quick"])

    assert status == 2
    assert "torchvision_pillow" in capsys.readouterr().err


def test_layers_are_measured_each_on_its_own(measured):
    peers = "torchvision_pillow,penstock_folder"
    found = measured("randaugment", peers, "--layers=0,2", "--images=4", "--quick")

    assert [(one["peer"], one["layers"]) for one in found] == [
        ("torchvision_pillow", 0),
        ("torchvision_pillow", 2),
        ("penstock_folder", 0),
        ("penstock_folder", 2),
    ]


def test_boxes_are_made_up_where_there_are_none(measured):
    peers = ["penstock_coco", "torchvision_coco"]
    found = measured("coco_boxes", ",".join(peers), "--cores=1", "--images=6", "--quick")

    assert [one["peer"] for one in found] == peers


def test_a_peer_without_its_library_is_left_out(pictures, monkeypatch, capsys):
    hidden = pictures / "hidden" / "nvidia"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('nvidia is not there')")
    monkeypatch.setenv("PYTHONPATH", str(hidden.parent))

    arguments = ["--case=randaugment", "--peers=dali", f"--data={pictures}", "--images=4"]
    status = main([*arguments, "--layers=0", "--quick"])

    assert status == 2
    assert "left out: dali" in capsys.readouterr().err
