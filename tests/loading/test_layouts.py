"""A loader reads every layout as it lies: the batches of the packed file, to the last number."""

import io
import shutil
import tarfile
import threading

import numpy as np
import pytest

import layout_samples
from dataset_samples import OUTSIDE_SETS
from layout_samples import COUNT, LAYOUTS
from penstock import DecodeError, Loader, SourceError, open_data, pack
from penstock import transforms as T
from penstock.data.columns import columns_of
from penstock.data.packed import PackedSource
from penstock.data.unpacked import UnpackedSource
from penstock.packing.datasets import open_dataset

MANY_SIZES = T.Compose([T.RandomHorizontalFlip(0.5), T.RandomShortestSize([24, 32, 48])])
ONE_SIZE = T.Compose([T.RandomResizedCrop(24), T.RandomHorizontalFlip(0.5)])


@pytest.fixture(params=LAYOUTS)
def laid_out(request, tmp_path):
    write, library = LAYOUTS[request.param]
    if library is not None:
        pytest.importorskip(library)
    path = write(tmp_path / "data")
    pack(path, tmp_path / "data.pen", progress=False)
    return path, tmp_path / "data.pen"


def options_for(packed):
    """All that the data set has to give."""
    source = open_data(packed)
    has_masks = any(column.name == "masks" for column in source.schema)
    follows = has_masks or any(column.name in {"boxes", "keypoints"} for column in source.schema)
    return {
        "transform": MANY_SIZES if follows else ONE_SIZE,
        "columns": [name for name in columns_of(source) if name not in {"boxes", "masks"}],
        "as_dict": True,
        "batch_size": 3,
        "shuffle": True,
        "seed": 5,
        "output": "numpy",
        **({"masks": True} if has_masks else {}),
    }


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


def test_batches_are_those_of_the_packed_file(laid_out):
    path, packed = laid_out
    options = options_for(packed)
    direct, from_packed = Loader(path, threads=2, **options), Loader(packed, threads=1, **options)

    assert len(direct.source) == COUNT
    assert direct.classes == from_packed.classes
    for _ in range(2):
        assert_same(list(direct), list(from_packed))


@pytest.mark.parametrize(("path", "kind", "split"), OUTSIDE_SETS)
def test_real_data_sets_give_the_same(outside_folder, tmp_path, path, kind, split):
    source = open_data(outside_folder / path, kind=kind, split=split)
    pack(source, tmp_path / "x.pen", progress=False)
    options = {**options_for(tmp_path / "x.pen"), "batch_size": 16}
    assert_same(list(Loader(source, **options)), list(Loader(tmp_path / "x.pen", **options)))


def test_the_plain_call_gives_the_same(laid_out):
    path, packed = laid_out
    options = {"batch_size": 1, "output": "numpy"}
    assert_same(list(Loader(path, **options)), list(Loader(packed, **options)))


def test_pillow_gives_the_same(laid_out):
    path, packed = laid_out
    options = options_for(packed)
    assert_same(list(Loader(path, backend="pillow", **options)), list(Loader(packed, **options)))


def test_an_opened_data_set_can_be_packed(laid_out, tmp_path):
    path, packed = laid_out
    pack(open_data(path), tmp_path / "again.pen", progress=False)
    assert (tmp_path / "again.pen").read_bytes() == packed.read_bytes()


def test_epochs_are_resumed_and_shared(laid_out):
    path, packed = laid_out
    options = options_for(packed)
    expected = list(Loader(packed, **options))
    loader = Loader(path, **options)
    next(iter(loader))
    resumed = Loader(path, threads=3, **options)
    resumed.load_state_dict(loader.state_dict())
    assert_same(list(resumed), expected[1:])
    for rank in range(2):
        shared = {"rank": rank, "world_size": 2, **options}
        assert_same(list(Loader(path, **shared)), list(Loader(packed, **shared)))


def test_items_can_be_read_from_anywhere(laid_out):
    path, _ = laid_out
    source = open_dataset(path)
    every = list(source.items())
    for start in range(COUNT + 1):
        rest = list(source.items(start))
        assert [item.name for item in rest] == [item.name for item in every[start:]]
        assert [item.data for item in rest] == [item.data for item in every[start:]]


def test_threads_may_ask_at_once(laid_out):
    path, _ = laid_out
    source = open_data(path)
    expected = [source.open(index).read() for index in range(COUNT)]
    failed = []

    def read():
        samples = list(range(COUNT)) * 5
        failed.extend(i for i in samples if source.open(i).read() != expected[i])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_mixing_takes_the_labels_of_an_archive(tmp_path):
    path = layout_samples.webdataset(tmp_path / "data")
    pack(path, tmp_path / "a.pen", progress=False)
    options = {
        "transform": T.Compose([ONE_SIZE, T.ToDtype("float32", scale=True)]),
        "batch_transform": T.MixUp(num_classes=3),
        "batch_size": 3,
        "output": "numpy",
    }
    assert_same(list(Loader(path, **options)), list(Loader(tmp_path / "a.pen", **options)))


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w:bz2"])
def test_compressed_archives_say_how_to_pack_them(tmp_path, mode):
    ending = mode.removeprefix("w:")
    path = tmp_path / f"my data.tar.{ending}"
    path.write_bytes(layout_samples.tar([("0.jpg", layout_samples.image(0))], mode))
    with pytest.raises(SourceError) as told:
        Loader(path)
    target = tmp_path / "my data.pen"
    assert "the archive is compressed" in str(told.value)
    assert f'penstock.pack("{path}", "{target}")' in str(told.value)
    assert f"penstock pack '{path}' '{target}'" in str(told.value)
    pack(path, target, progress=False)
    assert len(Loader(target)) == 1


def test_headers_for_all_members_hold_for_each(tmp_path):
    with tarfile.open(
        tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT, pax_headers={"comment": "all of them"}
    ) as tar:
        for number in range(3):
            info = tarfile.TarInfo(f"{number}.jpg")
            info.size = len(layout_samples.image(number))
            tar.addfile(info, io.BytesIO(layout_samples.image(number)))
    source = open_data(tmp_path / "a.tar")
    assert source.open(2).read() == layout_samples.image(2)


def test_large_row_groups_say_so(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    path = layout_samples.parquet(tmp_path / "data")
    monkeypatch.setattr("penstock.packing.datasets.parquet.MOST_KEPT_BYTES", 1000)
    with pytest.raises(SourceError, match=r"a row group has [\d,]+ bytes.*penstock pack"):
        Loader(path)


def test_a_damaged_image_in_an_archive_is_named_by_its_member(tmp_path):
    members = [(f"{n}.jpg", layout_samples.image(n, "JPEG")) for n in range(4)]
    members[2] = ("2.jpg", b"\xff\xd8\xff\xe0" + b"rubbish" * 20)
    path = tmp_path / "a.tar"
    path.write_bytes(layout_samples.tar(members))
    options = {"transform": ONE_SIZE, "batch_size": 4, "output": "numpy"}

    with pytest.raises(DecodeError, match=r"a\.tar: 2\.jpg: "):
        list(Loader(path, **options))
    skipping = Loader(path, on_error="skip", **options)
    (images,) = skipping
    assert len(images) == 3
    assert [entry.file for entry in skipping.ledger] == [f"{path}: 2.jpg"]
    (images,) = Loader(path, on_error="substitute", **options)
    assert len(images) == 4


def test_a_damaged_record_is_named(tmp_path):
    pytest.importorskip("google_crc32c")
    path = layout_samples.tfrecord_labels(tmp_path / "data")
    content = bytearray(path.read_bytes())
    loader = Loader(path, transform=ONE_SIZE, batch_size=2, output="numpy")
    content[-100] ^= 255  # inside the last image
    with path.open("r+b") as file:
        file.write(content)
    with pytest.raises((DecodeError, SourceError), match=r"checksum is wrong|was changed"):
        list(loader)
    with pytest.raises(DecodeError, match=r"record 6 .*checksum is wrong"):
        list(Loader(path, transform=ONE_SIZE, batch_size=2, output="numpy"))


def test_an_archive_that_is_replaced_is_an_error(tmp_path):
    path = layout_samples.imagenet_val(tmp_path / "data")
    loader = Loader(path, transform=ONE_SIZE, batch_size=1, prefetch=0, output="numpy")
    batches = iter(loader)
    next(batches)
    shutil.copy(path, tmp_path / "copy")
    (tmp_path / "copy").replace(path)
    with pytest.raises(SourceError, match="was changed or replaced"):
        list(batches)


def test_what_is_said_of_the_data_is_obeyed(tmp_path):
    folder = layout_samples.voc_segmentation(tmp_path / "data")
    for name in ("train", "val"):
        text = "0\n1" if name == "train" else "2"
        (folder / "ImageSets" / "Segmentation" / f"{name}.txt").write_text(text)
    with pytest.raises(SourceError, match="train, val"):
        Loader(folder)
    assert len(Loader(open_data(folder, split="train"))) == 2
    assert len(Loader(open_data(folder, kind="voc_segmentation", split="val"))) == 1
    with pytest.raises(SourceError, match="kind: must be one of"):
        open_data(folder, kind="unheard-of")


def test_what_cannot_be_said_is_refused(tmp_path):
    path = layout_samples.folder(tmp_path / "data")
    pack(path, tmp_path / "a.pen", progress=False)
    for data in (tmp_path / "a.pen", open_data(tmp_path / "a.pen"), [path / "dog" / "0.jpg"]):
        with pytest.raises(SourceError, match="kind cannot be said of it"):
            open_data(data, kind="coco")
    assert isinstance(open_data(tmp_path / "a.pen"), PackedSource)
    assert isinstance(open_data(layout_samples.coco(tmp_path / "coco")), UnpackedSource)


def test_columns_of_an_archive_are_read_once(tmp_path, monkeypatch):
    source = open_data(layout_samples.webdataset(tmp_path / "data"))
    calls = []
    original = type(source.layout).at
    monkeypatch.setattr(
        type(source.layout),
        "at",
        lambda self, index, *, masks: calls.append(index) or original(self, index, masks=masks),
    )
    list(Loader(source, transform=ONE_SIZE, batch_size=3, columns=["label", "name", "txt"]))
    assert sorted(calls) == sorted([*range(COUNT), 3])  # the PNG is opened for Pillow once more


def test_little_is_remembered_of_large_columns(tmp_path, monkeypatch):
    monkeypatch.setattr("penstock.data.unpacked._MOST_KEPT_BYTES", 3000)
    path = layout_samples.webdataset(tmp_path / "data")
    pack(path, tmp_path / "a.pen", progress=False)
    source = open_data(path)
    options = {**options_for(tmp_path / "a.pen"), "batch_size": COUNT}
    assert_same(list(Loader(source, **options)), list(Loader(tmp_path / "a.pen", **options)))
    assert 1 <= len(source._kept) <= 5
    assert source._kept_bytes <= 3000
