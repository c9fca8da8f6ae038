"""Folders of a store: complete lists, and objects that are put only where there is none."""

import asyncio
import pickle

import pytest

from packing.bucket_samples import QUICK
from penstock.errors import StorageError
from penstock.storage import folder as store_folder
from penstock.storage import read_address
from penstock.storage.backend import AbsentError, ExistsError
from penstock.storage.folder import RemoteFolder
from servers.faulty_proxy import Faults, FaultyProxy
from servers.s3_server import S3Server

NAMES = [f"{number % 7}/{number:03}.jpg" for number in range(100)]


@pytest.fixture
def server(monkeypatch):
    with S3Server({f"/bucket/data/{name}": name.encode() for name in NAMES}, page=7) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture
def folder():
    return RemoteFolder(read_address("s3://bucket/data"), QUICK)


def test_a_list_has_all_pages(server, folder):
    counted = []
    found = {one.name: one.stat.size for one in folder.objects(counted.append)}

    assert found == {name: len(name) for name in NAMES}
    assert sum(counted) == len(NAMES)
    assert len(server.requests) == 15


@pytest.mark.parametrize("offsets", [("s3",), ()])
def test_a_list_that_breaks_off_is_gone_on_with(server, monkeypatch, offsets):
    """After the last name, or from the start where a store cannot do that."""
    monkeypatch.setattr(store_folder, "_WITH_OFFSETS", offsets)
    with FaultyProxy(server.port, Faults(0.12, ("truncate",), seed=6)) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.address)
        folder = RemoteFolder(read_address("s3://bucket/data"), QUICK)
        monkeypatch.setattr(store_folder, "_PAGE", 7)
        found = [one.name for one in folder.objects()]
        assert proxy.counts["truncate"]
    assert found == sorted(NAMES)


class Lists:
    """Answers of obstore's `list`, one after the other; None stands for a broken connection."""

    def __init__(self, *lists):
        self.lists = list(lists)

    def list(self, *_, **__):
        async def pages(listed):
            for page in listed:
                await asyncio.sleep(0)
                if page is None:
                    raise RuntimeError("broken")
                yield [{"path": name, "size": 1, "e_tag": '"x"'} for name in page]

        return pages(self.lists.pop(0))


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([["ab", "cd"]], "abcd"),
        ([["cd", "ab"]], "cdab"),  # a store that does not sort
        ([["ab", None], ["ab", "cd"]], "abcd"),
        ([["ab", None], ["abcd"]], "abcd"),
        ([["ab", None], ["a"]], "not complete"),
        ([["ab", None], ["ac", "d"]], "not complete"),
        ([["ba", None], ["ba", "cd"]], "not complete"),
    ],
)
def test_nothing_is_missing_from_a_list(server, folder, monkeypatch, lists, expected):
    monkeypatch.setattr(store_folder, "_WITH_OFFSETS", ())
    fake = Lists(*lists)
    real = store_folder.import_obstore(folder.address)
    monkeypatch.setattr(real, "list", fake.list)
    if expected == "not complete":
        with pytest.raises(StorageError, match=expected):
            list(folder.objects())
    else:
        assert "".join(one.name for one in folder.objects()) == expected


def test_objects_are_put_only_where_there_is_none(server, folder, tmp_path):
    folder.create("new", b"content")
    folder.create("new", b"content")  # as if the first answer was lost
    with pytest.raises(ExistsError):
        folder.create("new", b"other")
    (tmp_path / "file").write_bytes(b"content")
    folder.upload("new", str(tmp_path / "file"))
    (tmp_path / "file").write_bytes(b"another")
    with pytest.raises(ExistsError):
        folder.upload("new", str(tmp_path / "file"))
    assert server.objects["/bucket/data/new"] == b"content"

    folder.delete(["new", "gone"])
    with pytest.raises(AbsentError):
        folder.stat("new")


def test_a_copy_in_another_process_opens_its_own(folder, server):
    copied = pickle.loads(pickle.dumps(folder))  # noqa: S301  our own
    assert copied.read(NAMES[0]) == NAMES[0].encode()


def test_web_servers_have_no_lists():
    with pytest.raises(StorageError, match="object by object only"):
        RemoteFolder(read_address("https://host/data"))
