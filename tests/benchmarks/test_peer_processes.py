"""Peers of all kinds, made up: good ones, and those that are missing, fail or hang."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from benchmarks import runner
from benchmarks.cases.classify_224 import make_case
from benchmarks.cold import drop_from_memory, share_in_memory
from benchmarks.peer_process import Settings
from benchmarks.peers import VERIFY, WRITE
from benchmarks.pixels import Comparison, comparison_case, reference_pixels
from benchmarks.runner import Bench, run_rounds, usable_cpus

GOOD = """
from pathlib import Path
import numpy as np
label = "good"
def versions():
    return {"thing": "1"}
def batches(case, cores):
    pixels = np.zeros((len(case.paths), 3, case.crop_px, case.crop_px), case.output)
    return [(pixels, np.array(case.labels))]
"""
WRITER = (
    GOOD
    + """
def write(case, folder, cores):
    assert not list(folder.iterdir())
    (folder / "all.bin").write_bytes(b"".join(Path(path).read_bytes() for path in case.paths))
def verify(case, target, cores):
    assert (Path(case.written) / "all.bin").exists()
    (target / "note.txt").write_text("seen")
def batches(case, cores):
    assert (Path(case.written) / "all.bin").exists()
    return [(np.zeros((len(case.paths), 3, 224, 224), case.output), np.array(case.labels))]
"""
)
# The crop without chance as torchvision does it, but three levels too bright in one pixel.
NEARLY_EXACT = (
    GOOD
    + """
from benchmarks.pixels import reference_pixels
def batches(case, cores):
    if case.output == "float32":
        return [(np.zeros((len(case.paths), 3, 224, 224), "float32"), np.array(case.labels))]
    pixels = reference_pixels(case).copy()
    pixels[0, 0, 0, 0] += 3
    return [(pixels[::-1].copy(), np.array(case.labels)[::-1].copy())]
"""
)
PEERS = {
    "good": GOOD,
    "writer": WRITER,
    "nearly_exact": NEARLY_EXACT,
    "missing": "import a_library_that_nobody_has",
    "broken": GOOD + "raise RuntimeError('broken from the start')",
    "failing": GOOD.replace("return [(", "raise RuntimeError('cannot begin')\n    return [("),
    "wrong": GOOD.replace("3, case.crop_px", "1, case.crop_px"),
    "short": GOOD.replace("len(case.paths), 3", "len(case.paths) - 1, 3").replace(
        "np.array(case.labels)", "np.array(case.labels[1:])"
    ),
    "hanging": GOOD.replace(
        "return [(", "import threading; threading.Event().wait()\n    return [("
    ),
    "dying": GOOD
    + """
class Batches(list):
    turns = 0
    def __iter__(self):
        Batches.turns += 1
        if Batches.turns == 3:
            raise RuntimeError("enough of this")
        return super().__iter__()
make = batches
def batches(case, cores):
    return Batches(make(case, cores))
""",
}


@pytest.fixture
def photos(tmp_path, photo):
    folder = tmp_path / "photos"
    folder.mkdir()
    paths = tuple(str(folder / f"{number}.jpg") for number in range(3))
    for number, path in enumerate(paths):
        PIL.Image.fromarray(photo[: 280 + number, : 280 + number]).save(path)
    return paths


@pytest.fixture
def bench(tmp_path, monkeypatch):
    package = tmp_path / "made_up"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in PEERS.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = tmp_path / "run"
    run.mkdir()
    said = []
    made = Bench(
        folder=run,
        python_of=lambda _: sys.executable,
        variables={},
        formats={"made_up.writer": "binary"},
        say=said.append,
    )
    return made, said


def settings(name, photos, work="load", **changes):
    case = replace(make_case(photos), **changes)
    return Settings(f"made_up.{name}", case, (usable_cpus()[0],), work)


def test_those_who_fail_are_named_and_the_others_go_on(bench, photos):
    wanted = ["missing", "broken", "failing", "wrong", "short", "dying", "good"]
    made, said = bench

    outcome = run_rounds(made, [settings(name, photos) for name in wanted], 2, 0.0)

    assert [one.label for one in outcome.measured] == ["good"]
    assert len(outcome.measured[0].images_per_s) == 2
    reasons = {peer.removeprefix("made_up."): why for peer, why in outcome.left_out.items()}
    assert list(reasons) == wanted[:-1]
    assert "a_library_that_nobody_has" in reasons["missing"]
    assert "RuntimeError: broken from the start" in reasons["broken"]
    assert "RuntimeError: cannot begin" in reasons["failing"]
    assert "expected a float32 batch of shape (3, 3, 224, 224)" in reasons["wrong"]
    assert "gave 2 images, but the data set has 3" in reasons["short"]
    assert "RuntimeError: enough of this" in reasons["dying"]
    assert sum(line.startswith("left out: ") for line in said) == len(reasons)


def test_one_that_hangs_is_killed_and_named(bench, photos, monkeypatch):
    monkeypatch.setattr(runner, "LONGEST_ANSWER_S", 5.0)

    outcome = run_rounds(bench[0], [settings(n, photos) for n in ("hanging", "good")], 1, 0.0)

    assert "did not answer within 5 s" in outcome.left_out["made_up.hanging"]
    assert [one.label for one in outcome.measured] == ["good"]


def test_a_format_is_written_once_and_its_size_is_known(bench, photos):
    made, said = bench
    wanted = [settings("writer", photos), settings("writer", photos, VERIFY)]

    outcome = run_rounds(made, wanted, 1, 0.0)

    assert not outcome.left_out
    assert said.count("writing 3 images as binary") == 1
    sizes = [os.path.getsize(path) for path in photos]
    assert outcome.measured[0].bytes_per_image == pytest.approx(sum(sizes) / 3)


def test_writing_is_measured_in_a_new_folder_each_time(bench, photos):
    made, said = bench

    outcome = run_rounds(made, [settings("writer", photos, WRITE)], 3, 0.0)

    assert not outcome.left_out
    assert [(one.work, len(one.images_per_s)) for one in outcome.measured] == [(WRITE, 3)]
    assert not made.written
    assert not any("writing" in line for line in said)


def test_pixels_are_compared_by_label_and_only_once(bench, photos):
    made, _ = bench
    wanted = [settings(name, photos) for name in ("nearly_exact", "good")]
    compare = Comparison(made)

    near, far = run_rounds(made, wanted, 1, 0.0, compare).measured

    largest, mean = near.pixel_error
    assert largest == 3
    assert mean == pytest.approx(3 / (3 * 3 * 224 * 224))
    expected = reference_pixels(comparison_case(wanted[0].case))
    assert far.pixel_error == (expected.max(), pytest.approx(expected.mean()))


@pytest.mark.parametrize(("height", "width"), [(300, 400), (301, 299), (280, 333), (224, 224)])
def test_the_reference_of_pixels_is_that_of_torchvision(
    height, width, photo, tmp_path, torchvision
):
    path = tmp_path / "photo.png"
    PIL.Image.fromarray(photo[:height, :width]).save(path)
    v2 = torchvision.transforms.v2
    transform = v2.Compose([v2.Resize(256), v2.CenterCrop(224), v2.PILToTensor()])

    (found,) = reference_pixels(comparison_case(make_case((str(path),))))

    np.testing.assert_array_equal(found, transform(PIL.Image.open(path)).numpy())


def test_photos_are_compared_where_all_agree_on_the_window(photo, tmp_path):
    """Of 300 x 400, half a column more would be cut off on one side than on the other."""
    paths = []
    for width in (400, 375, 300):
        paths.append(str(tmp_path / f"{width}.png"))
        PIL.Image.fromarray(photo[:300, :width]).save(paths[-1])

    assert comparison_case(make_case(tuple(paths))).paths == tuple(paths[1:])
    assert comparison_case(make_case((paths[0],))).paths == (paths[0],)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for pages")
def test_how_much_of_a_file_is_in_memory_is_known(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"x" * 50_000)

    assert share_in_memory([file]) == 1.0
    drop_from_memory([file])
    assert 0.0 <= share_in_memory([file]) <= 1.0  # a file system in memory keeps it


@pytest.mark.parametrize(("name", "copied"), [("good", "*.jpg"), ("writer", "written/all.bin")])
def test_files_of_a_cold_case_are_copies_that_nobody_else_has_mapped(name, copied, bench, photos):
    made, _ = bench

    outcome = run_rounds(made, [settings(name, photos, cold=True)], 1, 0.0)

    assert not outcome.left_out
    assert 0.0 <= outcome.measured[0].left_in_memory <= 1.0
    (own,) = made.folder.glob("*-cold-*")
    content = b"".join(path.read_bytes() for path in sorted(own.glob(copied)))
    assert content == b"".join(Path(path).read_bytes() for path in photos)
