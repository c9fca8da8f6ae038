"""The whole experiment, with tiny data; interrupted, resumed and redrawn."""

import json

import pytest

from penstock.cli.main import main
from penstock.experiments.formats import study
from penstock.experiments.formats.forms import FORMS

pytest.importorskip("vl_convert")
pytest.importorskip("torchvision")
for module in ("google_crc32c", "h5py", "lmdb", "pyarrow"):
    pytest.importorskip(module)


@pytest.fixture
def few(monkeypatch):
    """Keep to some formats and contestants: one of each kind."""
    kept = ("folder", "tfrecord", "lmdb", "pen")
    chosen = [
        *((study.TORCH, form) for form in ("folder", "tfrecord", "lmdb")),
        *((study.PENSTOCK, form) for form in ("tfrecord", "pen")),
    ]
    monkeypatch.setattr(study, "FORMS", {form: FORMS[form] for form in kept})
    monkeypatch.setattr(study, "contestants", lambda: chosen)
    monkeypatch.setattr(study, "_AUGMENTED", ((study.PENSTOCK, "pen"),))
    monkeypatch.setattr(study, "_BEHIND_STORAGE_QUICKLY", chosen[:2])


def test_a_run_from_the_command_line(few, tmp_path, capsys):
    from penstock.demo.sample_set import make_sample_set

    photos = make_sample_set(tmp_path / "photos", images=8, classes=2)
    arguments = [
        *("experiment", "formats", "--quick", "--json", "--data", str(photos)),
        *("--out", str(tmp_path / "out"), "--images", "6", "--samples", "12"),
        *("--batch-size", "2", "--seconds", "0.01", "--cores", "1", "--devices", "emulated:50000"),
    ]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["settings"]["distinct"] == 6
    assert not [key for key, value in results["measurements"].items() if "failed" in str(value)]
    assert {claim["judgement"] for claim in found["claims"]}
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Share of training time saved" in report

    # A measurement that is missing is made again, with the data set written again for it.
    del results["measurements"]["read/0/penstock/pen"]
    (tmp_path / "out" / "results.json").write_text(json.dumps(results))
    (written,) = (tmp_path / "out" / "written").iterdir()
    for file in (written / "pen").iterdir():
        file.unlink()
    (written / "pen").rmdir()
    assert main(arguments) == 0
    again = json.loads((tmp_path / "out" / "results.json").read_text())
    assert "shuffled" in again["measurements"].pop("read/0/penstock/pen")
    assert again["measurements"] == results["measurements"]

    (tmp_path / "out" / "savings.svg").unlink()
    assert main([*arguments[:3], "--redraw", "--out", str(tmp_path / "out")]) == 0
    assert "training time saved" in (tmp_path / "out" / "savings.svg").read_text()
