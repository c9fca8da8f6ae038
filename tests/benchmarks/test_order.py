import json

import numpy as np
import PIL.Image
import pytest

pytest.importorskip("cv2")

import benchmarks.order.__main__ as order
from benchmarks.order import chains, photos
from benchmarks.order.table import ratios, report, slower
from benchmarks.turns import Figures
from penstock import Loader
from penstock.geometry import Size

TINY = Size(47, 60)


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Photos are made, in a folder of their own."""
    monkeypatch.setattr(photos, "FOLDER", tmp_path / "photos")
    monkeypatch.setattr(photos, "shared_data_folder", lambda: None)
    return tmp_path


@pytest.mark.parametrize("written", chains.ORDERS)
@pytest.mark.parametrize("side_px", [20, 90])
def test_all_libraries_run_the_same_chain(torchvision, made, monkeypatch, written, side_px):
    """Factors of 1 leave colours alone; the rest draws nothing."""
    monkeypatch.setattr(chains, "JITTER", 0)
    task = chains.Task(TINY, side_px, written)
    (path,) = photos.photos_of(TINY, 1)
    transform = chains.penstock_transform(task)
    (images,) = Loader([path], transform=transform, output="numpy", layout="hwc", plan=False)

    by_pillow = chains.with_pillow(task)(path)
    assert by_pillow.shape == (side_px, side_px, 3)
    np.testing.assert_array_equal(images[0], by_pillow)
    by_torchvision = chains.with_torchvision(task)(path)
    np.testing.assert_array_equal(by_torchvision.numpy().transpose(1, 2, 0), by_pillow)
    # Other arithmetic, but the same picture: much nearer than a chain that leaves out a step.
    difference = np.abs(chains.with_opencv(task)(path).astype(int) - by_pillow)
    assert difference.mean() < np.abs(by_pillow[:, ::-1].astype(int) - by_pillow).mean() / 2


@pytest.mark.parametrize("size", [Size(30, 50), Size(2100, 1000)])
def test_photos_have_the_size(made, size):
    (path,) = photos.photos_of(size, 1)

    assert PIL.Image.open(path).size == (size.width, size.height)


def test_photos_are_taken_as_they_are_or_reduced(made, monkeypatch, photo):
    """Those of another size are cut to the proportions, turned if need be; small ones left out."""
    for folder, name, cut in [
        ("detect/coco128", "fits", photo[:100, :80]),
        ("detect/coco128", "other", photo[:100, :81]),
        ("large", "lying", photo),
        ("large", "small", photo[:90, :70]),
    ]:
        (made / folder).mkdir(parents=True, exist_ok=True)
        PIL.Image.fromarray(cut).save(made / folder / f"{name}.jpg")
    monkeypatch.setattr(photos, "shared_data_folder", lambda: made)

    first, second = photos.photos_of(Size(100, 80), 5)

    assert first.endswith("fits.jpg")
    assert PIL.Image.open(second).size == (80, 100)
    with pytest.raises(FileNotFoundError, match="large enough for 5000x3000"):
        photos.photos_of(Size(3000, 5000), 1)


def test_every_contestant_takes_part(torchvision, made, monkeypatch, capsys):
    monkeypatch.setattr(order, "SIZES", {TINY: order.Photos(2, 4)})
    monkeypatch.setattr(order, "FOLDER", made)
    monkeypatch.setattr(order, "RESULTS", made)
    monkeypatch.setattr(order, "stay_on_one_core", lambda: None)
    order.data_for.cache_clear()

    assert order.main(["--rounds", "1", "--seconds", "0", "--side", "300", "--write"]) == 0

    written = capsys.readouterr().out
    assert written.count("| penstock relaxed, .pen ") == 2
    assert (made / "order.md").read_text("utf-8") == written.removesuffix("\n")
    kept = json.loads((made / "order.json").read_text("utf-8"))
    assert [entry["order"] for entry in kept["entries"]] == list(chains.ORDERS)
    assert all(len(entry["ms"]) == 11 for entry in kept["entries"])
    order.data_for.cache_clear()


def entry_of(planned_ms, order="flip first"):
    kinds = ("file", ".pen")
    took = {"Pillow": [80.0, 90.0]}
    took |= {f"penstock as written, {kind}": [8.0, 8.0] for kind in kinds}
    for name in ("exact", "fast", "relaxed"):
        took |= {f"penstock {name}, {kind}": [planned_ms] * 2 for kind in kinds}
    what = "640x427 to 300"
    about = {"name": f"{what}, {order}", "order": order, "what": what}
    return {**about, "rounds": 2, "time_over_cpu": 1.0, "ms": took}


def test_ratios_stand_beside_what_is_wanted():
    first, *_, last = ratios([entry_of(2.0)])[2:]

    assert "|     40 | 42.5 (40.0-45.0) |" in first
    assert "|      2 |    4.0 (4.0-4.0) |" in last


def test_plans_that_are_slower_are_named():
    assert slower([entry_of(8.1)]) == "No plan is slower than what was written."
    named = slower([entry_of(10.0)])
    assert named.count(";") == 5
    assert "640x427 to 300, flip first, fast, .pen: 0.80 (0.80-0.80)" in named


def test_the_report_has_a_table_for_each_order():
    figures = Figures({"machine": "one"}, [entry_of(2.0), entry_of(2.0, "crop first")])

    assert report(figures).count("| penstock exact, file ") == 2
