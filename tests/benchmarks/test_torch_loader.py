import PIL.Image
import pytest

pytest.importorskip("torch")

from benchmarks import torch_loader


def test_both_questions_are_answered(photo, tmp_path, capsys, monkeypatch, torchvision):
    monkeypatch.setattr(torch_loader.os, "sched_setaffinity", lambda *_: None, raising=False)
    monkeypatch.setattr(torch_loader.torch, "set_num_threads", lambda _: None)
    monkeypatch.setattr(torch_loader, "LEAST_S", 0.0)
    monkeypatch.setattr(torch_loader, "CORES", 1)
    PIL.Image.fromarray(photo).save(tmp_path / "photo.jpg")

    assert torch_loader.main(["--data", str(tmp_path), "--images", "4", "--rounds", "1"]) == 0

    table = capsys.readouterr().out
    assert "over penstock.Loader" in table
    assert "over ImageFolder" in table


def test_a_folder_without_photos_is_named(tmp_path, capsys):
    assert torch_loader.main(["--data", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
