"""An array that is not computed yet is one of NumPy's to everybody, whatever is done with it."""

import copy
import operator
import pickle

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("cv2")

import cv2
import torch

from penstock.deferring.array import DeferredArray
from penstock.deferring.counts import Counts, deferring, wrapped
from penstock.deferring.hooks import install
from penstock.deferring.tensor import Deferred
from tests.deferring.pictures import coded, picture

MEAN = np.array([0.485, 0.456, 0.406])
STD = np.array([0.229, 0.224, 0.225], dtype=np.float32)
SIZE = 23, 17


@pytest.fixture(autouse=True)
def _hooks():
    install()
    with wrapped:  # as while a Dataset is asked
        yield


def opened(mode="RGB", flags=cv2.IMREAD_COLOR):
    """An ordinary array, and one of ours."""
    data = np.frombuffer(coded(picture(*SIZE, mode)), np.uint8)
    expected = cv2.imdecode(data, flags)
    with deferring(Counts()):
        found = cv2.imdecode(data, flags)
    assert type(expected) is np.ndarray
    assert type(found) is DeferredArray
    return expected, found


def is_waiting(value):
    return isinstance(value, (DeferredArray, Deferred)) and value.is_open


def plain(value):
    if isinstance(value, Deferred):
        return value.values()
    return value.values() if type(value) is DeferredArray else value


def assert_same(found, expected):
    found = plain(found)
    assert type(found) is type(expected)
    if isinstance(expected, torch.Tensor):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert torch.equal(found, expected)
        assert found.stride() == expected.stride()
    elif isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape, found.strides) == (
            expected.dtype,
            expected.shape,
            expected.strides,
        )
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


REMEMBERED = {
    "part": lambda a: a[2:9, 3:-1],
    "part of a part": lambda a: a[2:][:5, 1:][1:, 2:4],
    "mirrored": lambda a: a[:, ::-1],
    "upside down": lambda a: a[::-1],
    "a part backwards": lambda a: a[15:4:-1, 3:],
    "channels turned": lambda a: a[..., ::-1],
    "all turned": lambda a: a[::-1, ::-1, ::-1],
    "turned and a part": lambda a: a[:, :, ::-1][1:, :-2],
    "fliplr": np.fliplr,
    "flipud": np.flipud,
    "flip by axis": lambda a: np.flip(a, 1),
    "flip by axes": lambda a: np.flip(a, (0, -1)),
    "flip": np.flip,
    "turned by 180 degrees": lambda a: np.rot90(a, 2),
    "transposed": lambda a: a.transpose(2, 0, 1),
    "transposed by a tuple": lambda a: a.transpose((2, 0, 1)),
    "np.transpose": lambda a: np.transpose(a, (2, 0, 1)),
    "moveaxis": lambda a: np.moveaxis(a, -1, 0),
    "there and back": lambda a: a.transpose(2, 0, 1)[::-1, 2:].transpose(1, 2, 0),
    "ordered": lambda a: np.ascontiguousarray(a[:, ::-1]),
    "ordered already": lambda a: np.ascontiguousarray(a),  # noqa: PLW0108 (looked up when it is called)
    "ordered channels": lambda a: np.ascontiguousarray(a.transpose(2, 0, 1)),
    "ordered floats": lambda a: np.ascontiguousarray(a[1:, ::-1], dtype=np.float32),
    "copy": lambda a: a[:, ::-1].copy(),
    "np.copy": lambda a: np.copy(a.transpose(2, 0, 1)),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "np.array": lambda a: np.array(a[2:]),
    "np.array of floats": lambda a: np.array(a, dtype=np.float32),
    "np.asarray": lambda a: np.asarray(a[:, 2:]),
    "floats": lambda a: a.astype(np.float32),
    "floats by name": lambda a: a.astype("float32"),
    "doubles": lambda a: a.astype(float),
    "floats of channels": lambda a: a.transpose(2, 0, 1).astype(np.float32),
    "bytes as bytes": lambda a: a[:, ::-1].astype(np.uint8),
    "not copied": lambda a: a.astype(np.uint8, copy=False),
    "divided": lambda a: a / 255,
    "divided by a float": lambda a: a / 255.0,
    "divided by a single": lambda a: a / np.float32(255),
    "floats divided": lambda a: a.astype(np.float32) / 255.0,
    "floats divided by a double": lambda a: a.astype(np.float32) / np.float64(255.0),
    "times": lambda a: a * (1 / 255),
    "normalised in singles": lambda a: (a.astype(np.float32) / 255 - MEAN.astype(np.float32)) / STD,
    "normalised in doubles": lambda a: (a / 255.0 - MEAN) / STD,
    "normalised by lists": lambda a: (a / 255.0 - [0.5, 0.4, 0.3]) / [0.2, 0.3, 0.4],
    "mixed": lambda a: ((a.astype(np.float32) / 255 - MEAN) / STD).astype(np.float32),
    "turned and normalised": lambda a: ((a / 255 - MEAN)[..., ::-1] / STD)[2:, ::-1],
    "of channels first": lambda a: a.transpose(2, 0, 1) / 255 - MEAN[:, None, None],
    "with one axis more": lambda a: a.astype(np.float32) - MEAN.reshape(1, 1, 3),
    "with a single number": lambda a: a.astype(np.float32) - np.array([3.0]),
    "with a number of no axis": lambda a: a.astype(np.float32) - np.array(3.0),
    "from the other side": lambda a: 1.0 - a / 255,
    "an array from the other side": lambda a: MEAN - a / 255,
    "by ufunc": lambda a: np.subtract(np.true_divide(a, 255), 0.5),
    "to minus one": lambda a: a.astype(np.float32) / 127.5 - 1,
    "tensor": lambda a: torch.from_numpy(a),  # noqa: PLW0108 (looked up when it is called)
    "tensor of channels": lambda a: torch.from_numpy(a.transpose(2, 0, 1)),
    "tensor of a part": lambda a: torch.from_numpy(a[2:, 3:]),
    "tensor of doubles": lambda a: torch.from_numpy(a.transpose(2, 0, 1) / 255),
    "as_tensor": lambda a: torch.as_tensor(a),  # noqa: PLW0108 (looked up when it is called)
    "as_tensor of floats": lambda a: torch.as_tensor(a, dtype=torch.float32),
    "torch.tensor": lambda a: torch.tensor(a),  # noqa: PLW0108 (looked up when it is called)
    "permuted": lambda a: torch.from_numpy(a).permute(2, 0, 1),
    "permuted and ordered": lambda a: torch.from_numpy(a).permute(2, 0, 1).contiguous(),
    "floats by torch": lambda a: torch.from_numpy(a).permute(2, 0, 1).float(),
    "divided by torch": lambda a: torch.from_numpy(a).permute(2, 0, 1).float().div(255),
    "bytes divided by torch": lambda a: torch.from_numpy(a).permute(2, 0, 1) / 255,
    "normalised by torch": lambda a: (
        (torch.from_numpy(a).permute(2, 0, 1) / 255.0 - torch.tensor(MEAN).view(3, 1, 1))
        / torch.tensor(STD)[:, None, None]
    ),
    "divided in place by torch": lambda a: torch.from_numpy(a).float().div_(255).sub_(0.5),
    "times by torch": lambda a: 2 * (torch.from_numpy(a.transpose(2, 0, 1)) / 255) - 1,
    "the other way round by torch": lambda a: 1 - torch.from_numpy(a).float(),
    "doubles by torch": lambda a: torch.from_numpy(a / 255).float(),
    "to": lambda a: torch.from_numpy(a).to(torch.float32),
    "to by name": lambda a: torch.from_numpy(a).to(dtype=torch.float64),
    "cloned": lambda a: torch.from_numpy(a).permute(2, 0, 1).clone(),
    "bytes plus one": lambda a: a + 1,
    "bytes that wrap around": lambda a: a * 2 - 1,
    "bytes inverted": lambda a: 255 - a,
    "bytes plus a byte for each channel": lambda a: a + np.array([1, 2, 250], np.uint8),
    "bytes as longs plus one": lambda a: a.astype(np.int64) + 1,
    "bytes times a float": lambda a: a * 1.5,
    "brighter": lambda a: np.clip(a * 1.2, 0, 255).astype(np.uint8),
    "brighter by a method": lambda a: (a.astype(np.float32) + 30).clip(0, 255).astype(np.uint8),
    "brighter in words": lambda a: np.clip(a.astype(np.int16) + 40, 0, 255).astype(np.uint8),
    "halves": lambda a: a.astype(np.float16),
    "halves divided": lambda a: a.astype(np.float16) / 255,
    "floats and back": lambda a: (a / 255).astype(np.uint8),
    "bytes of channels first": lambda a: a.transpose(2, 0, 1) + 1,
    "rolled": lambda a: np.rollaxis(a, 2) / 255.0,
    "to minus one in doubles": lambda a: ((a / 255.0) * 2 - 1).transpose(2, 0, 1),
    "normalised and cast": lambda a: ((a / 255.0 - MEAN) / STD).transpose(2, 0, 1).astype("f4"),
    "clipped": lambda a: np.clip(a / 255, 0.2, 0.8),
    "halves by torch": lambda a: torch.from_numpy(a).permute(2, 0, 1).half(),
    "halves of doubles by torch": lambda a: torch.from_numpy(a / 255.0).half(),
    "halves divided by torch": lambda a: torch.from_numpy(a).half().div(255).sub(0.5),
    "longs": lambda a: torch.from_numpy(a).long(),
    "longs plus one": lambda a: torch.from_numpy(a).long() + 1,
    "floats as longs": lambda a: (torch.from_numpy(a) / 2).long(),
    "bytes by torch plus one": lambda a: torch.from_numpy(a) + 1,
    "bytes by torch that wrap around": lambda a: torch.from_numpy(a).mul(3),
    "sub and div": lambda a: (
        torch.from_numpy(a.transpose(2, 0, 1))
        .float()
        .div(255)
        .sub(torch.tensor(MEAN).view(3, 1, 1))
        .div(torch.tensor(STD)[:, None, None])
    ),
    "clamped": lambda a: torch.from_numpy(a).float().mul(1.3).clamp(0, 255),
    "clamped bytes": lambda a: torch.clamp(torch.from_numpy(a), 10, 99),
    "moved": lambda a: torch.from_numpy(a).movedim(-1, 0),
    "moved there and back": lambda a: torch.movedim(torch.from_numpy(a), 2, 0).movedim(0, -1),
    "mirrored by torch": lambda a: torch.from_numpy(a).permute(2, 0, 1).flip(-1),
    "mirrored twice by torch": lambda a: torch.flip(torch.from_numpy(a).float(), [0, 1]),
    "mirrored by name": lambda a: torch.flip(torch.from_numpy(a) / 255, dims=(0,)),
    "a part by torch": lambda a: torch.from_numpy(a).permute(2, 0, 1)[:, 2:9, 3:-1].clone(),
    "a part of floats by torch": lambda a: (
        (torch.from_numpy(a.transpose(2, 0, 1)) / 255)[..., 2:9] + 1
    ),
    "one of a batch": lambda a: torch.from_numpy(a.transpose(2, 0, 1).copy()).unsqueeze(0),
    "one of a batch by its shape": lambda a: torch.tensor(a.transpose(2, 0, 1).copy()).view(
        1, 3, *a.shape[:2]
    ),
    "one of a batch of floats": lambda a: (torch.tensor(a.transpose(2, 0, 1)).contiguous() / 9)[
        None
    ],
    "torch.tensor of channels": lambda a: torch.tensor(a.transpose(2, 0, 1)),
}

AT_ONCE = {
    "every second row": lambda a: a[::2],
    "a row": operator.itemgetter(3),
    "a pixel": operator.itemgetter((3, 2)),
    "a channel": operator.itemgetter((..., 0)),
    "two channels": operator.itemgetter((..., slice(0, 2))),
    "a new axis": operator.itemgetter(None),
    "nothing": lambda a: a[5:5],
    "by a mask": lambda a: a[a > 100],
    "by indices": lambda a: a[[1, 2, 5]],
    "by channels": lambda a: a[:, :, [2, 1, 0]],
    "comparison": lambda a: a > 7,
    "equality": lambda a: a == a,  # noqa: PLR0124
    "sum": lambda a: a.sum(),
    "np.mean": lambda a: np.mean(a, axis=(0, 1)),
    "bytes less themselves": lambda a: a - a,
    "negative": lambda a: -a.astype(np.float32),
    "power": lambda a: a.astype(np.float32) ** 2,
    "floor": lambda a: a // 2,
    "reshaped": lambda a: a.reshape(-1),
    "turned over": lambda a: a.T,
    "swapped": lambda a: a.swapaxes(0, 1),
    "transposed otherwise": lambda a: a.transpose(1, 0, 2),
    "to bytes": lambda a: a.tobytes(),
    "a list": lambda a: a.tolist(),
    "floats in order": lambda a: a.astype(np.float32, order="C"),
    "floats that are no bytes": lambda a: (a * 3.0 - 9).astype(np.int16).astype(np.uint32),
    "stacked": lambda a: np.stack([a, a]),
    "padded": lambda a: np.pad(a, ((1, 1), (2, 2), (0, 0)), mode="edge"),
    "clipped at one end": lambda a: np.clip(a / 255, 0.2, None),
    "clipped by channels": lambda a: np.clip(a / 255, MEAN, 0.8),
    "where": lambda a: np.where(a > 9, a, 0),
    "rotated": lambda a: np.rot90(a),  # noqa: PLW0108 (looked up when it is called)
    "sqrt": np.sqrt,
    "by an image": lambda a: a / 255 - np.ones(a.shape),
    "divided by nothing": lambda a: np.divide(a, 255, dtype=np.float32),
    "pickled": lambda a: pickle.loads(pickle.dumps(a)),  # noqa: S301 (our own)
    "as text": str,
    "iterated": lambda a: [int(row.sum()) for row in a],
    "unpacked": lambda a: np.float32(a),  # noqa: PLW0108 (looked up when it is called)
    "an image": lambda a: np.asarray(cv2.GaussianBlur(a, (3, 3), 0)),
    "floats as longs beyond bytes": lambda a: (
        (torch.from_numpy(a) * 1e30).float().to(torch.float64)
    ),
    "a stride by torch": lambda a: torch.from_numpy(a)[::2],
    "a channel by torch": lambda a: torch.from_numpy(a)[..., 0],
    "channels turned by torch": lambda a: torch.from_numpy(a).flip(-1),
    "one of a batch of channels last": lambda a: torch.from_numpy(a).unsqueeze(0),
    "legacy": lambda a: torch.FloatTensor(np.array(a, np.float32)),
    "torch, by items": lambda a: torch.tensor([a, a]) if a.ndim == 1 else torch.tensor(a[0]),
    "tensor of rows": lambda a: torch.from_numpy(a)[3],
    "tensor and sum": lambda a: torch.from_numpy(a).float().sum(),
    "seen as bytes": lambda a: torch.from_numpy(a).view(-1),
    "interface": lambda a: np.asarray(memoryview(np.asarray(a.data))),
}


@pytest.mark.parametrize("name", REMEMBERED)
def test_what_is_remembered(name):
    expected, found = opened()
    expected, found = REMEMBERED[name](expected), REMEMBERED[name](found)

    assert is_waiting(found)
    assert tuple(found.shape) == tuple(expected.shape)
    assert found.dtype == expected.dtype
    if isinstance(expected, np.ndarray):
        assert found.strides == expected.strides
        assert found.flags.c_contiguous == expected.flags.c_contiguous
        assert (found.ndim, found.size, found.nbytes, len(found)) == (
            *(expected.ndim, expected.size, expected.nbytes, len(expected)),
        )
    assert is_waiting(found)
    assert_same(found, expected)


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_needs_values(name):
    expected, found = opened()
    assert_same(AT_ONCE[name](found), AT_ONCE[name](expected))


GRAY = {
    "part": lambda a: a[2:9, 3:-1],
    "mirrored": lambda a: a[:, ::-1],
    "normalised": lambda a: (a.astype(np.float32) / 255 - 0.5) / 0.25,
    "with a channel": lambda a: a[None],
    "with a channel at the end": lambda a: a[..., None],
    "with a channel by all": lambda a: a[:, :, None] / 255.0,
    "with a channel by name": lambda a: np.expand_dims(a, -1).transpose(2, 0, 1) / 255,
    "with a channel in order": lambda a: np.ascontiguousarray(a[..., None].transpose(2, 0, 1)),
    "with a channel, and a part of it": lambda a: a[..., np.newaxis][2:9, ::-1].astype("f4"),
    "tensor of a channel": lambda a: torch.from_numpy(a[:, :, None].transpose(2, 0, 1)) / 255,
    "bytes plus one": lambda a: a + 1,
    "doubles": lambda a: a / 255.0,
    "one of a batch": lambda a: torch.from_numpy(a)[None].unsqueeze(0),
    "with a channel by its shape": lambda a: torch.from_numpy(a).view((1, *a.shape)),
    "expanded": lambda a: np.expand_dims(a, 0) / 255,
    "tensor": lambda a: torch.from_numpy(a)[None].float() / 255,
    "unsqueezed": lambda a: torch.from_numpy(a).unsqueeze(0),
    "in colour": lambda a: cv2.cvtColor(a, cv2.COLOR_GRAY2RGB),
    "smaller": lambda a: cv2.resize(a, (9, 7)),
}


@pytest.mark.parametrize("name", GRAY)
def test_gray_images(name):
    expected, found = opened("L", cv2.IMREAD_UNCHANGED)
    expected, found = GRAY[name](expected), GRAY[name](found)

    assert is_waiting(found)
    assert_same(found, expected)


def error_of(function, *args):
    with pytest.raises(Exception) as caught:
        function(*args)
    return type(caught.value), str(caught.value)


REFUSED = {
    "too many axes": lambda a: a[1, 2, 3, 4],
    "beyond the edge": lambda a: a[99],
    "no such attribute": lambda a: a.nothing,
    "a wrong slice": lambda a: a["x":],
    "negative strides": lambda a: torch.from_numpy(a[:, ::-1]),
    "negative strides, copied": lambda a: torch.tensor(a[:, ::-1]),
    "no shape like that": lambda a: a + np.ones((5, 5)),
    "no truth": bool,
    "floats into bytes": lambda a: operator.itruediv(a, 2.0),
    "axes that do not match": lambda a: a.transpose(1, 0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_numpys(name):
    expected, found = opened()
    assert error_of(REFUSED[name], found) == error_of(REFUSED[name], expected)


def test_it_is_an_array_to_everybody():
    _, found = opened()
    assert isinstance(found, np.ndarray)
    assert found.__class__ is np.ndarray
    assert found.__hash__ is None
    assert found.is_open


def put_into_a_part(a):
    part = a[4:, ::-1]
    part[:3] = 7
    return a


def put_into_all(a):
    part = a[4:9, 2:]
    a[5:] = 1
    return part


def put_into_channels(a):
    tensor = torch.from_numpy(a.transpose(2, 0, 1))
    tensor[0] = 9
    return a


def put_into_the_array(a):
    tensor = torch.from_numpy(a).permute(2, 0, 1)
    a[0] = 5
    return tensor


def put_into_a_copy(a):
    copied, ordered = a.copy(), np.ascontiguousarray(a)
    copied[:] = 0
    ordered[0, 0] = 3
    return a


def drawn_on(a):
    part = a[:, 3:]
    cv2.rectangle(a, (2, 2), (9, 9), (1, 200, 3), -1)
    return part


def drawn_on_a_part(a):
    part = a[1:, 3:]
    part = np.ascontiguousarray(part)
    cv2.circle(part, (2, 2), 4, (1, 200, 3))
    return np.hstack([part, a[1:, 3:]])


def divided_in_place(a):
    floats = a.astype(np.float32)
    again = floats
    floats /= 255.0
    floats -= MEAN
    floats *= STD
    return again


def divided_in_place_beside_a_part(a):
    floats = a.astype(np.float32)
    part = floats[2:, ::-1]
    floats /= 255
    return part


def divided_in_place_by_torch(a):
    floats = a.astype(np.float32)
    torch.from_numpy(floats).div_(255)
    return floats


def divided_out(a):
    floats = a.astype(np.float32)
    np.divide(floats, 255, out=floats)
    return floats


def changed_and_seen_again(a):
    floats = a.astype(np.float32)
    part = floats[3:]
    del part
    floats /= 255
    return floats[1:, ::-1], floats


def changed_tensor_seen_again(a):
    tensor = torch.from_numpy(a.astype(np.float32))
    tensor.div_(255)
    return tensor.permute(2, 0, 1), tensor


def another_shape(a):
    a.shape = (-1,)
    return a


def filled(a):
    part = a[:, 4:]
    part.fill(3)
    return a


def plus_in_place(a):
    part = a[3:]
    a += 1
    return part


@pytest.mark.parametrize(
    "change",
    [
        *(put_into_a_part, put_into_all, put_into_channels, put_into_the_array, put_into_a_copy),
        *(drawn_on, drawn_on_a_part, divided_in_place, divided_in_place_beside_a_part),
        *(divided_in_place_by_torch, divided_out, another_shape, filled, plus_in_place),
        *(changed_and_seen_again, changed_tensor_seen_again),
    ],
)
def test_changes_are_seen_where_numpys_are(change):
    expected, found = opened()
    expected, found = change(expected), change(found)
    if not isinstance(expected, tuple):
        expected, found = (expected,), (found,)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(plain(other), one)


def test_arithmetic_in_place_is_remembered():
    _, found = opened()
    assert is_waiting(divided_in_place(found))
