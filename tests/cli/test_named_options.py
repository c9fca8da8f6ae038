"""Errors name options; these exist where the errors are met, and do what they promise."""

import json

import pytest

from packing.samples import image_file
from penstock.cli.main import main
from penstock.packing.shards import open_packed


@pytest.fixture
def photos(tmp_path):
    root = tmp_path / "photos"
    root.mkdir()
    for number in range(2):
        (root / f"{number}.jpg").write_bytes(image_file(number))
    return root


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("picture,age,weight\n0.jpg,3,0.5\n1.jpg,4,0.25\n", encoding="utf-8")
    return path


def told(capsys, *arguments):
    assert main([*map(str, arguments)]) == 2
    return capsys.readouterr().err


def test_columns_of_a_labels_file_can_be_named(photos, table, tmp_path, capsys):
    arguments = ["pack", photos, tmp_path / "a.pen", "--labels", table]
    assert "--file-column and --label-column" in told(capsys, *arguments)
    arguments += ["--file-column", "picture"]
    assert "label_column=...) or --label-column" in told(capsys, *arguments)
    assert main([*map(str, arguments), "--label-column", "weight"]) == 0
    assert open_packed(tmp_path / "a.pen").value("label", 1) == 0.25


def test_the_kind_of_labels_can_be_said(photos, table, tmp_path, capsys):
    table.write_text("file,label\n0.jpg,7\n1.jpg,seven\n", encoding="utf-8")
    arguments = ["pack", photos, tmp_path / "a.pen", "--labels", table]
    assert "label_kind='class') or --label-kind class" in told(capsys, *arguments)
    assert main([*map(str, arguments), "--label-kind", "class"]) == 0
    assert open_packed(tmp_path / "a.pen").table("classes") == ("7", "seven")


def test_an_option_about_labels_needs_them(photos, tmp_path, capsys):
    error = told(capsys, "pack", photos, tmp_path / "a.pen", "--label-column", "age")
    assert "--label-column: describes a labels file, but none is given. Add --labels." in error


def test_a_sheet_takes_the_same_options(photos, table, tmp_path):
    out = tmp_path / "sheet.png"
    chosen = ["--file-column", "picture", "--label-column", "age"]
    assert main(["show", str(photos), "--labels", str(table), *chosen, "--out", str(out)]) == 0


def test_empty_classes_can_be_accepted(photos, tmp_path, capsys):
    (photos / "class").mkdir()
    for name in ("0.jpg", "1.jpg"):
        (photos / name).rename(photos / "class" / name)
    (photos / "empty").mkdir()
    arguments = ["pack", str(photos), str(tmp_path / "a.pen")]
    assert "allow_empty=True) or --allow-empty" in told(capsys, *arguments)
    assert main([*arguments, "--allow-empty"]) == 0
    assert open_packed(tmp_path / "a.pen").table("classes") == ("class", "empty")


def test_an_analysis_can_go_on_without_bad_files(photos, monkeypatch, capsys):
    (photos / "bad.jpg").write_bytes(b"none")
    seen = []

    def analyze(loader, *_, **__):
        list(loader)
        seen.append(loader.ledger.counts())
        raise KeyboardInterrupt

    monkeypatch.setattr("penstock.analysis.analyze.analyze", analyze)
    assert "'skip' or 'substitute' (--on-error)" in told(capsys, "analyze", photos)
    assert main(["analyze", str(photos), "--on-error", "skip"]) == 130
    assert seen == [{"skipped": 1}]


def test_remarks_are_in_the_json_of_a_pack(photos, tmp_path, capsys):
    assert main(["pack", str(photos), str(tmp_path / "a.pen"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["remarks"] == ["No labels were recognised."]
