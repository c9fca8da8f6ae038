"""What `analyze` returns can be shown, kept and read again by public names."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import analysis_samples
import penstock
from penstock.report import write_html

OLD = Path(__file__).parents[1] / "results" / "analysis_of_0_1.json"


@pytest.fixture
def found():
    return penstock.Analysis.from_json(OLD)


def test_an_analysis_of_an_earlier_version_is_read(found):
    """The names of its entries are an interface: they may be added to, never changed."""
    without_later_entries = replace(analysis_samples.full(), fresh=None)
    assert asdict(found) == asdict(without_later_entries)
    check_kept(json.loads(OLD.read_text(encoding="utf-8")), json.loads(found.to_json()))


def check_kept(old, new):
    """Every entry of the old one is in the new one."""
    if isinstance(old, dict):
        assert set(old) <= set(new)
        for name in old:
            check_kept(old[name], new[name])
    elif isinstance(old, list):
        for one, other in zip(old, new, strict=True):
            check_kept(one, other)
    else:
        assert old == new


def test_what_is_saved_comes_back(found, tmp_path):
    found.save(tmp_path / "found.json")

    assert penstock.Analysis.from_json(tmp_path / "found.json") == found


def test_a_file_that_cannot_be_written_is_named(found, tmp_path):
    with pytest.raises(penstock.AnalysisError, match=r"missing.+cannot write the analysis"):
        found.save(tmp_path / "missing" / "found.json")


def test_the_page_is_written_or_returned(found, tmp_path):
    pytest.importorskip("vl_convert")
    found.to_html(tmp_path / "ours.html", before=analysis_samples.minimal())
    write_html(found, tmp_path / "theirs.html", before=analysis_samples.minimal())
    page = found.to_html(before=analysis_samples.minimal())

    assert (tmp_path / "ours.html").read_bytes() == (tmp_path / "theirs.html").read_bytes()
    assert (tmp_path / "ours.html").read_text(encoding="utf-8") == page


def test_the_terminal_shows_the_sentence(found, capsys):
    pytest.importorskip("rich")
    found.print()

    assert "decode" in capsys.readouterr().out
