"""Tar archives: the keys, values and pixels that the library webdataset gives."""

import io
import json
import tarfile

import numpy as np
import pytest

import penstock as ps
import penstock.webdataset as pw
from folders import make_image
from penstock import transforms as T
from penstock.errors import LoaderError, SourceError
from penstock.packing.datasets.shard_list import expand_braces

wds = pytest.importorskip("webdataset", reason="webdataset is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")


def encoded(index, kind="JPEG"):
    rng = np.random.default_rng(index)
    file = io.BytesIO()
    make_image(rng, *rng.integers(40, 90, 2).tolist()).save(file, kind)
    return file.getvalue()


def sample(index):
    """All files of a sample, by their extensions."""
    return {
        "jpg": encoded(index),
        "cls": str(index % 4).encode(),
        "json": json.dumps({"index": index, "box": [1.5, None]}).encode(),
        "txt": f"größe {index}".encode(),
        "id": f" {1000 + index}\n".encode(),
        "url": b"https://example.org/\xff",
        "raw": bytes([index, 0, 255]),
    }


def write(path, samples):
    with tarfile.open(path, "w") as tar:
        for key, files in samples.items():
            for extension, content in files.items():
                info = tarfile.TarInfo(f"{key}.{extension}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Three archives of four samples, in folders; the name of a pattern."""
    folder = tmp_path_factory.mktemp("shards")
    for shard in range(3):
        samples = {f"part/{shard}{n}": sample(4 * shard + n) for n in range(4)}
        write(folder / f"train-{shard:03}.tar", samples)
    return str(folder / "train-{000..002}.tar")


def theirs(urls, *keys):
    """All samples as webdataset has them: tuples, or dictionaries without what is about files."""
    dataset = wds.WebDataset(urls, shardshuffle=False).decode("pil")
    if keys:
        return list(dataset.to_tuple(*keys))
    return [{k: v for k, v in found.items() if k != "__local_path__"} for found in dataset]


def stacked(images, torchvision):
    v2 = torchvision.transforms.v2
    transform = v2.Compose([v2.Resize(40), v2.CenterCrop(32), v2.PILToTensor()])
    return torch.stack([transform(image) for image in images])


OURS = T.Compose([T.Resize(40), T.CenterCrop(32)])


def batches(urls, **options):
    made = pw.loader(urls, transform=OURS, **options)
    try:
        return list(made)
    finally:
        made.close()


def test_tuples(shards, torchvision):
    images, labels = zip(*batches(shards, keys=("jpg", "cls"), batch_size=5), strict=True)
    pictures, classes = zip(*theirs(shards, "jpg", "cls"), strict=True)

    assert [len(batch) for batch in images] == [5, 5, 2]
    assert torch.equal(torch.cat(images), stacked(pictures, torchvision))
    assert torch.equal(torch.cat(labels), torch.tensor(classes))


def test_all_keys(shards, torchvision):
    samples = theirs(shards)
    (batch,) = batches(shards, batch_size=12)

    assert batch.keys() == samples[0].keys()
    assert torch.equal(batch.pop("jpg"), stacked([s["jpg"] for s in samples], torchvision))
    for name, values in batch.items():
        listed = values.tolist() if isinstance(values, torch.Tensor) else values
        assert listed == [found[name] for found in samples], name
    assert batch["cls"].dtype == batch["id"].dtype == torch.int64


def test_batches_are_webdatasets_own(shards, torchvision):
    """In the loop that a user of webdataset has."""
    v2 = torchvision.transforms.v2
    transform = v2.Compose([v2.Resize(40), v2.CenterCrop(32), v2.PILToTensor()])
    dataset = (
        wds.WebDataset(shards, shardshuffle=False)
        .decode("pil")
        .to_tuple("jpg", "cls")
        .map_tuple(transform, lambda label: label)
        .batched(5)
    )
    for ours, other in zip(
        batches(shards, keys=("jpg", "cls"), batch_size=5), dataset, strict=True
    ):
        assert torch.equal(ours[0], torch.as_tensor(other[0]))
        assert ours[1].tolist() == torch.as_tensor(other[1]).tolist()


def test_one_archive_and_dictionaries_of_some_keys(shards):
    first = shards.replace("{000..002}", "000")
    (batch,) = batches(first, keys=("__key__", "jpg", "json"), as_dict=True, batch_size=9)

    assert list(batch) == ["__key__", "jpg", "json"]
    assert batch["__key__"] == ["part/00", "part/01", "part/02", "part/03"]
    assert batch["json"][3] == {"index": 3, "box": [1.5, None]}


def test_several_kinds_of_images(tmp_path, torchvision):
    path = write(
        tmp_path / "a.tar",
        {"0": {"jpg": encoded(0), "cls": b"1"}, "1": {"PNG": encoded(1, "PNG"), "cls": b"2"}},
    )
    ((images, labels),) = batches(path, keys=("jpg;png", "cls"), batch_size=2)

    pictures = [picture for picture, _ in theirs(str(path), "jpg;png", "cls")]
    assert torch.equal(images, stacked(pictures, torchvision))
    assert labels.tolist() == [1, 2]
    with pytest.raises(LoaderError, match=r"Name the keys: keys=\('jpg;png', ...\)"):
        pw.loader(path)
    with pytest.raises(LoaderError, match=r"1 of 2 samples have no file .jpg; images are"):
        pw.loader(path, keys=("jpg", "cls"))


def test_shuffling_ranks_and_resuming(shards):
    options = {"keys": ("__key__", "jpg"), "batch_size": 2, "shuffle": True, "seed": 4}
    whole = [key for keys, _ in batches(shards, **options) for key in keys]
    shares = [
        [key for keys, _ in batches(shards, **options, rank=rank, world_size=2) for key in keys]
        for rank in (0, 1)
    ]
    made = pw.loader(shards, transform=OURS, **options)
    iterator = iter(made)
    next(iterator), next(iterator)
    again = pw.loader(shards, transform=OURS, **options)
    again.load_state_dict(made.state_dict())
    rest = [key for keys, _ in again for key in keys]

    assert len(set(whole)) == 12
    assert whole != sorted(whole)
    assert [key for pair in zip(*shares, strict=True) for key in pair] == whole
    assert rest == whole[4:]
    assert len(made) == 6
    made.close()
    again.close()


def test_a_loader_takes_patterns_and_lists(shards, tmp_path):
    files = [shards.replace("{000..002}", f"{n:03}") for n in range(3)]
    forms = [shards, files, "::".join(files), f"file:{shards}", tuple(files[:2])]
    counts = [len(ps.open_data(form)) for form in forms]
    ps.pack(shards, tmp_path / "all.pen", progress=False)

    assert counts == [12, 12, 12, 12, 8]
    assert len(ps.open_data(tmp_path / "all.pen")) == 12
    assert "train-{000..002}.tar (webdataset): 12 images, 3 shards" in repr(ps.Loader(shards))


@pytest.mark.parametrize("url", ["pipe:cat a.tar", "https://a.org/b-{0..1}.tar", "s3://a/b.tar"])
def test_what_is_not_on_this_machine_is_refused(url):
    for given in (url, [url]):
        with pytest.raises(SourceError, match="only files on this machine are read"):
            ps.Loader(given)
        with pytest.raises(SourceError, match="only files on this machine are read"):
            pw.loader(given)


def test_missing_archives_are_named(shards):
    with pytest.raises(SourceError, match=r"train-003.tar: no such file; it is one of 2 of 5"):
        ps.Loader(shards.replace("002", "004"))
    with pytest.raises(SourceError, match="more than 1,000,000 archives"):
        ps.Loader("a-{0..99999999}.tar")
    with pytest.raises(LoaderError, match="no tar archive is there"):
        pw.loader("nowhere.tar")
    with pytest.raises(LoaderError, match="is needed, got int"):
        pw.loader(3)


def test_wrong_keys(shards, tmp_path):
    for keys, message in (
        (("jpg", "cap"), "no sample has a file .cap"),
        (("cls",), "must name the images once"),
        (("jpg", "jpg"), "must name the images once"),
        ("jpg", "must be a list of names"),
        (("jpg", "cls;id"), "names several files"),
    ):
        with pytest.raises(LoaderError, match=message):
            pw.loader(shards, keys=keys)
    with pytest.raises(LoaderError, match="columns is not an argument"):
        pw.loader(shards, columns=["label"])
    with pytest.raises(LoaderError, match="as_dict=False needs keys"):
        pw.loader(shards, as_dict=False)
    odd = {"jpg": encoded(0), "cls": b"cat", "pyd": b"x", "seg.png": encoded(1, "PNG")}
    path = write(tmp_path / "odd.tar", {"0": odd, "1": {"jpg": encoded(1), "cls": b"dog"}})
    for keys, message in (
        (("jpg", "cls"), "names of classes"),
        (("jpg", "pyd"), "1 of 2 samples have no file .pyd"),
    ):
        with pytest.raises(LoaderError, match=message):
            pw.loader(path, keys=keys)
    path = write(tmp_path / "odd2.tar", {"0": odd})
    for keys, message in ((("jpg", "pyd"), "unpickled"), (("jpg", "seg.png"), "a second image")):
        with pytest.raises(LoaderError, match=message):
            pw.loader(path, keys=keys)


@pytest.mark.parametrize(
    ("extension", "content"), [("id", b"many"), ("jsn", b"{"), ("txt", b"\xff"), ("id", b"9" * 30)]
)
def test_files_with_something_else_are_named(tmp_path, extension, content):
    path = write(tmp_path / "a.tar", {"0": {"jpg": encoded(0), extension: content}})
    with pytest.raises(SourceError, match=f"a file .{extension} cannot be read"):
        batches(path, keys=("jpg", extension))


def test_compressed_archives_are_refused(tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo("0.jpg")
        info.size = len(encoded(0))
        tar.addfile(info, io.BytesIO(encoded(0)))
    with pytest.raises(LoaderError, match="the archive is compressed"):
        pw.loader(tmp_path / "a.tar.gz", keys=("jpg",))


@pytest.mark.parametrize(
    "pattern",
    [
        *("a-{000..012}.tar", "{a,b}-{1..3}", "x{1..9..3}{,z}", "{09..7}", "q{x}", "{a{1,2},b}"),
        *("{3..1}", "{-2..2}", "{0..010}", "{00..3..2}", "{a,{b,c{d,e}}}f", "plain.tar"),
    ],
)
def test_patterns_stand_for_what_webdataset_makes_of_them(pattern):
    assert list(expand_braces(pattern)) == wds.shardlists.expand_urls(pattern)
