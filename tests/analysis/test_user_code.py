import numpy as np
import pytest

from penstock.analysis.user_code import code_of_caller, read_user_code

SCRIPT = """\
from torch.utils.data import DataLoader

def blur():
    return GaussianBlur(3)

loader = DataLoader(
    photos,
    batch_size=8,
    num_workers=2,
)

def make():
    return wrap(build(8))

def build(size):
    data = blur()
    return torch.utils.data.DataLoader(data, batch_size=size)

def either(flag):
    if flag:
        return DataLoader(a)
    return DataLoader(b)

other: object = Loader("train.pen")
nothing = 3
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    return str(tmp_path / "train.py")


@pytest.mark.parametrize(
    ("name", "keyword", "place"),
    [
        ("loader", None, "train.py:6"),
        ("loader", "num_workers", "train.py:9"),
        ("loader", "prefetch_factor", "train.py:6"),
        ("make", None, "train.py:17"),
        ("other", None, "train.py:24"),
        ("either", None, None),
        ("nothing", None, None),
        ("no_such_name", None, None),
    ],
)
def test_line_that_makes_a_loader(script, name, keyword, place):
    """Two loaders in one function may both be meant; then no line is named."""
    assert read_user_code(script, name).loader_place(keyword) == place


def test_line_of_an_op(script):
    code = read_user_code(script, "loader")

    assert code.call_place("GaussianBlur") == "train.py:4"
    assert code.call_place("DataLoader") is None


def test_file_elsewhere_is_named_in_full(script, monkeypatch, tmp_path):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")

    assert read_user_code(script, "loader").loader_place() == f"{script}:6"


@pytest.mark.parametrize("content", ["def (", "\0"])
def test_code_that_cannot_be_read_has_no_lines(content, tmp_path):
    (tmp_path / "bad.py").write_text(content)

    assert read_user_code(str(tmp_path / "bad.py"), "loader") is None
    assert read_user_code("<stdin>", "loader") is None


def test_caller_is_found_by_its_variable():
    batches = [np.zeros(3)]

    assert code_of_caller(batches).file == __file__
