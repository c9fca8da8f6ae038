import pytest

from penstock import AnalysisError
from penstock.analysis.device.devices import open_device

torch = pytest.importorskip("torch")


def tiny_model():
    """A model that trains in no time."""
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 4 * 4, 1000))


def test_step_trains_the_model():
    device = open_device("cpu", f"{__name__}:tiny_model")
    weights = next(device._model.parameters()).detach().clone()
    device.submit((torch.rand(2, 3, 4, 4), torch.tensor([1, 2])))
    device.synchronise()

    assert not torch.equal(weights, next(device._model.parameters()))
    assert len(device.busy) == 1


def test_uint8_batches_and_odd_labels_are_trained_on():
    device = open_device("cpu", f"{__name__}:tiny_model")
    device.submit((torch.zeros(2, 3, 4, 4, dtype=torch.uint8), ["a", "b"]))
    device.submit({"image": torch.zeros(2, 3, 4, 4), "label": torch.tensor([1, 2])})


def test_model_by_torchvision_name(torchvision):
    device = open_device("cpu", "mobilenet_v3_small")
    device.submit((torch.rand(2, 3, 32, 32), torch.tensor([1, 2])))


def test_model_by_timm_name(torchvision):
    pytest.importorskip("timm")
    device = open_device("cpu", "test_resnet")
    device.submit((torch.rand(2, 3, 64, 64), torch.tensor([1, 2])))


def test_unknown_model_is_refused(torchvision):
    with pytest.raises(AnalysisError, match="no_such_model"):
        open_device("cpu", "no_such_model")


def test_missing_callable_is_refused():
    with pytest.raises(AnalysisError, match="no_such"):
        open_device("cpu", "torch:no_such")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_missing_gpu_is_told():
    with pytest.raises(AnalysisError, match="torch finds none"):
        open_device("cuda")


def test_batch_without_images_is_refused():
    device = open_device("cpu", f"{__name__}:tiny_model")

    with pytest.raises(AnalysisError, match="step of your own"):
        device.submit(torch.zeros(3))
