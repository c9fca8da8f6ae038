"""The demo's loaders for real, on a few small photos."""

import pytest

from penstock.analysis.cores import available_cores, pinned_to
from penstock.cli.demo_loaders import BATCHES_PER_CORE, PenstockSide, TorchvisionSide, Work
from penstock.cli.torchvision_import import import_torchvision
from penstock.sample_set import make_sample_set


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    folder = make_sample_set(tmp_path_factory.mktemp("demo") / "set", images=8, progress=False)
    return Work(str(folder), 3)


@pytest.fixture
def _torchvision() -> None:
    try:
        import_torchvision()
    except ImportError as missing:
        pytest.skip(f"needs torchvision: {missing}")


def test_a_pass_has_enough_batches_for_every_core() -> None:
    indices = Work("folder", 3).indices(photos=8, cores=2)
    assert len(indices) == BATCHES_PER_CORE * 2 * 3
    assert indices[:10] == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]


def test_pinning_ends_with_the_block() -> None:
    before = available_cores()
    with pinned_to(1):
        assert available_cores() == 1
    assert available_cores() == before


def test_penstock_loads_every_photo(work: Work) -> None:
    pytest.importorskip("penstock._core")
    side = PenstockSide(work)
    for _ in range(2):
        done = side.run_pass(1)
        assert done.images == BATCHES_PER_CORE * 3
        assert 0 < done.first_batch_s < done.seconds


@pytest.mark.usefixtures("_torchvision")
def test_both_make_the_same_images(work: Work) -> None:
    pytest.importorskip("penstock._core")
    assert TorchvisionSide(work).count_identical(8) == (8, 8)


@pytest.mark.usefixtures("_torchvision")
def test_torchvision_loads_every_photo(work: Work) -> None:
    pytest.importorskip("penstock._core")
    done = TorchvisionSide(work).run_pass(1)
    assert done.images == BATCHES_PER_CORE * 3
