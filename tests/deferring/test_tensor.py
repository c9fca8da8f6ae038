import copy
import io
import pickle
import weakref

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional as nn

from penstock.deferring.chain import Chain, JpegFile
from penstock.deferring.counts import Counts, deferring
from penstock.deferring.spec import Spec
from penstock.deferring.tensor import DeferredTensor, as_plain, make, view_of
from penstock.errors import DecodeError
from tests.deferring.pictures import as_value, coded, picture, undecodable

HEIGHT, WIDTH = 7, 9
UNDECODABLE_SIZE = (17, 23)
SPECS = {
    "bytes": Spec(),
    "floats": Spec().divided(),
    "normalised": Spec().divided().normalised((0.5,), (0.25, 0.5, 0.3)),
}


def chain():
    return Chain.of_file(JpegFile(coded(picture(WIDTH, HEIGHT)), "a file", HEIGHT, WIDTH))


def both(spec):
    deferred = make(DeferredTensor, chain(), spec)
    return make(DeferredTensor, chain(), spec).values().clone(), deferred


def saved(tensor):
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file)


def scripted(tensor):
    return torch.jit.trace(lambda x: x.float() * 2, torch.zeros(3, 2, 2))(tensor)


def with_gradient(tensor):
    weight = torch.ones((), requires_grad=True)
    (tensor.float() * weight).sum().backward()
    return weight.grad


def into_numpy(tensor):
    tensor.numpy()[0] = 1
    return tensor


def changed(name, *args):
    def change(tensor):
        getattr(tensor, name)(*args)
        return [tensor, tensor.shape, len(tensor), tensor.dtype, tensor.requires_grad]

    return change


def assigned(tensor):
    tensor[0] = 3
    tensor[:, 1:3] += 1
    tensor.data[2, 0] = 5
    return tensor


def filled(tensor):
    target = torch.zeros(2, *tensor.shape, dtype=tensor.dtype)
    torch.stack([tensor, tensor], out=target)
    torch.add(tensor, 1, out=tensor)
    return [target, tensor]


DONE = {
    "index": lambda x: [x[0], x[..., ::2], x[:, 1:3, -1], x[None], x[x > 100], x[[0, 2]]],
    "arithmetic": lambda x: [x + 1, 2 * x, x - x, x / 3, x // 2, x % 5, -x.float(), x**2, abs(x)],
    "comparison": lambda x: [x > 3, x == 7, x != 0, (x <= x + 1).all()],
    "reductions": lambda x: [x.sum(), x.float().mean((1, 2)), x.max(), x.float().std(), x.argmax()],
    "shapes": lambda x: [x.view(-1), x.permute(1, 2, 0), x.flip(0), x.mT.shape, x.unsqueeze(0)],
    "torch's": lambda x: [torch.cat([x, x], 1), torch.stack([x, x], -1), torch.zeros_like(x)],
    "out": filled,
    "functional": lambda x: [
        nn.pad(x.float(), (1, 2)),
        nn.interpolate(x.float()[None], (3, 4), mode="bilinear"),
        nn.conv2d(x.float()[None], torch.ones(1, 3, 2, 2)),
    ],
    "types": lambda x: [x.float(), x.double(), x.to(torch.int16), x.half(), x.type(torch.int32)],
    "device": lambda x: [
        x.cpu(),
        x.to("cpu"),
        x.contiguous(),
        x.clone(),
        x.detach(),
        x.device.type,
    ],
    "out of torch": lambda x: [x.numpy(), np.asarray(x), np.array(x), x.tolist(), list(x)],
    "single values": lambda x: [x[0, 0, 0].item(), float(x[0, 0, 0]), int(x[1, 0, 0])],
    "truth": bool,
    "length": lambda x: [len(x), x.size(), x.size(0), x.dim(), x.ndim, x.numel(), x.shape],
    "layout": lambda x: [x.stride(), x.is_contiguous(), x.element_size(), x.nbytes, x.itemsize],
    "kinds": lambda x: [torch.is_tensor(x), isinstance(x, torch.Tensor), x.is_floating_point()],
    "text": lambda x: [repr(x), str(x), f"{x.shape}"],
    "hash": lambda x: len({x: 1}),
    "in a list": lambda x: [x, 1].index(x),
    "as_tensor": torch.as_tensor,
    "from dlpack": torch.from_dlpack,
    "new": lambda x: [x.new_zeros(2), x.new_tensor([1])],
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),  # noqa: S301 (our own)
    "save": saved,
    "traced": scripted,
    "vmap": torch.vmap(lambda row: row.float().sum()),
    "gradient": with_gradient,
    "inference": torch.inference_mode()(lambda x: x * 2),
    "apply": lambda x: x.float().apply_(lambda one: one + 1),
    "wrong": lambda x: x @ torch.zeros(1000, 3),
    "unknown": lambda x: x.there_is_no_such_thing,
    "numpy": into_numpy,
    "assigned": assigned,
    "add_": changed("add_", 1),
    "copy_": changed("copy_", torch.zeros(3, HEIGHT, WIDTH)),
    "unsqueeze_": changed("unsqueeze_", 0),
    "transpose_": changed("transpose_", 0, 2),
    "resize_": changed("resize_", 3, 2, 2),
    "set data": changed("__setattr__", "data", torch.zeros(3, 1, 1)),
    "requires_grad_": lambda x: [x.float().requires_grad_().requires_grad],
    "unfold": lambda x: x.unfold(1, 2, 2),
}


def attempt(run, tensor):
    try:
        return as_value(run(tensor))
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore")  # torch's and NumPy's, of old ways to ask
@pytest.mark.parametrize("name", DONE)
def test_a_tensor_that_is_not_computed_does_as_one_that_is(name):
    for spec in SPECS.values():
        expected, deferred = both(spec)

        assert attempt(DONE[name], deferred) == attempt(DONE[name], expected)
        assert attempt(lambda one: [one, one.shape], deferred) == as_value(
            [expected, expected.shape]
        )


def test_a_leaf_that_needs_gradients():
    expected, deferred = both(SPECS["floats"])
    for one in (expected, deferred):
        one.requires_grad_()
        (one * one).sum().backward()

    assert deferred.requires_grad
    assert torch.equal(deferred.grad, expected.grad)


def crop_of(tensor):
    def part(values):
        return values[:, 1:4, 2:6]

    if isinstance(tensor, DeferredTensor):
        return view_of(tensor, DeferredTensor, tensor.chain.crop(1, 2, 3, 4), part)
    return part(tensor)


SHARED = {
    "nothing": lambda *_: None,
    "the whole": lambda *family: family[0].add_(1),
    "a part": lambda *family: family[1].zero_(),
    "a part, by numpy": lambda *family: family[1].numpy().fill(2),
    "the same": lambda *family: family[2].mul_(2),
    "one after the other": lambda *family: [one.add_(1) for one in family],
}


@pytest.mark.parametrize("name", SHARED)
def test_tensors_that_share_memory_change_together(name):
    results = []
    for whole in both(SPECS["floats"]):
        part = crop_of(whole)
        inner = part.as_subclass(torch.Tensor)
        SHARED[name](whole, part, inner)
        results.append(as_value([whole, part, inner]))

    assert results[0] == results[1]


def test_parts_share_memory_when_the_whole_is_gone():
    results = []
    for whole in both(SPECS["floats"]):
        one, other = crop_of(whole), crop_of(whole)
        del whole
        one.add_(1)
        results.append(as_value([one, other]))

    assert results[0] == results[1]


def test_a_part_is_computed_alone_when_nobody_has_the_whole():
    whole = both(SPECS["floats"])[1]
    part = crop_of(whole)
    seen = weakref.ref(whole)
    assert not part.is_alone
    del whole

    assert seen() is None
    assert part.is_alone


def test_as_plain_shares_memory():
    values = torch.zeros(3)
    as_plain(values).add_(1)

    assert values.sum() == 3


def test_a_damaged_file_is_not_swallowed_unseen():
    counts = Counts()
    with deferring(counts):
        file = JpegFile(undecodable(), "a file", *UNDECODABLE_SIZE)
        tensor = make(DeferredTensor, Chain.of_file(file), Spec())
        with pytest.raises(DecodeError):
            tensor.sum()

    assert isinstance(counts.error, DecodeError)
