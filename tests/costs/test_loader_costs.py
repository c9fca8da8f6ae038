import numpy as np
import pytest
from PIL import Image

from penstock import Loader
from penstock import transforms as T
from penstock.analysis.subject.subject import PenstockSubject
from penstock.costs.loader_costs import measure_loader
from penstock.costs.plan_variants import changes_size, keep_only, op_nodes, with_layers
from penstock.planner.plan import as_written


@pytest.fixture(scope="module")
def photos(make_photos):
    return make_photos(8)


def sorted_by_value(image):
    """Slow on purpose."""
    return Image.frombytes("RGB", image.size, bytes(sorted(image.tobytes())))


OPS = T.Compose(
    [
        T.RandomResizedCrop(64),
        T.RandomHorizontalFlip(),
        sorted_by_value,
        T.RandAugment(2),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)


def names(plan):
    return [type(node.op).__name__ for node in op_nodes(plan)]


def test_plan_keeps_what_is_asked_for():
    plan = as_written(OPS)

    assert names(plan) == ["RandomResizedCrop", "RandomHorizontalFlip", "PythonStep", "RandAugment"]
    assert names(keep_only(plan, {0, 3})) == ["RandomResizedCrop", "RandAugment"]
    assert len(keep_only(plan, {0, 3}).segments) == 1
    assert len(keep_only(plan, {0, 2}).segments) == 2
    assert keep_only(plan, {0}).final == plan.final


@pytest.mark.parametrize(
    ("op", "changes"),
    [
        (T.RandomResizedCrop(64), True),
        (T.Resize(100), True),
        (T.RandomHorizontalFlip(), False),
        (T.RandAugment(), False),
    ],
)
def test_ops_that_set_the_size(op, changes):
    assert changes_size(op) is changes


def test_layers_are_changed_or_added():
    changed = with_layers(as_written(OPS), 3)
    added = with_layers(as_written(T.CenterCrop(64)), 1)

    assert [n.op.num_ops for n in op_nodes(changed) if isinstance(n.op, T.RandAugment)] == [3]
    assert names(added) == ["CenterCrop", "RandAugment"]


def test_every_op_has_its_cost(photos):
    loader = Loader(photos, batch_size=4, transform=OPS, output="numpy")
    costs = PenstockSubject(loader).costs(seconds=0.3)

    assert [part.name for part in costs.parts] == [
        "waiting for files",
        "decode + RandomResizedCrop + final pass",
        "RandomHorizontalFlip",
        "sorted_by_value",
        "RandAugment",
    ]
    assert costs.longest.name == "sorted_by_value"
    assert costs.longest.runs_in == "Python"
    assert costs.of("decode") > 0
    assert costs.lock_share > 0.25


def test_images_that_only_the_python_step_makes_equal(photos):
    """Without it there are no batches, so it cannot be taken out."""

    def crop(image):
        return image.crop((0, 0, 32, 32))

    loader = Loader(photos, batch_size=4, transform=crop, output="numpy")

    assert measure_loader(loader, seconds=0.1).cpu_s > 0


def test_analysis_leaves_the_loader_alone(photos):
    loader = Loader(photos, batch_size=4, transform=OPS, output="numpy", threads=1)
    subject = PenstockSubject(loader)
    with subject.open(2) as replica:
        assert replica.threads == 2
        assert len(list(replica)) == 2

    assert loader.epoch == 0
    assert loader.threads == 1


def test_replica_gives_the_same_batches(photos):
    loader = Loader(photos, batch_size=4, transform=T.CenterCrop(64), shuffle=True, output="numpy")
    for (ours, _), (theirs, _) in zip(loader, loader.replica(threads=1), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_files_are_listed(photos):
    loader = Loader(photos, batch_size=4, transform=T.CenterCrop(64))

    assert len(PenstockSubject(loader).files()) == 8


def test_ops_that_views_repeat_are_measured_together(photos):
    small = T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip(), T.RandAugment(1)])
    large = T.Compose([T.RandomResizedCrop(48), T.RandomHorizontalFlip()])
    loader = Loader(photos, batch_size=4, transform=T.MultiView([large, small, small]))

    costs = measure_loader(loader, batches=2)

    assert [part.name for part in costs.parts] == [
        "waiting for files",
        "decode + RandomResizedCrop + final pass",
        "RandomHorizontalFlip",
        "RandAugment",
    ]
    assert len(with_layers(loader.plan, 3).views) == 3
