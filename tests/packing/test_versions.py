"""Files of version 1 are read as they were; others than 1 and 2 are refused by name."""

import io
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from packing.samples import mixed_source
from penstock import Loader, PackError, inspect, pack, verify
from penstock import transforms as T
from penstock.packing.format import TAIL_BYTES
from penstock.packing.items import PackItem
from penstock.packing.pack_index import PackIndex, index_range
from penstock.packing.read import PackFile
from penstock.packing.records import original_file, read_image
from penstock.packing.shards import MANIFEST, ShardFacts, manifest_text

OLD = Path(__file__).parents[1] / "data" / "format_1" / "old.pen"


@pytest.fixture
def repacked(tmp_path):
    """The samples of the old file in a new one."""
    pack(Repacked(PackFile(OLD)), tmp_path / "new.pen", progress=False)
    return tmp_path / "new.pen"


class Repacked:
    """The original files and columns of a packed file, as a source."""

    def __init__(self, file):
        self._file = file
        self.columns = file.schema
        self.classes, self.box_classes = file.table("classes"), file.table("box_classes")
        self.length = len(file)

    def items(self, start=0):
        for index in range(start, self.length):
            values = {name: reader[index] for name, reader in self._file.columns.items()}
            yield PackItem(self._file.name(index), original_file(self._file, index), values)

    def describe(self):
        return "an old file"


def test_the_old_file_is_what_it_was():
    file = PackFile(OLD)
    assert file.version == 1
    assert len(file) == 7
    assert verify(OLD, deep=True).problems == ()
    assert verify(OLD, originals=True).problems == ()
    assert inspect(OLD).versions == (1,)
    assert inspect(OLD).lines()[0].endswith("1 file, format 1")
    for index in range(len(file)):
        data = original_file(file, index)
        if file.sample(index).restores == "bytes":
            assert zlib.crc32(data) == file.sample(index).original_crc
        expected = PIL.Image.open(io.BytesIO(data)).convert("RGB")
        np.testing.assert_array_equal(np.asarray(read_image(file, index)), np.asarray(expected))


@pytest.mark.parametrize("transform", [T.CenterCrop(40), T.RandomResizedCrop(32), T.RandAugment()])
def test_old_and_new_give_the_same_batches(repacked, transform):
    assert PackFile(repacked).version == 2
    assert inspect(repacked).to_dict()["versions"] == (2,)
    pipeline = T.Compose([transform, T.Resize((33, 35))])
    options = {"transform": pipeline, "batch_size": 3, "seed": 1, "shuffle": True}
    loaders = [
        Loader(path, output="numpy", targets="list", masks=True, **options)
        for path in (OLD, repacked)
    ]
    for old, new in zip(*loaders, strict=True):
        np.testing.assert_array_equal(old[0], new[0], strict=True)
        for old_target, new_target in zip(old[1], new[1], strict=True):
            assert old_target.keys() == new_target.keys()
            for name in old_target:
                np.testing.assert_array_equal(old_target[name], new_target[name], strict=True)


def test_the_index_of_an_old_file_can_be_read_alone():
    data = OLD.read_bytes()
    begin, end = index_range(len(data), data[-200:], "old")
    index = PackIndex.from_bytes(data[begin:], len(data), "old")
    assert end == len(data) - 200
    assert index.version == 1
    assert index.blocks == {}
    assert not index.lossy


def with_version(data, header, tail):
    """Change both versions, with right checksums."""
    changed = bytearray(data)
    if header is not None:
        struct.pack_into("<I", changed, 8, header)
        struct.pack_into("<I", changed, 60, zlib.crc32(changed[:60]))
    if tail is not None:
        struct.pack_into("<H", changed, len(data) - TAIL_BYTES + 34, tail)
        struct.pack_into("<I", changed, len(data) - 8, zlib.crc32(changed[-64:-8]))
    return changed


@pytest.mark.parametrize(
    ("header", "tail", "told"),
    [
        (3, 3, "format 3; this version reads 1-2. Upgrade penstock, or repack"),
        (0, None, "format 0; this version reads 1-2"),
        (None, 3, "format 3; this version reads 1-2"),
        (None, 1, "the footer is damaged"),
        (1, None, "header and footer belong to different files"),
        (None, 0, "role 3, kind 0 or type 9 is unknown to this version"),
        (1, 0, "role 3, kind 0 or type 9 is unknown to this version"),
    ],
)
def test_other_versions_are_refused_by_name(tmp_path, header, tail, told):
    path = tmp_path / "other.pen"
    pack(mixed_source(3), path, progress=False)
    path.write_bytes(with_version(path.read_bytes(), header, tail))
    with pytest.raises(PackError, match=told):
        PackFile(path)
    if tail is not None:
        data = path.read_bytes()
        with pytest.raises(PackError, match=told):
            PackIndex.from_bytes(data, len(data), "other")


def test_an_old_file_is_no_new_one(tmp_path):
    path = tmp_path / "other.pen"
    path.write_bytes(with_version(OLD.read_bytes(), 2, 2))
    with pytest.raises(PackError, match=r"needs 7 values of Column\(name='part_rows'.*got none"):
        PackFile(path)


def test_flags_are_in_both_ends(tmp_path):
    path = tmp_path / "lossy.pen"
    pack(mixed_source(3), path, quality=50, progress=False)
    data = path.read_bytes()
    assert PackFile(path).lossy
    assert PackIndex.from_bytes(data, len(data), "lossy").lossy
    changed = bytearray(data)
    struct.pack_into("<I", changed, len(data) - TAIL_BYTES + 12, 0)
    struct.pack_into("<I", changed, len(data) - 8, zlib.crc32(changed[-64:-8]))
    path.write_bytes(changed)
    with pytest.raises(PackError, match="header and footer belong to different files"):
        PackFile(path)


def test_a_pack_begun_by_an_old_penstock_is_not_resumed(tmp_path):
    """Its journal says nothing of parts and blocks."""
    target = tmp_path / "a.pen"
    (tmp_path / "a.pen.partial").write_bytes(bytes(64))
    (tmp_path / "a.pen.journal").write_bytes(b"PENJRNL2" + bytes(60))
    with pytest.raises(PackError, match=r"a\.pen\.journal: not a journal of this version.*Go on"):
        pack(mixed_source(3), target, resume=True, progress=False)
    assert (tmp_path / "a.pen.journal").read_bytes().startswith(b"PENJRNL2")


def test_old_and_new_shards_may_lie_side_by_side(tmp_path, repacked):
    """A folder may be packed anew, file by file; only its manifest must be told."""
    folder = tmp_path / "set"
    folder.mkdir()
    paths = [folder / "00000-of-00002.pen", folder / "00001-of-00002.pen"]
    for path, source in zip(paths, (OLD, repacked), strict=True):
        shutil.copy(source, path)
    (folder / MANIFEST).write_text(manifest_text(ShardFacts.of(PackFile(path)) for path in paths))
    assert inspect(folder).versions == (1, 2)
    assert "format 1 and 2" in inspect(folder).lines()[0]
    assert verify(folder, deep=True).problems == ()
    assert verify(folder, originals=True).problems == ()
