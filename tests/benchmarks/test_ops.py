import PIL.Image
import pytest

pytest.importorskip("cv2")

from benchmarks.effects.operations import operations
from benchmarks.ops import SIDE_PX, Timed, main, table


def test_every_operation_runs_in_each_library(photo, tmp_path, capsys):
    PIL.Image.fromarray(photo).save(tmp_path / "photo.jpg")

    assert main(["--data", str(tmp_path), "--images", "2", "--rounds", "1"]) == 0

    rows = capsys.readouterr().out.splitlines()
    for operation in operations(SIDE_PX):
        assert any(row.startswith(f"| {operation.name} ") for row in rows)


def test_what_is_not_faster_is_said():
    slow = Timed("slow", ours=[3.0], pillow=[4.0], opencv=[2.0])
    fast = Timed("fast", ours=[1.0], pillow=[4.0], opencv=[])

    assert table([slow, fast])[-1] == "Not faster: slow (than OpenCV)."
    assert table([fast])[-1] == "Each is faster than both."
