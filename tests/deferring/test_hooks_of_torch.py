"""torch and NumPy are as they were for everybody who does not ask a deferred Dataset."""

import numpy as np
import pytest
import torch

from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install

install()


def add(x: torch.Tensor) -> torch.Tensor:
    return x + torch.tensor([1.0, 2.0]) + torch.as_tensor(3.0)


def test_functions_are_themselves_outside():
    before = torch.tensor, torch.as_tensor, torch.from_numpy, np.array, np.asarray
    with deferring(Counts()):
        assert torch.tensor is not before[0]
        assert np.array is not before[3]
        with deferring(Counts()):
            assert torch.tensor is not before[0]
        assert torch.tensor is not before[0]
    assert (torch.tensor, torch.as_tensor, torch.from_numpy, np.array, np.asarray) == before
    assert isinstance(torch.tensor, type(torch.empty))


def test_they_are_back_after_an_error():
    before = torch.tensor
    with pytest.raises(ZeroDivisionError), deferring(Counts()):
        1 / 0  # noqa: B018 (the error is the point)
    assert torch.tensor is before


def test_compilers_know_them():
    expected = torch.tensor([4.0, 5.0])
    assert torch.equal(torch.jit.script(add)(torch.zeros(2)), expected)
    compiled = torch.compile(add, fullgraph=True, backend="eager")
    assert torch.equal(compiled(torch.zeros(2)), expected)


def test_the_default_device_is_heeded():
    with torch.device("meta"):
        assert torch.tensor([1.0]).device.type == "meta"
        with deferring(Counts()):
            assert torch.tensor([1.0]).device.type == "meta"
            assert torch.as_tensor([1.0]).device.type == "meta"
