"""Files that Datasets of these tests read."""

import pytest

COUNT = 7
BROKEN = 4  # which of the files is damaged


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Names of small photos."""
    from tests.deferring.pictures import (  # not before it is known that torch is there
        coded,
        picture,
    )

    folder = tmp_path_factory.mktemp("files")
    for number in range(COUNT):
        path = folder / f"{number}.jpg"
        path.write_bytes(coded(picture(20 + number, 17, seed=number)))
    return [str(folder / f"{number}.jpg") for number in range(COUNT)]


@pytest.fixture(scope="session")
def damaged(files, tmp_path_factory):
    """The same, but for one that has a good header and a good end."""
    from tests.deferring.pictures import undecodable  # as above

    path = tmp_path_factory.mktemp("damaged") / "broken.jpg"
    path.write_bytes(undecodable())
    return [*files[:BROKEN], str(path), *files[BROKEN + 1 :]]
