"""The demo's loaders for real, on a few small photos."""

from functools import partial
from pathlib import Path

import pytest

import penstock
from fake_loaders import FakeSide, FastSide
from penstock.demo import passes as demo_passes
from penstock.demo.loaders import (
    BATCHES_PER_WORKER,
    Work,
    count_identical,
    folder_loader,
    packed_loader,
    pillow_loader,
    torchvision_loader,
)
from penstock.demo.passes import TimedLoader, measure_passes
from penstock.demo.sample_set import make_sample_set
from penstock.demo.torchvision_import import import_torchvision
from penstock.usable_cores import pinned_to, usable_cores

PHOTOS = 8


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    home = tmp_path_factory.mktemp("demo")
    folder = make_sample_set(home / "set", images=PHOTOS, progress=False)
    penstock.pack(folder, home / "photos.pen", progress=False)
    return Work(str(folder), str(home / "photos.pen"), 3)


@pytest.fixture
def _torchvision() -> None:
    try:
        import_torchvision()
    except ImportError as missing:
        pytest.skip(f"needs torchvision: {missing}")


def test_pinning_ends_with_the_block() -> None:
    before = usable_cores()
    with pinned_to(1):
        assert usable_cores() == 1
    assert usable_cores() == before


@pytest.mark.parametrize("build", [folder_loader, packed_loader, pillow_loader])
def test_passes_are_whole_epochs(work: Work, build: object) -> None:
    timed = TimedLoader(build, work)  # type: ignore[arg-type]
    for _ in range(2):
        done = timed.run_pass(1)
        assert done.images
        assert done.images % PHOTOS == 0
        assert 0 < done.first_batch_s < done.seconds


@pytest.mark.usefixtures("_torchvision")
def test_an_epoch_of_torchvision_has_enough_batches_for_its_workers(work: Work) -> None:
    assert len(torchvision_loader(work, 2)) == 2 * BATCHES_PER_WORKER
    done = TimedLoader(torchvision_loader, work).run_pass(1)
    assert done.images % (3 * BATCHES_PER_WORKER) == 0


@pytest.mark.usefixtures("_torchvision")
def test_all_make_torchvisions_images(work: Work) -> None:
    assert count_identical(work, PHOTOS, has_torchvision=True) == (PHOTOS, PHOTOS)


def test_all_make_pillows_images(work: Work) -> None:
    assert count_identical(work, 5, has_torchvision=False) == (5, 5)


def test_a_packed_file_of_other_photos_is_told_apart(work: Work, tmp_path: Path) -> None:
    other = make_sample_set(tmp_path / "other", images=PHOTOS, seed=1, progress=False)
    penstock.pack(other, tmp_path / "other.pen", progress=False)
    differing = Work(work.folder, str(tmp_path / "other.pen"), 3)
    equal, compared = count_identical(differing, PHOTOS, has_torchvision=False)
    assert (equal, compared) == (0, PHOTOS)


@pytest.mark.parametrize("cores", [1, 2])
def test_every_loader_runs_on_one_core_and_on_all(
    work: Work, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_passes, "usable_cores", lambda: cores)
    rows = measure_passes(work, {"plain": FakeSide, "fast": partial(FastSide)}, passes=3)
    assert [(row.loader, row.cores) for row in rows] == [
        (label, count) for count in range(1, cores + 1) for label in ("plain", "fast")
    ]
    assert {len(row.images_per_s) for row in rows} == {3}
    assert rows[-1].to_dict()["images_per_s"] == 400 * cores
    assert rows[-1].to_dict()["ratio_to_plain"] == 4
