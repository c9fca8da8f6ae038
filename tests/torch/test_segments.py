"""Memory that workers share is used again, and never while somebody has the batch in it."""

import copy
import gc
import io
import multiprocessing
import os
import pickle
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

from penstock import transforms as T
from penstock.errors import PenstockError

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (optional)

from penstock.torch import Dataset, segments  # noqa: E402 (the same)
from penstock.torch.segments import SegmentMemory, SegmentTensor, ready_to_send  # noqa: E402

pytestmark = pytest.mark.skipif(
    not hasattr(os, "memfd_create"), reason="this system has no such shared memory"
)

SMALL = T.Compose([T.Resize((8, 9)), T.ToDtype("float32", scale=True)])


@pytest.fixture
def memory():
    memory = SegmentMemory()
    yield memory
    segments._arrived.clear()


def batch_in(memory, values, dtype=torch.float32):
    """A tensor of these values, made as a loader makes batches."""
    values = torch.tensor(values, dtype=dtype)
    lent = memory.take(values.nbytes)
    lent[:] = values.view(torch.uint8).numpy().ravel()
    stored = memory.tensor_over(lent).view(dtype).view(values.shape)
    return ready_to_send(stored)


def passed_on(tensor):
    """What another process gets; this one, for the test."""
    return pickle.loads(ForkingPickler.dumps(tensor))  # noqa: S301 (our own bytes)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16, torch.bfloat16, torch.float32])
def test_a_batch_arrives_as_it_was(memory, dtype):
    sent = batch_in(memory, [[1, 2, 3], [4, 5, 6]], dtype)
    assert isinstance(sent, SegmentTensor)
    arrived = passed_on(sent)
    assert type(arrived) is torch.Tensor
    assert arrived.dtype == dtype
    assert arrived.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert arrived.untyped_storage().nbytes() == sent.nbytes
    assert arrived.data_ptr() != sent.data_ptr()
    arrived += 1
    assert sent.tolist() == arrived.tolist()  # the same memory


def test_memory_is_used_again_when_the_batch_is_gone(memory):
    sent = batch_in(memory, [1.0, 2.0])
    place = sent.data_ptr()
    arrived = passed_on(sent)
    del sent
    other = batch_in(memory, [3.0, 4.0])
    assert other.data_ptr() != place
    assert arrived.tolist() == [1.0, 2.0]

    view = arrived[1:]
    del arrived
    assert batch_in(memory, [5.0, 6.0]).data_ptr() != place  # a part of it is still in use
    assert view.tolist() == [2.0]
    del view
    assert batch_in(memory, [7.0, 8.0]).data_ptr() == place


def test_a_segment_that_comes_again_needs_no_descriptor(memory):
    passed_on(batch_in(memory, [1.0, 2.0]))
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    again = batch_in(memory, [3.0, 4.0])
    message = ForkingPickler.dumps(again)
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert len(memory._segments) == 1
    assert pickle.loads(message).tolist() == [3.0, 4.0]  # noqa: S301 (our own bytes)


def test_a_forked_child_takes_what_its_parent_has_mapped(memory):
    held = passed_on(batch_in(memory, [1.0]))
    del held
    message = ForkingPickler.dumps(batch_in(memory, [2.0]))
    found = multiprocessing.get_context("fork").SimpleQueue()
    child = multiprocessing.get_context("fork").Process(target=read_one, args=(message, found))
    child.start()
    assert found.get() == [2.0]
    child.join()
    assert child.exitcode == 0
    assert len(memory._segments) == 1
    assert batch_in(memory, [3.0]).item() == 3.0  # given back by the child
    assert len(memory._segments) == 1


def read_one(message, found):
    found.put(pickle.loads(message).tolist())  # noqa: S301 (our own bytes)


def test_a_process_that_has_no_part_in_the_memory_is_told_so(memory):
    passed_on(batch_in(memory, [1.0]))
    message = ForkingPickler.dumps(batch_in(memory, [2.0]))
    segments._arrived.clear()
    with pytest.raises(PenstockError, match="meant for another process"):
        pickle.loads(message)  # noqa: S301 (our own bytes)


def test_memory_is_not_used_again_while_the_worker_has_it(memory):
    batches = [batch_in(memory, [float(number)]) for number in range(9)]
    assert [batch.item() for batch in batches] == list(range(9))


def test_smaller_batches_take_what_is_there(memory):
    large = batch_in(memory, [1.0] * 5000)
    place = large.data_ptr()
    del large
    assert batch_in(memory, [1.0]).data_ptr() == place


def test_few_segments_are_kept_for_later(memory):
    arrived = [passed_on(batch_in(memory, [float(number)] * 2048)) for number in range(10)]
    assert len(memory._segments) == len(segments._arrived) == 10
    arrived.clear()
    batch_in(memory, [1.0])
    assert len(memory._segments) == 10  # a batch may need as many, if it has as many parts
    for _ in range(64):
        batch_in(memory, [1.0])
    assert len(memory._segments) <= 4
    del arrived
    gc.collect()
    passed_on(batch_in(memory, [0.0] * 4096))  # a new one: what was given up is forgotten
    assert len(segments._arrived) <= 5


def test_whoever_keeps_all_batches_does_not_take_all_files(memory):
    kept = [memory.take(4096) for _ in range(200)]
    assert len(memory._segments) == sum(one is not None for one in kept) == 128
    kept.clear()
    assert memory.take(4096) is not None


def test_it_is_sent_once_and_copied_after_that(memory):
    sent = batch_in(memory, [1.0, 2.0])
    first, second = passed_on(sent), passed_on(sent)
    first.zero_()
    assert second.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "other",
    [
        lambda batch: pickle.loads(pickle.dumps(batch)),  # noqa: S301 (the same)
        copy.deepcopy,
        copy.copy,
        lambda batch: batch * 1,
        lambda batch: batch.clone(),
        lambda batch: torch.load(io.BytesIO(saved(batch)), weights_only=True),
    ],
    ids=["pickle", "deepcopy", "copy", "times one", "clone", "save"],
)
def test_what_is_made_of_it_is_a_plain_tensor(memory, other):
    sent = batch_in(memory, [1.0, 2.0])
    made = other(sent)
    assert type(made) is torch.Tensor
    assert made.tolist() == [1.0, 2.0]
    assert passed_on(made).tolist() == [1.0, 2.0]
    assert passed_on(sent).tolist() == [1.0, 2.0]


def saved(batch):
    file = io.BytesIO()
    torch.save(batch, file)
    return file.getvalue()


def test_others_are_left_alone(memory):
    plain = torch.zeros(3)
    assert ready_to_send(plain) is plain
    turned = ready_to_send(batch_in(memory, [[1.0, 2.0], [3.0, 4.0]]).t())
    assert passed_on(turned).tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_no_memory_left_is_left_to_torch(memory, monkeypatch):
    def fail(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", fail)
    descriptors = len(os.listdir("/proc/self/fd"))
    assert memory.take(4096) is None
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_forked_child_gives_nothing_back(memory):
    sent = batch_in(memory, [1.0])
    place = sent.data_ptr()
    held = [passed_on(sent)]
    del sent
    child = multiprocessing.get_context("fork").Process(target=held.clear)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert batch_in(memory, [2.0]).data_ptr() != place
    assert held[0].item() == 1.0


def epoch_of(loader):
    return [(images, labels.tolist()) for images, labels in loader]


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_batches_of_a_loader_that_are_kept_do_not_change(folder, context):
    dataset = Dataset(folder, transform=SMALL)
    expected = epoch_of(TorchLoader(dataset, 2))
    loader = TorchLoader(
        dataset, 2, num_workers=2, persistent_workers=True, multiprocessing_context=context
    )
    kept = [epoch_of(loader) for _ in range(3)]
    for epoch in kept:
        for (images, labels), (right, numbers) in zip(epoch, expected, strict=True):
            assert torch.equal(images, right)
            assert labels == numbers
    places = {images.data_ptr() for epoch in kept for images, _ in epoch}
    assert len(places) == 3 * len(expected)

    del kept, epoch, images
    gc.collect()
    places = set()
    for _ in range(5):
        for images, _ in loader:
            places.add(images.data_ptr())
    assert len(places) < 5 * len(expected)  # used again
    del loader, images
    gc.collect()


def test_segments_of_workers_that_ended_are_forgotten(folder):
    loader = TorchLoader(Dataset(folder, transform=SMALL), 2, num_workers=2)
    for _ in range(3):
        for images, _ in loader:
            assert images.shape == (len(images), 3, 8, 9)
    del images
    gc.collect()
    assert not segments._arrived


@pytest.mark.parametrize("as_dict", [True, {"image": "pixel_values"}])
def test_dictionaries_and_views_come_uncopied_too(folder, as_dict):
    two = T.MultiView([SMALL, SMALL])
    for transform in (SMALL, two):
        dataset = Dataset(folder, transform=transform, as_dict=as_dict)
        alone = list(TorchLoader(dataset, 4))
        shared = list(TorchLoader(dataset, 4, num_workers=1))
        key = "image" if as_dict is True else "pixel_values"
        for batch, other in zip(alone, shared, strict=True):
            assert list(batch) == list(other) == [key, "label"]
            pairs = [(batch[key], other[key])]
            if transform is two:
                assert type(batch[key]) is type(other[key]) is list
                pairs = list(zip(batch[key], other[key], strict=True))
            assert all(torch.equal(one, another) for one, another in pairs)
            assert torch.equal(batch["label"], other["label"])


def test_arrays_of_a_batch_keep_it(memory):
    sent = batch_in(memory, [1.0, 2.0])
    place = sent.data_ptr()
    array = passed_on(sent).numpy()
    del sent
    assert batch_in(memory, [9.0, 9.0]).data_ptr() != place
    assert np.array_equal(array, [1.0, 2.0])
