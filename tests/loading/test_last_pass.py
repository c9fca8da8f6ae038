"""Parts prepared elsewhere and finished here: the same batches, bit for bit."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import penstock as ps
from mask_samples import write_pairs
from past_batches import CROPS, ENDED, SEED, WAYS, same, write_boxed
from penstock import transforms as T
from penstock.errors import DecodeError
from penstock.loading.last_pass import LastPassRunner
from penstock.loading.pipeline import ChosenRules

HERE = {name: way for name, way in WAYS.items() if not {"reuse", "backend"} & way.keys()}
OF_BATCHES = {"batch_transform", "dtype", "layout", "output", "as_dict"}


class Posted(LastPassRunner):
    """Has parts prepared by a second loader, and gets them as another process would."""

    def __init__(self, preparer, *setup):
        super().__init__(*setup)
        self._preparer = preparer
        self.parts = []

    def _prepare(self, order):
        order = pickle.loads(pickle.dumps(order, 5))  # noqa: S301 (made here)
        buffers = []
        told = pickle.dumps(self._preparer.prepare(order), 5, buffer_callback=buffers.append)
        frozen = [bytes(buffer.raw()) for buffer in buffers]  # which cannot be written to
        self.parts.append(pickle.loads(told, buffers=frozen))  # noqa: S301 (made here)
        return self.parts[-1]

    def end(self):
        super().end()
        self._preparer.close()


def make_pair(data, **options):
    """A loader, and one with the same arguments whose parts are prepared elsewhere."""
    usual = {"transform": ENDED, "batch_size": 5, "shuffle": True, "seed": SEED, "threads": 2}
    options = {"rank": 0, **usual, "output": "numpy", "world_size": 1, **options}
    far = {name: value for name, value in options.items() if name not in OF_BATCHES}
    posted = ps.Loader(data, **options)
    runners = []

    def elsewhere(setup, formats):
        rules = ChosenRules(setup.rules, setup.view_rules)
        other = ps.Loader(data, **far | {"output": "numpy", "rank": 0, "world_size": 1})
        runners.append(Posted(other.preparer(rules), setup, formats))
        return runners[-1]

    course = posted._course
    course.pipeline = replace(course.pipeline, elsewhere=elsewhere)
    return ps.Loader(data, **options), posted, runners


def assert_equal_epochs(local, posted, epochs=2):
    for _ in range(epochs):
        ours, theirs = list(posted), list(local)
        assert len(ours) == len(theirs) > 0
        for one, other in zip(ours, theirs, strict=True):
            assert same(one, other)
    assert list(posted.ledger) == list(local.ledger)
    posted.close()
    local.close()


@pytest.mark.parametrize("options", HERE.values(), ids=HERE)
def test_batches_are_those_of_a_loader(folder, options):
    local, posted, _ = make_pair(folder, **options)
    assert_equal_epochs(local, posted)


@pytest.mark.parametrize("options", [{"dtype": "float16"}, {"layout": "hwc"}, {}], ids=str)
def test_what_follows_the_last_pass_is_done_here(folder, options):
    local, posted, runners = make_pair(folder, transform=ENDED, **options)
    assert_equal_epochs(local, posted)
    for part in runners[0].parts:
        assert all(images.dtype == np.uint8 for images in part.images)


def test_torch_tensors_can_be_written_to(folder):
    pytest.importorskip("torch")
    local, posted, _ = make_pair(folder, transform=CROPS, output="torch", dtype=None)
    for (images, labels), (expected, _) in zip(posted, local, strict=True):
        assert (images == expected).all()
        images.zero_()
        labels.zero_()
    posted.close()


@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_bad_files(broken_folder, on_error):
    local, posted, _ = make_pair(broken_folder, transform=ENDED, on_error=on_error, batch_size=4)
    assert_equal_epochs(local, posted, epochs=1)


def test_bad_files_are_the_same_errors(broken_folder):
    local, posted, _ = make_pair(broken_folder, transform=CROPS, batch_size=2)
    said = []
    for loader in (local, posted):
        count = 0
        with pytest.raises(DecodeError) as error:
            for _ in loader:
                count += 1
        said.append((count, str(error.value)))
        loader.close()
    assert said[0] == said[1]


@pytest.mark.parametrize("targets", ["list", "padded"])
def test_masks_of_whole_images(tmp_path, targets):
    write_pairs(tmp_path, [(40, 50), (33, 64), (70, 31), (40, 40)])
    options = {"masks": tmp_path / "masks", "batch_size": 3, "targets": targets}
    transform = T.Compose([T.RandomHorizontalFlip(), T.ToDtype("float32", scale=True)])
    local, posted, runners = make_pair(tmp_path / "images", transform=transform, **options)
    assert_equal_epochs(local, posted)
    assert runners[0].parts[0].label_maps[0].dtype == np.uint8


@pytest.mark.parametrize("targets", ["list", "padded", "yolo"])
def test_boxes(tmp_path, targets):
    local, posted, _ = make_pair(
        write_boxed(tmp_path), transform=T.ssd(size=(32, 32)), targets=targets
    )
    assert_equal_epochs(local, posted)


@pytest.mark.parametrize("targets", ["list", "padded"])
def test_boxes_and_masks_of_objects_in_images_of_any_size(coco_folder, targets):
    coco = ps.open_data(coco_folder, kind="coco")
    options = {"masks": True, "targets": targets, "indices": range(7), "batch_size": 3}
    transform = T.Compose([T.RandomHorizontalFlip(), T.RandomZoomOut(), T.ToDtype("float32", True)])
    local, posted, _ = make_pair(coco, transform=transform, **options)
    ours, theirs = list(posted), list(local)
    assert same(ours, theirs)
    target = ours[0][1][0] if targets == "list" else ours[0][1]
    target["masks"][:] = 0  # can be written to
    posted.close()
    local.close()
