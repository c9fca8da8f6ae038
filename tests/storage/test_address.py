import pytest

from penstock.errors import StorageError
from penstock.storage.address import is_address, read_address


@pytest.mark.parametrize(
    ("text", "container", "name", "by_obstore", "has_suffixes"),
    [
        ("s3://bucket/train.pen", "s3://bucket", "train.pen", True, True),
        ("S3://bucket/a/b/train.pen", "s3://bucket/a/b", "train.pen", True, True),
        ("gs://bucket/train.pen", "gs://bucket", "train.pen", True, True),
        ("az://container/train.pen", "az://container", "train.pen", True, False),
        ("abfss://c@account.dfs.core.windows.net/t.pen",
         "abfss://c@account.dfs.core.windows.net", "t.pen", True, False),
        ("https://host:8443/data/t.pen", "https://host:8443/data", "t.pen", True, True),
        ("hf://datasets/owner/name/t.pen", "hf://datasets/owner/name", "t.pen", False, False),
    ],
)  # fmt: skip
def test_addresses_are_read(text, container, name, by_obstore, has_suffixes):
    assert is_address(text)
    address = read_address(text)

    assert (address.container, address.name) == (container, name)
    assert (address.by_obstore, address.has_suffixes) == (by_obstore, has_suffixes)


@pytest.mark.parametrize("path", ["train.pen", "/data/train.pen", "C://data/train.pen", 3, None])
def test_paths_are_no_addresses(path):
    assert not is_address(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("file:///data/train.pen", "Give its path alone"),
        ("s3://bucket", "names no object"),
        ("s3:///train.pen", "names no object"),
        ("s3://bucket/a/../train.pen", "no names of folders"),
        ("https://host/train.pen?X-Amz-Signature=abc", "instead of a signed address"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(text, said):
    with pytest.raises(StorageError, match=said):
        read_address(text)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(StorageError, match="must not have a password") as caught:
        read_address("https://me:secret@host/train.pen")

    assert "secret" not in str(caught.value)
    assert "secret" not in repr(caught.value)


def test_a_signature_is_not_repeated():
    with pytest.raises(StorageError) as caught:
        read_address("https://host/train.pen?X-Amz-Signature=topsecret")

    assert "topsecret" not in str(caught.value)
