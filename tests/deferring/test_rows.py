import copy
import io
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest

pytest.importorskip("torch")

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import default_collate

from penstock import TranslationError
from penstock.deferring.rows import Row, split_rows
from tests.deferring.pictures import as_value

COUNT = 3


def tensors():
    return [one.clone() for one in torch.arange(COUNT * 3 * 2 * 4.0).view(COUNT, 3, 2, 4)]


def rows():
    made = split_rows(torch.stack(tensors()), torch.Tensor)
    assert all(isinstance(row, Row) for row in made)
    return made


def in_a_buffer(samples):
    buffer = torch.zeros(COUNT, 3, 2, 4)
    torch.stack(samples, out=buffer)
    return buffer


def changed_after(samples):
    together = torch.stack(samples)
    samples[0].zero_()
    return [together, samples]


def changed_before(samples):
    samples[1].add_(5)
    return [torch.stack(samples), samples]


def view_before(samples):
    view = samples[0][0]
    together = torch.stack(samples)
    view.zero_()
    return [together, samples[0]]


def twice(samples):
    one = torch.stack(samples)
    other = torch.stack(samples)
    one.zero_()
    return [one, other]


def by_default_twice(samples):
    batch = default_collate([(one, one) for one in samples])
    batch[0].zero_()
    return batch


def lengthened(samples):
    for one in samples:
        one.unsqueeze_(0)
    return [torch.cat(samples), [one.shape for one in samples]]


def with_gradients(samples):
    for one in samples:
        one.requires_grad_()
    return [one.requires_grad for one in samples]


def one_by_one(samples):
    """In place, with gradients of what was there before: torch must not mistake one for another."""
    weight = torch.ones((), requires_grad=True)
    total = 0
    for one in samples:
        one.sub_(0.5)
        total = total + (one * weight).sum()
    total.backward()
    return weight.grad


def with_attributes(samples):
    for number, one in enumerate(samples):
        one.number_of_mine = number
    return [one.number_of_mine for one in samples]


COLLATES = {
    "stack": torch.stack,
    "stack by name": lambda samples: torch.stack(tensors=samples, dim=0),
    "stack, dim 1": lambda samples: torch.stack(samples, 1),
    "stack, dim -1": lambda samples: torch.stack(samples, dim=-1),
    "stack, reversed": lambda samples: torch.stack(samples[::-1]),
    "stack, some": lambda samples: torch.stack(samples[:2]),
    "stack, one twice": lambda samples: torch.stack([samples[0], *samples]),
    "stack with another": lambda samples: torch.stack([*samples[:2], torch.zeros(3, 2, 4)]),
    "out": in_a_buffer,
    "cat": lambda samples: torch.cat([one.unsqueeze(0) for one in samples]),
    "list": list,
    "dict": lambda samples: {"images": samples},
    "pad": lambda samples: pad_sequence([one.view(-1) for one in samples], batch_first=True),
    "shapes, then stack": lambda samples: [[one.shape for one in samples], torch.stack(samples)],
    "default": default_collate,
    "default of pairs": lambda samples: default_collate([(one, 1) for one in samples]),
    "numpy": lambda samples: [one.numpy() for one in samples],
    "values": lambda samples: [one.tolist() for one in samples],
    "deepcopy": lambda samples: [copy.deepcopy(one) for one in samples],
    "iteration": lambda samples: [list(one) for one in samples],
    "changed after": changed_after,
    "changed before": changed_before,
    "view before": view_before,
    "twice": twice,
    "default twice": by_default_twice,
    "lengthened": lengthened,
    "gradients": with_gradients,
    "one by one": one_by_one,
    "attributes": with_attributes,
}


@pytest.mark.parametrize("name", COLLATES)
def test_collates_make_of_rows_what_they_make_of_tensors(name):
    assert as_value(COLLATES[name](rows())) == as_value(COLLATES[name](tensors()))


def test_a_whole_batch_is_not_copied():
    made = rows()
    memory = made[0].whole.tensor.data_ptr()

    assert torch.stack(made).data_ptr() == memory
    assert torch.stack(made).data_ptr() != memory, "nobody else may have it too"


def test_samples_that_are_gone_are_not_made_up():
    """Their batch was changed in place after it was stacked, and nobody has the old values."""
    made = rows()
    torch.stack(made).sub_(1)
    with pytest.raises(TranslationError, match="in place"):
        made[0] + 1


def test_a_row_can_be_pickled():
    stored = [pickle.loads(pickle.dumps(row)) for row in rows()]  # noqa: S301 (our own)

    assert {type(one) for one in stored} == {torch.Tensor}
    assert as_value(stored) == as_value(tensors())


@pytest.mark.parametrize("name", ["list", "changed after", "twice", "stack", "changed before"])
def test_rows_arrive_in_another_process_as_they_are(name):
    """As a worker sends them."""
    made = COLLATES[name](rows())
    file = io.BytesIO()
    ForkingPickler(file).dump(made)
    arrived = pickle.loads(file.getbuffer())  # noqa: S301 (our own)

    assert as_value(arrived) == as_value(COLLATES[name](tensors()))
    assert all(type(one) is torch.Tensor for one in _tensors_in(arrived))


def _tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for inner in value for one in _tensors_in(inner)]
