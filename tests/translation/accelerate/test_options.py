"""Options of a DataLoader that are about worker processes: each is told, none changes a batch."""

from penstock.translation.transforms.lines import How
from tests.translation.accelerate.reading import accelerate, explain_translation


def start_worker(number):
    raise AssertionError(number)  # there is none to start


def told(loader):
    lines = explain_translation(loader).lines
    return {
        line.theirs: line.note
        for line in lines
        if line.part == "batch" and line.how == How.NOT_NEEDED
    }


def test_nothing_to_tell(make_loader):
    assert told(make_loader()) == {}


def test_each_option_is_told(make_loader, tv):
    workers = {"num_workers": 2, "persistent_workers": True, "prefetch_factor": 7, "timeout": 30}
    more = {"worker_init_fn": start_worker, "multiprocessing_context": "spawn", "in_order": False}
    rest = {"pin_memory": True, "generator": tv.torch.Generator()}
    lines = told(make_loader(**workers, **more, **rest))

    assert [theirs.partition("=")[0] for theirs in lines] == [
        "num_workers",
        "worker_init_fn",
        "multiprocessing_context",
        "persistent_workers",
        "prefetch_factor",
        "timeout",
        "in_order",
        "generator",
        "pin_memory",
    ]
    assert lines["worker_init_fn=start_worker"] == "not called: there are no worker processes"
    assert lines["prefetch_factor=7"] == "two batches are prepared ahead"


def test_batches_are_the_same(make_loader, tv):
    v1 = tv.v1
    transform = v1.Compose([v1.Resize((8, 8)), v1.ToTensor()])
    options = {"num_workers": 1, "worker_init_fn": start_worker, "timeout": 9}
    plain = make_loader(transform=transform)
    ours = accelerate(make_loader(transform=transform, **options))
    for batch, expected in zip(ours, plain, strict=True):
        assert tv.torch.equal(batch[0], expected[0])
        assert tv.torch.equal(batch[1], expected[1])
