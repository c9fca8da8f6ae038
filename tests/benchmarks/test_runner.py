import json

import numpy as np
import PIL.Image
import pytest

from benchmarks.__main__ import main, parse
from benchmarks.dataset import image_paths


@pytest.fixture
def pictures(tmp_path, photo):
    for name in ("one.jpg", "two.JPEG"):
        PIL.Image.fromarray(photo).save(tmp_path / name, format="JPEG")
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
        (["--rounds", "0"], "at least 1"),
        (["--write", "../elsewhere"], "not a path"),
    ],
)
def test_bad_options_are_refused_with_their_value(arguments, complaint, capsys):
    with pytest.raises(SystemExit):
        parse(arguments)

    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("peer", ["torchvision_pillow", "penstock_folder"])
def test_a_peer_is_measured_in_its_own_process(peer, pictures, torchvision, tmp_path, capsys):
    figures = tmp_path / "figures.json"

    status = main(
        [
            "--case=classify_224",
            f"--peers={peer}",
            f"--data={pictures}",
            f"--json={figures}",
            "--cores=1",
            "--images=70",
            "--rounds=2",
        ]
    )

    (case,) = json.loads(figures.read_text())["cases"]
    (measured,) = case["measured"]
    assert status == 0
    assert measured["peer"] == peer
    assert len(measured["images_per_s"]) == 2
    assert np.all(np.array(measured["images_per_s"]) > 0)
    assert measured["label"] in capsys.readouterr().out


def test_a_peer_that_fails_is_named(tmp_path, torchvision, capsys):
    (tmp_path / "broken.jpg").write_bytes(b"no image")

    status = main(["--peers=torchvision_pillow", f"--data={tmp_path}", "--cores=1", "--quick"])

    assert status == 2
    assert "torchvision_pillow" in capsys.readouterr().err
