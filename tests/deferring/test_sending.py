"""What a worker sends is what torch would have sent, wherever it lies."""

import multiprocessing
import pickle

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import default_collate  # noqa: E402

from penstock.deferring import sending  # noqa: E402
from penstock.torch.segments import SegmentMemory, SegmentTensor  # noqa: E402

LARGE = 100, 1000


class Loud(torch.Tensor):
    """A class of somebody's."""


def pair_of_views():
    values = torch.arange(100_000.0)
    return values, values.view(LARGE)


MADE = {
    "large": lambda: torch.rand(LARGE),
    "whole numbers": lambda: torch.arange(100_000),
    "bytes": lambda: torch.full((3, 300, 300), 7, dtype=torch.uint8),
    "yes or no": lambda: torch.rand(600, 600) < 0.5,
    "single": lambda: torch.tensor(3.5),
    "empty": lambda: torch.empty(0, 3),
    "small": lambda: torch.arange(5.0),
    "turned": lambda: torch.rand(LARGE).t(),
    "channels last": lambda: torch.rand(2, 3, 100, 100).to(memory_format=torch.channels_last),
    "a part": lambda: torch.rand(LARGE)[10:],
    "expanded": lambda: torch.rand(1, 1000).expand(100, 1000),
    "two of one memory": pair_of_views,
    "the same twice": lambda: [torch.rand(LARGE)] * 2,
    "with gradients": lambda: torch.rand(LARGE).requires_grad_(),
    "a parameter": lambda: torch.nn.Parameter(torch.rand(LARGE)),
    "shared": lambda: torch.rand(LARGE).share_memory_(),
    "sparse": lambda: torch.eye(400).to_sparse(),
    "of a class": lambda: torch.rand(LARGE).as_subclass(Loud),
    "halves": lambda: torch.rand(LARGE).to(torch.bfloat16),
}


def make(name):
    torch.manual_seed(0)
    return MADE[name]()


def serve(queue, done, names):
    torch.set_num_threads(1)
    memory = SegmentMemory()
    sending.send_in(memory)
    for name in names:
        queue.put(make(name))
    queue.put(len(memory._segments))
    done.wait()


@pytest.fixture(scope="module")
def received():
    """What comes from another process, and how many segments that took."""
    context = torch.multiprocessing.get_context("fork")
    queue, done = context.Queue(), context.Event()
    child = context.Process(target=serve, args=(queue, done, list(MADE)), daemon=True)
    child.start()
    found = {name: queue.get(timeout=60) for name in MADE}
    segments = queue.get(timeout=60)
    yield found, segments
    done.set()
    child.join(60)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes are not forked here"
)
@pytest.mark.parametrize("name", MADE)
def test_what_arrives_is_what_was_sent(received, name):
    for expected, found in zip(listed(make(name)), listed(received[0][name]), strict=True):
        assert type(found) is type(expected)
        assert found.dtype == expected.dtype
        assert found.requires_grad == expected.requires_grad
        assert found.layout == expected.layout
        if found.layout == torch.strided:
            assert found.stride() == expected.stride()
        assert torch.equal(found.to_dense(), expected.to_dense())


def listed(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def test_large_ones_are_sent_in_segments(received):
    assert received[1] >= 1


def test_tensors_that_share_memory_do_so_when_they_arrive(received):
    flat, shaped = received[0]["two of one memory"]
    flat[1] = 77.0
    assert shaped[0, 1] == 77.0
    one, same = received[0]["the same twice"]
    assert one is same


@pytest.mark.parametrize("name", ["small", "single", "empty"])
def test_small_ones_travel_with_the_message(monkeypatch, name):
    sent_here(monkeypatch)
    message = sending.ForkingPickler.dumps(make(name))
    for _ in range(2):  # of a descriptor, only the first would get something
        assert torch.equal(pickle.loads(message), make(name))  # noqa: S301 (our own bytes)


def test_small_ones_that_share_memory_are_left_to_torch(monkeypatch):
    sent_here(monkeypatch)
    values = torch.arange(6.0)
    both = pickle.loads(sending.ForkingPickler.dumps((values, values.view(2, 3))))  # noqa: S301 (the same)
    both[0][5] = 77.0
    assert both[1][1, 2] == 77.0


def test_labels_that_are_tensors_are_collated_for_the_message(monkeypatch):
    _, collated = sent_here(monkeypatch)
    labels = collated([torch.tensor([1, 2]), torch.tensor([3, 4])])
    assert labels.tolist() == [[1, 2], [3, 4]]
    assert not labels.is_shared()


def test_memory_is_used_again(monkeypatch):
    memory, _ = sent_here(monkeypatch)
    for _ in range(5):
        batch = default_collate([torch.rand(LARGE), torch.rand(LARGE)])
        assert type(batch) is SegmentTensor
        del batch
    assert len(memory._segments) == 1


def test_collated_as_by_torch(monkeypatch):
    samples = [
        {
            "image": torch.rand(3, 120, 120)[:, ::2],
            "levels": torch.full((200, 200), number, dtype=torch.uint8).numpy(),
            "mixed": torch.rand(20_000).to([torch.float32, torch.float64][number]),
            "label": number,
        }
        for number in range(2)
    ]
    expected = default_collate(samples)
    _, collated = sent_here(monkeypatch)
    found = collated(samples)
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name].dtype == value.dtype
        assert found[name].stride() == value.stride()
        assert torch.equal(found[name], value)
    assert type(found["image"]) is type(found["levels"]) is SegmentTensor


def test_other_lengths_are_refused_as_by_torch(monkeypatch):
    sent_here(monkeypatch)
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([torch.rand(LARGE), torch.rand(100, 999)])


def test_settings_of_the_user_are_left_alone(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1")
    monkeypatch.setattr(sending.ctypes, "CDLL", None)  # not even asked for
    sending._keep_memory()


def sent_here(monkeypatch):
    """Have this process send in segments, until the test ends; the memory, and default_collate."""
    table = sending.default_collate_fn_map
    monkeypatch.setitem(table, torch.Tensor, table[torch.Tensor])
    reducers = sending.ForkingPickler._extra_reducers
    monkeypatch.setitem(reducers, torch.Tensor, reducers[torch.Tensor])
    monkeypatch.setattr(sending, "_keep_memory", lambda: None)
    memory = SegmentMemory()
    sending.send_in(memory)
    return memory, default_collate
