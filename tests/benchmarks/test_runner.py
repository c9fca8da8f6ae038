import json

import numpy as np
import PIL.Image
import pytest

from benchmarks import run
from benchmarks.__main__ import main, parse
from benchmarks.cases import tiny_32
from benchmarks.dataset import image_paths


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """Keep the runs of tests apart from one that is to be resumed."""
    monkeypatch.setattr(run, "STATE", tmp_path / "state" / "run.json")


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
        (["--case", "classify_224,nothing"], "nothing"),
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
        options += ["--seconds=0", "--here"]  # one pass is enough
        assert main([*options, *arguments]) == 0
        (found,) = json.loads(figures.read_text())["cases"]
        return found["outcome"]["measured"]

    return run


@pytest.mark.parametrize("peer", ["torchvision_pillow", "penstock_folder", "penstock_packed"])
@pytest.mark.parametrize("case", ["classify_224", "classify_224_uint8", "validate_224"])
def test_a_peer_is_measured_in_its_own_process(case, peer, measured, capsys):
    (found,) = measured(case, peer, "--cores=1", "--images=6", "--rounds=2")

    assert found["peer"] == peer
    assert len(found["images_per_s"]) == 2
    assert np.all(np.array(found["images_per_s"]) > 0)
    assert found["label"] in capsys.readouterr().out
    assert found["pixel_error"] == [0, 0.0]


def test_a_run_that_is_resumed_leaves_out_what_it_has(pictures, tmp_path, capsys):
    figures = tmp_path / "figures.json"
    arguments = ["--case=classify_224,validate_224", "--peers=penstock_folder", "--images=2"]
    arguments += [f"--data={pictures}", f"--json={figures}", "--quick", "--here", "--seconds=0"]
    assert main(arguments) == 0
    whole = figures.read_text()
    state = json.loads(run.STATE.read_text())
    run.STATE.write_text(json.dumps({**state, "cases": state["cases"][:1]}))
    capsys.readouterr()

    assert main([*arguments, "--resume"]) == 0

    said = capsys.readouterr().err
    assert "validate_224: case 1 of 1" in said
    assert "classify_224" not in said
    names = [
        [case["name"] for case in json.loads(text)["cases"]]
        for text in (whole, figures.read_text())
    ]
    assert names[0] == names[1] == ["classify_224", "validate_224"]


def test_a_peer_that_fails_is_named(tmp_path, torchvision, capsys):
    (tmp_path / "broken.jpg").write_bytes(b"no image")

    peers = "--peers=torchvision_pillow"
    status = main(["--case=classify_224", peers, f"--data={tmp_path}", "--quick", "--here"])

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


@pytest.mark.parametrize("peer", ["torchvision_pillow", "penstock_packed"])
def test_tiny_images_are_made_of_photos(peer, measured, tmp_path, monkeypatch):
    monkeypatch.setattr(tiny_32, "FOLDER", tmp_path / "tiny")

    (found,) = measured("tiny_32", peer, "--images=30", "--rounds=1")

    assert len(found["images_per_s"]) == 1
    (arrays,) = (tmp_path / "tiny").rglob("*.npy")
    images = np.load(arrays)
    assert images.shape == (30, 32, 32, 3)
    assert len(np.unique(images, axis=0)) > 20
    np.testing.assert_array_equal(
        np.asarray(PIL.Image.open(arrays.parent / "000007.png")), images[7]
    )


def test_packing_unpacking_and_verifying_are_measured(measured):
    found = measured("packing", "penstock_packed", "--images=2", "--rounds=1")

    works = ["load", "write", "unpack", "verify", "verify_originals"]
    assert [one["work"] for one in found] == works


def test_a_case_that_fails_does_not_stop_the_others(pictures, capsys):
    arguments = ["--case=cold_224,classify_224", "--peers=penstock_folder", "--images=2"]
    broken = pictures / "three.jpg"
    broken.write_bytes(b"no image")

    assert main([*arguments, f"--data={pictures}", "--quick", "--here"]) == 2

    said = capsys.readouterr().err
    assert "cold_224: no peer could be measured" in said
    assert "classify_224: no peer could be measured" in said


def test_a_peer_without_its_library_is_left_out(pictures, monkeypatch, capsys):
    hidden = pictures / "hidden" / "nvidia"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('nvidia is not there')")
    monkeypatch.setenv("PYTHONPATH", str(hidden.parent))

    arguments = ["--case=randaugment", "--peers=dali", f"--data={pictures}", "--images=4"]
    status = main([*arguments, "--layers=0", "--quick", "--here"])

    assert status == 2
    assert "left out: dali" in capsys.readouterr().err
