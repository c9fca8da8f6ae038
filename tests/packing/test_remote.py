"""The verbs about packed files, on files in a store."""

import json
import shutil
from pathlib import Path

import pytest

import penstock as ps
from packing.samples import ListSource, image_file
from penstock.cli.main import main
from penstock.errors import PenstockError, StorageError
from penstock.packing.items import LABEL, PackItem
from servers.range_server import RangeServer

OLD = Path(__file__).parents[1] / "data" / "format_1" / "old.pen"


@pytest.fixture(scope="module")
def items():
    return [PackItem(f"{n}.jpg", image_file(n, (90, 60 + n)), {"label": n % 3}) for n in range(40)]


@pytest.fixture(scope="module")
def folder(items, tmp_path_factory):
    path = tmp_path_factory.mktemp("verbs")
    ps.pack(ListSource(items, (LABEL,), classes=("a", "b", "c")), path / "train.pen")
    ps.pack(ListSource(items, (LABEL,), classes=("a", "b", "c")), path / "shards", shards=3)
    return path


@pytest.fixture(scope="module")
def server(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    objects = {f"/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}
    objects["/old.pen"] = OLD.read_bytes()
    with RangeServer(objects) as running:
        yield running


@pytest.mark.parametrize("name", ["train.pen", "shards"])
def test_verify_and_inspect(server, folder, name, capsys):
    address = f"{server.address}/{name}"
    assert ps.verify(address).intact
    assert main(["verify", address, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 40
    here, there = ps.inspect(folder / name).to_dict(), ps.inspect(address).to_dict()
    assert {**here, "path": ""} == {**there, "path": ""}


@pytest.mark.parametrize("name", ["train.pen", "shards"])
def test_unpack_gives_the_original_files(server, items, tmp_path, name):
    ps.unpack(f"{server.address}/{name}", tmp_path / "out")

    for item in items:
        assert (tmp_path / "out" / item.name).read_bytes() == item.data


def test_few_requests_are_enough_for_all_bytes(server):
    server.requests.clear()
    ps.verify(f"{server.address}/train.pen")

    assert len(server.requests) <= 8


def test_damage_is_found(server):
    content = bytearray(server.objects["/train.pen"])
    content[5_000] ^= 1
    server.objects["/damaged.pen"] = bytes(content)
    report = ps.verify(f"{server.address}/damaged.pen")

    assert not report.intact
    assert any("checksum" in problem for problem in report.problems)


def test_an_old_file_is_read(server, tmp_path):
    shutil.copy(OLD, tmp_path / "old.pen")
    assert ps.verify(f"{server.address}/old.pen").intact
    here = ps.Loader(tmp_path / "old.pen", transform=ps.transforms.Resize((9, 9)), targets="none")
    there = ps.Loader(
        f"{server.address}/old.pen", transform=ps.transforms.Resize((9, 9)), targets="none"
    )
    for mine, other in zip(here, there, strict=True):
        assert (mine == other).all()
    assert "version 1" in str(there.explain())
    here.close()
    there.close()


def test_a_folder_without_a_manifest_is_explained(server):
    with pytest.raises(StorageError, match=r"manifest\.json"):
        ps.verify(f"{server.address}/nowhere")


def test_a_manifest_of_other_shards_is_refused(server, items, tmp_path):
    ps.pack(ListSource(items[:20], (LABEL,), classes=("a", "b", "c")), tmp_path / "other", shards=3)
    for path in (tmp_path / "other").iterdir():
        server.objects[f"/mixed/{path.name}"] = server.objects[f"/shards/{path.name}"]
    name = "00001-of-00003.pen"
    server.objects[f"/mixed/{name}"] = (tmp_path / "other" / name).read_bytes()

    with pytest.raises(PenstockError, match="does not match the shards"):
        ps.open_data(f"{server.address}/mixed")
