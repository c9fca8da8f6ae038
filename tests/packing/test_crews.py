"""Shards by other processes and in parts: the same bytes, whatever dies on the way."""

import os
import subprocess
import sys

import pytest

from packing.dying_source import DyingSource, OtherSource
from packing.samples import ListSource, image_file, mixed_source
from penstock.errors import DecodeError, PackError
from penstock.packing.crews import crew
from penstock.packing.items import PackItem
from penstock.packing.pack import pack
from penstock.packing.sharded import Part, ShardPlan

SAMPLES, SHARDS = 23, 5


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Class folders, so that a source can be opened by its path."""
    root = tmp_path_factory.mktemp("photos")
    for number in range(SAMPLES):
        folder = root / f"class{number % 3}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number:02}.jpg").write_bytes(image_file(number))
    return root


@pytest.fixture(scope="module")
def whole(photos, tmp_path_factory):
    """What threads of one process make of them."""
    target = tmp_path_factory.mktemp("whole") / "set"
    pack(photos, target, shards=SHARDS, threads=1)
    return contents(target)


def test_processes_give_the_same_bytes(photos, whole, tmp_path):
    summary = pack(photos, tmp_path / "set", shards=SHARDS, engine="processes", workers=2)

    assert contents(tmp_path / "set") == whole
    assert (summary.samples, summary.files, summary.waits_for) == (SAMPLES, SHARDS, ())


@pytest.mark.parametrize("labels", ["a file", "a list", "a dictionary"])
def test_paths_and_labels_mean_the_same_to_other_processes(tmp_path, monkeypatch, labels):
    """Relative to this folder; and labels in a list are labels, whatever they look like."""
    monkeypatch.chdir(tmp_path)
    files = [f"{number}.jpg" for number in range(4)]
    for number, file in enumerate(files):
        (tmp_path / file).write_bytes(image_file(number))
    values = ["cat", "4.jpg", "cat", "1.jpg"]
    lines = ["file,label", *(f"{file},{value}" for file, value in zip(files, values, strict=True))]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    given = {
        "a file": (".", "labels.csv"),
        "a list": (files, values),
        "a dictionary": (files, dict(zip(files, values, strict=True))),
    }
    source, known = given[labels]
    here = pack(source, "here", labels=known, shards=2)
    pack(source, "there", labels=known, shards=2, engine="processes", workers=1)

    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert here.samples == 4


def test_remarks_of_all_processes_come_together(tmp_path):
    """Labels outside of the classes are counted shard by shard, and named by the first."""
    source = mixed_source(SAMPLES)
    for number in (3, 11, 19):
        source.listed[number].columns["label"] = 7
    here = pack(source, tmp_path / "here", shards=SHARDS)
    there = pack(source, tmp_path / "there", shards=SHARDS, engine="processes", workers=2)

    assert any(remark.startswith("3 labels") and "class1/3" in remark for remark in here.remarks)
    assert there.remarks == here.remarks
    assert there.source == here.source


def test_a_worker_that_is_killed_is_replaced(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    source = mixed_source(SAMPLES)
    pack(source, tmp_path / "whole", shards=SHARDS)
    dying = DyingSource(
        *(source.listed, source.columns, source.classes, source.box_classes),
        dies_at=(0, 6, 7, 22),
        marks=marks,
    )
    summary = pack(dying, tmp_path / "set", shards=SHARDS, engine="processes", workers=2)

    assert len(list(marks.iterdir())) == 4
    assert contents(tmp_path / "set") == contents(tmp_path / "whole")
    assert any("4 times a worker died" in remark for remark in summary.remarks)


def test_a_sample_that_kills_every_worker_ends_the_pack(tmp_path, monkeypatch):
    monkeypatch.setattr(crew, "MOST_DEATHS", 2)
    source = mixed_source(SAMPLES)
    dying = DyingSource(source.listed, source.columns, source.classes, source.box_classes)
    dying.dies_at = (6,)
    with pytest.raises(PackError, match=r"00001-of-00005.*2 workers died.*SIGKILL.*--resume"):
        pack(dying, tmp_path / "set", shards=SHARDS, engine="processes", workers=2)

    dying.dies_at = ()
    pack(dying, tmp_path / "set", shards=SHARDS, engine="processes", workers=2, resume=True)
    pack(source, tmp_path / "whole", shards=SHARDS)
    assert contents(tmp_path / "set") == contents(tmp_path / "whole")


def test_a_broken_file_is_named_and_can_be_left_out(tmp_path):
    items = [PackItem(f"{number}.jpg", image_file(number)) for number in range(9)]
    items[4] = PackItem("bad.jpg", b"nothing")
    source = ListSource(items)
    with pytest.raises(DecodeError, match=r"bad\.jpg.*--on-error=skip"):
        pack(source, tmp_path / "set", shards=3, engine="processes", workers=2)

    options = {"shards": 3, "on_error": "skip"}
    summary = pack(source, tmp_path / "set", engine="processes", workers=2, resume=True, **options)
    pack(source, tmp_path / "whole", **options)
    assert summary.samples == 8
    assert contents(tmp_path / "set") == contents(tmp_path / "whole")


def test_a_source_that_looks_different_elsewhere_is_refused(tmp_path):
    source = mixed_source(4)
    other = OtherSource(source.listed, source.columns, source.classes, source.box_classes)
    with pytest.raises(PackError, match="Give all machines the same data"):
        pack(other, tmp_path / "set", shards=2, engine="processes", workers=1)


def test_a_source_that_cannot_be_sent_is_refused(tmp_path):
    source = mixed_source(4)
    source.open_file = lambda: None
    with pytest.raises(PackError, match=r'cannot be sent to other processes.*engine="threads"'):
        pack(source, tmp_path / "set", shards=2, engine="processes")
    assert not (tmp_path / "set").exists()


def test_a_pack_of_processes_is_finished_by_threads(tmp_path, monkeypatch):
    """Several shards are unfinished then, not only one."""
    monkeypatch.setattr(crew, "MOST_DEATHS", 1)
    source = mixed_source(SAMPLES)
    dying = DyingSource(source.listed, source.columns, source.classes, source.box_classes)
    dying.dies_at = (3, 7, 12, 17, 22)
    with pytest.raises(PackError, match="died"):
        pack(dying, tmp_path / "set", shards=SHARDS, engine="processes", workers=2)
    fewer = mixed_source(SAMPLES - 1)
    with pytest.raises(PackError, match="it had 23 samples and has 22 now"):
        pack(fewer, tmp_path / "set", shards=SHARDS, resume=True)

    pack(source, tmp_path / "set", shards=SHARDS, resume=True)
    pack(source, tmp_path / "whole", shards=SHARDS)
    assert contents(tmp_path / "set") == contents(tmp_path / "whole")


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_parts_come_together(photos, whole, tmp_path, order):
    target = tmp_path / "set"
    first, last = order
    summary = pack(photos, target, shards=SHARDS, part=f"{first}/2")
    assert len(summary.waits_for) == SHARDS // 2 + (first == 2)
    assert not (target / "manifest.json").exists()
    with pytest.raises(PackError, match=r"this part of the pack was begun before.*--resume"):
        pack(photos, target, shards=SHARDS, part=f"{first}/2")

    again = pack(photos, target, shards=SHARDS, part=f"{first}/2", resume=True)
    assert again.waits_for == summary.waits_for
    summary = pack(photos, target, shards=SHARDS, part=f"{last}/2")
    assert summary.waits_for == ()
    assert summary.samples == SAMPLES
    assert contents(target) == whole


def test_parts_that_run_at_the_same_time(photos, whole, tmp_path):
    target = tmp_path / "set"
    code = (
        "import sys, penstock; penstock.pack(sys.argv[1], sys.argv[2], shards=5, part=sys.argv[3])"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, photos, target, f"{part}/3"])
        for part in (1, 2, 3)
    ]
    assert [one.wait() for one in running] == [0, 0, 0]
    assert contents(target) == whole


def test_spans_cover_the_source():
    plan = ShardPlan("set", 7, 23, b"")
    spans = [plan.span(number) for number in range(7)]
    assert [span.start for span in spans] == [0, *(span.stop for span in spans[:-1])]
    assert spans[-1].stop is None
    assert sum(plan.samples(number) for number in range(7)) == 23
    assert sorted(n for part in (1, 2, 3) for n in Part(part, 3).shards(7)) == list(range(7))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "dask"}, "engine: must be one of threads, processes, ray, got 'dask'"),
        ({"engine": "processes"}, "--shards N"),
        ({"part": "1/2"}, "--shards N"),
        ({"shards": 4, "part": "0/2"}, "counted from 1; got '0/2'"),
        ({"shards": 4, "part": "3/2"}, "counted from 1; got '3/2'"),
        ({"shards": 4, "part": "two"}, "counted from 1; got 'two'"),
        ({"shards": 2, "part": "1/3"}, "there are 2 shards for 3 parts"),
        ({"workers": 2}, "threads=2"),
        ({"shards": 2, "workers": 0, "engine": "processes"}, "workers: must be 1 or more"),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path, options, message):
    with pytest.raises(PackError, match=message):
        pack(mixed_source(4), tmp_path / "a.pen", **options)
    assert os.listdir(tmp_path) == []
