import PIL.Image
import pytest

from benchmarks import multiview


def test_views_are_those_of_loaders_of_their_own(photo, tmp_path, capsys, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(multiview.os, "sched_setaffinity", lambda *_: None, raising=False)
    PIL.Image.fromarray(photo).save(tmp_path / "photo.jpg")

    assert multiview.main(["--data", str(tmp_path), "--images", "2", "--rounds", "1"]) == 0

    table = capsys.readouterr().out
    assert table.count("| crops") == table.count("| DINO") == 2


def test_a_folder_without_photos_is_named(tmp_path, capsys):
    assert multiview.main(["--data", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
