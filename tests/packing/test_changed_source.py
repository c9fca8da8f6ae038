"""A resumed pack is what a new one would be, or it is refused: also if the source has changed."""

import errno
import os
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from packing.samples import ListSource, image_file, mixed_source
from penstock.errors import PackError, PenstockError
from penstock.packing import journal
from penstock.packing import pack as pack_module
from penstock.packing.items import LABEL, PackItem
from penstock.packing.pack import pack
from penstock.packing.shards import MANIFEST, open_packed
from penstock.packing.verify import verify

pytestmark = pytest.mark.usefixtures("fake_codec")

SAMPLES = 9


def interrupt(target, shards, source=None, stop=7, **options):
    """Pack, but fail at one sample: what was done before it stays."""
    source = source or mixed_source(SAMPLES)
    stopping = replace(source, listed=list(source.listed))
    stopping.listed[stop] = PackItem("stop.jpg", b"", {"not": "declared"})
    with pytest.raises(PackError, match=r"stop\.jpg"):
        pack(stopping, target, shards=shards, **options)


def other_image(source, number):
    item = source.listed[number]
    source.listed[number] = PackItem(item.name, image_file(77), item.columns)


def other_label(source, number):
    item = source.listed[number]
    columns = {**item.columns, "label": 1 - item.columns["label"]}
    source.listed[number] = PackItem(item.name, item.data, columns)


def renamed(source, number):
    item = source.listed[number]
    source.listed[number] = PackItem("renamed.jpg", item.data, item.columns)


CHANGES = {
    other_image: r"sample {} \(.*\) has other content \([\d,]+ bytes then, [\d,]+ now\)",
    other_label: r"sample {} \(.*\) has other labels, or other values beside its image",
    renamed: r"sample {} was class./.*, and is renamed\.jpg now",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("options", [{}, {"short_side": 8}], ids=["lossless", "lossy"])
@pytest.mark.parametrize("shards", [1, 3])
def test_a_sample_that_changed_is_named(tmp_path, shards, change, options):
    """Whether it is in a finished shard or in the unfinished one."""
    target = tmp_path / "a.pen"
    interrupt(target, shards, **options)
    for number in (0, 2, 6):
        changed = mixed_source(SAMPLES)
        change(changed, number)
        way_on = rf"remove {target}" + (r"\.partial and .*\.journal" if shards == 1 else r"\.$")
        told = f"has changed since .*: {CHANGES[change].format(number)}.*start over: {way_on}"
        with pytest.raises(PackError, match=told):
            pack(changed, target, shards=shards, resume=True, **options)
    pack(mixed_source(SAMPLES), tmp_path / "whole.pen", shards=shards, **options)
    pack(mixed_source(SAMPLES), target, shards=shards, resume=True, **options)
    assert file_ids(target) == file_ids(tmp_path / "whole.pen")


def file_ids(path):
    return [file.file_id for file in open_packed(path).files]


@pytest.mark.parametrize("stop", [6, 7], ids=["between two shards", "in a shard"])
def test_the_number_of_samples_decides_about_shards(tmp_path, stop):
    target = tmp_path / "set"
    interrupt(target, 3, stop=stop)
    fewer, more, inserted = (mixed_source(SAMPLES + extra) for extra in (-1, 2, 0))
    inserted.listed.insert(2, PackItem("new.jpg", image_file(5), inserted.listed[0].columns))
    with pytest.raises(PackError, match="it had 9 samples and has 8 now, so that each shard"):
        pack(fewer, target, shards=3, resume=True)
    with pytest.raises(PackError, match="it had 9 samples and has 11 now"):
        pack(more, target, shards=3, resume=True)
    with pytest.raises(PackError, match=r"sample 2 was class0/2\.jpeg, and is new\.jpg now"):
        pack(inserted, target, shards=3, resume=True)
    with pytest.raises(PackError, match=r"unfinished pack of 3 files is there.*--shards 3"):
        pack(mixed_source(SAMPLES), target, shards=2, resume=True)
    with pytest.raises(PackError, match=r"unfinished pack of 3 files is there.*--shards 3"):
        pack(mixed_source(SAMPLES), tmp_path / "set", shards=5, resume=True)
    pack(mixed_source(SAMPLES), target, shards=3, resume=True)
    assert [sample_name(target, index) for index in range(SAMPLES)] == [
        item.name for item in mixed_source(SAMPLES).listed
    ]


def sample_name(target, index):
    return open_packed(target).sample(index).name


def test_what_is_new_at_the_end_is_packed_too(tmp_path):
    """Where there are no boundaries between shards: that is what a new pack would do."""
    interrupt(tmp_path / "a.pen", 1)
    pack(mixed_source(SAMPLES + 2), tmp_path / "a.pen", resume=True)
    pack(mixed_source(SAMPLES + 2), tmp_path / "b.pen")
    assert (tmp_path / "a.pen").read_bytes() == (tmp_path / "b.pen").read_bytes()


@pytest.mark.parametrize("shards", [1, 3])
def test_a_source_that_got_shorter_than_what_is_done(tmp_path, shards):
    interrupt(tmp_path / "a.pen", shards)
    with pytest.raises(PackError, match=r"sample 4 was class0/4\.png, and there is none now"):
        pack(mixed_source(4), tmp_path / "a.pen", shards=shards, resume=True)


def folder_source(folder, count=6):
    """Files, so that their times can tell that they are what they were."""
    folder.mkdir()
    items = []
    for number in range(count):
        path = folder / f"{number}.jpg"
        path.write_bytes(image_file(number))
        items.append(PackItem(path.name, path, {"label": number}))
    return ListSource(items, (LABEL,))


@pytest.mark.parametrize("shards", [1, 2])
def test_a_file_with_the_times_of_before_is_found_out_by_its_content(tmp_path, shards):
    source = folder_source(tmp_path / "images")
    interrupt(tmp_path / "a.pen", shards, source, stop=4)
    file = tmp_path / "images" / "1.jpg"
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=times)
    with pytest.raises(PackError, match=r"sample 1 \(1\.jpg\) has other content"):
        pack(source, tmp_path / "a.pen", shards=shards, resume=True)
    file.unlink()
    with pytest.raises(PackError, match=r"sample 1 \(1\.jpg\) can no longer be read"):
        pack(source, tmp_path / "a.pen", shards=shards, resume=True)


def test_files_are_read_again_only_if_they_were_touched(tmp_path, monkeypatch):
    source = folder_source(tmp_path / "images")
    interrupt(tmp_path / "a.pen", 1, source, stop=4)
    read, real = [], pack_module._read
    monkeypatch.setattr(pack_module, "_read", lambda data: (read.append(data.name), real(data))[1])
    os.utime(tmp_path / "images" / "2.jpg", (1, 1))
    interrupt(tmp_path / "a.pen", 1, source, stop=4, resume=True, threads=1)
    packed_before = {"0.jpg", "1.jpg", "2.jpg", "3.jpg"}  # those behind may be under way already
    assert [name for name in read if name in packed_before] == ["2.jpg"]
    shutil.copytree(tmp_path / "images", tmp_path / "copy")  # another disk: the content decides
    moved = [PackItem(i.name, tmp_path / "copy" / i.name, i.columns) for i in source.listed]
    pack(ListSource(moved, (LABEL,)), tmp_path / "a.pen", resume=True)
    assert verify(tmp_path / "a.pen").intact


def test_a_file_left_out_must_be_as_bad_as_before(tmp_path):
    source = mixed_source(SAMPLES)
    source.listed[1] = PackItem("gone.jpg", tmp_path / "gone.jpg", source.listed[1].columns)
    source.listed[2] = PackItem("bad\0\ud800.jpg", b"no image", source.listed[2].columns)
    interrupt(tmp_path / "a.pen", 3, source, on_error="skip")
    (tmp_path / "gone.jpg").write_bytes(image_file(0))
    with pytest.raises(PackError, match=r"sample 1 \(gone\.jpg\) could not be read then, and can"):
        pack(source, tmp_path / "a.pen", shards=3, resume=True, on_error="skip")
    (tmp_path / "gone.jpg").unlink()
    summary = pack(source, tmp_path / "a.pen", shards=3, resume=True, on_error="skip")
    assert len(summary.skipped) == 2


def test_journals_of_finished_shards_go_when_all_is_done(tmp_path, monkeypatch):
    target = tmp_path / "set"
    interrupt(target, 3)
    assert (target / "00000-of-00003.pen.journal").exists()
    monkeypatch.setattr(pack_module, "_remove_journals", lambda *_: None)  # a crash before that
    pack(mixed_source(SAMPLES), target, shards=3, resume=True)
    assert (target / "00002-of-00003.pen.journal").exists()
    monkeypatch.undo()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("penstock.packing.records.encode_jpeg", None)  # nothing is encoded
        pack(mixed_source(SAMPLES), target, shards=3, resume=True)
    assert max(os.listdir(target)) == MANIFEST
    assert len(os.listdir(target)) == 4


def test_a_finished_shard_without_a_journal_is_refused(tmp_path):
    """As older versions left it: what it was made from is unknown."""
    interrupt(tmp_path / "set", 3)
    (tmp_path / "set" / "00001-of-00003.pen.journal").unlink()
    with pytest.raises(PackError, match=r"does not say what it was made from\. Start over: remove"):
        pack(mixed_source(SAMPLES), tmp_path / "set", shards=3, resume=True)


@pytest.mark.parametrize("resume", [False, True])
def test_a_journal_without_its_file_is_started_over(tmp_path, resume):
    """The target was finished, but not the journal removed; and then the target was."""
    interrupt(tmp_path / "a.pen", 1)
    (tmp_path / "a.pen.partial").unlink()
    pack(mixed_source(3), tmp_path / "a.pen", resume=resume)
    pack(mixed_source(3), tmp_path / "b.pen")
    assert (tmp_path / "a.pen").read_bytes() == (tmp_path / "b.pen").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.pen", "b.pen"]


@pytest.mark.parametrize("left", [b"PENJRNL1" + bytes(80), b"my diary", b"P" * 3])
@pytest.mark.parametrize("resume", [False, True])
def test_a_journal_that_is_not_ours_is_left_alone(tmp_path, left, resume):
    journal = tmp_path / "a.pen.journal"
    journal.write_bytes(left)
    with pytest.raises(PackError, match=r"a\.pen\.journal: not a journal of this version"):
        pack(mixed_source(), tmp_path / "a.pen", resume=resume)
    assert journal.read_bytes() == left
    assert os.listdir(tmp_path) == ["a.pen.journal"]


def test_a_partial_file_that_is_not_ours_is_left_alone(tmp_path):
    """Such as a download that is under way."""
    (tmp_path / "a.pen.partial").write_bytes(b"half of a download")
    with pytest.raises(PackError, match=r"there is no .*journal, so it was not left by"):
        pack(mixed_source(), tmp_path / "a.pen", resume=True)
    assert (tmp_path / "a.pen.partial").read_bytes() == b"half of a download"


def test_what_a_pack_leaves_that_ends_when_it_has_just_begun_is_gone_on_from(tmp_path):
    """Ctrl-C right after the file was made, when it was not yet noted to be removed."""
    (tmp_path / "a.pen.partial").touch()
    pack(mixed_source(3), tmp_path / "a.pen", resume=True)
    assert os.listdir(tmp_path) == ["a.pen"]
    assert verify(tmp_path / "a.pen").intact


@pytest.mark.parametrize("name", ["00000-of-00003.pen.journal", MANIFEST])
def test_a_disk_that_fails_while_a_resume_looks_is_told(tmp_path, monkeypatch, name):
    if name == MANIFEST:
        pack(mixed_source(SAMPLES), tmp_path / "set", shards=3)
    else:
        interrupt(tmp_path / "set", 3)
    opened = os.open

    def fail(path, *args, **options):
        if os.fspath(path).endswith(name):
            raise OSError(errno.EIO, "the disk is on fire", path)
        return opened(path, *args, **options)

    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(PenstockError, match=rf"{re.escape(name)}.*disk is on fire|on fire.*{name}"):
        pack(mixed_source(SAMPLES), tmp_path / "set", shards=3, resume=True)


def test_a_finished_pack_of_another_source_is_not_taken_for_done(tmp_path):
    pack(mixed_source(6), tmp_path / "a.pen")
    with pytest.raises(PackError, match=r"finished, from 6 samples, but the source has 7 now"):
        pack(mixed_source(7), tmp_path / "a.pen", resume=True)
    other = mixed_source(6)
    other.classes = ("class0", "another")
    with pytest.raises(PackError, match="finished, but with other columns, classes"):
        pack(other, tmp_path / "a.pen", resume=True)
    pack(mixed_source(6), tmp_path / "a.pen", resume=True)


def test_values_of_columns_are_told_apart(tmp_path):
    """Whatever is declared goes into the digest, each value by itself."""
    columns = (LABEL, *mixed_source().columns[-1:])
    item = PackItem("a.jpg", b"", {"label": np.int64(1), "remark": "ab"})
    same = PackItem("a.jpg", b"", {"label": 1, "remark": "ab"})
    digest = journal.columns_digest
    assert digest(item, columns) == digest(same, columns)
    for label, remark in [(2, "ab"), (1, "a"), (1, "ba")]:
        other = PackItem("a.jpg", b"", {"label": label, "remark": remark})
        assert digest(item, columns) != digest(other, columns)
