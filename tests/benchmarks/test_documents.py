import json
from dataclasses import asdict, replace
from xml.etree import ElementTree as ET

import pytest

from benchmarks.answer import Answer
from benchmarks.documents import BEGIN, END, PAGE, read_kept, with_tables, write_documents
from benchmarks.memory import Memory
from benchmarks.peers_chart import draw
from benchmarks.runner import Measured, Outcome


def measured(peer, rates, cores=1):
    return Measured(
        peer=peer,
        cores=cores,
        label=f"<{peer}>",
        versions={"thing": "1.0"},
        idle=Memory(1, 2),
        peak=Memory(3, 4),
        images_per_s=rates,
        pixel_error=(3, 0.5),
    )


CLASSIFY = Answer(
    name="classify_224",
    title="Training",
    question="How fast",
    setting="3 rounds",
    different_photos=256,
    machine="a machine",
    outcome=Outcome(
        [
            measured("torchvision_pillow", [100.0, 120.0, 110.0]),
            measured("penstock_packed", [900.0, 950.0, 910.0]),
            measured("penstock_packed", [1800.0, 1800.0, 1800.0], cores=2),
        ],
        {"dali": "dali: cannot be installed."},
    ),
    command="penstock bench --docs",
)


@pytest.fixture
def places(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{BEGIN}\nold tables\n{END}\n\nThe end.\n")
    return {"kept": tmp_path / "bench.json", "page": page, "chart": tmp_path / "peers.svg"}


def test_tables_replace_the_old_ones_between_the_marks(places):
    write_documents([CLASSIFY], **places)

    text = places["page"].read_text()
    assert text.startswith("# Title\n")
    assert text.endswith(f"{END}\n\nThe end.\n")
    assert "old tables" not in text
    assert "### Training" in text
    assert "- left out: dali: cannot be installed." in text
    assert "different photos: 256" in text
    assert "| <penstock_packed>" in text
    write_documents([], **places)
    assert places["page"].read_text() == text


def test_a_case_that_is_measured_again_replaces_its_own_figures_only(places):
    other = replace(CLASSIFY, name="validate_224", title="Validation")
    write_documents([other], **places)
    write_documents([CLASSIFY], **places)
    write_documents([replace(other, machine="another machine")], **places)

    kept = read_kept(places["kept"])
    assert [one.name for one in kept] == ["classify_224", "validate_224"]
    assert kept[0] == CLASSIFY
    assert kept[1].machine == "another machine"


def test_answers_survive_json():
    assert Answer.from_dict(json.loads(json.dumps(asdict(CLASSIFY)))) == CLASSIFY


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="marks"):
        with_tables("# Title\n", [CLASSIFY])


def test_our_page_has_the_marks():
    assert with_tables(PAGE.read_text(), []).count(BEGIN) == 1


def test_the_chart_has_the_fastest_first_and_ours_stand_out(places):
    write_documents([CLASSIFY], **places)

    chart = places["chart"].read_text()
    assert chart == draw(CLASSIFY.outcome.measured)
    ET.fromstring(chart)  # noqa: S314 (we have just written it)
    assert chart.count("<rect") == 2  # those on one core
    assert chart.index("&lt;penstock_packed&gt;") < chart.index("&lt;torchvision_pillow&gt;")
    assert "900-950" in chart
