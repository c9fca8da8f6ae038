import pytest

from penstock import AnalysisError
from penstock.analysis.device.devices import open_device
from penstock.analysis.device.models import made_up_targets, make_model

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


@pytest.mark.parametrize("batch", ["tensor", "list", "with targets"])
def test_detector_is_trained(torchvision, batch):
    device = open_device("cpu", "ssdlite320_mobilenet_v3_large")
    images = torch.rand(2, 3, 40, 60)
    target = {"boxes": torch.tensor([[1.0, 2.0, 30.0, 20.0]]), "labels": torch.tensor([3])}
    batches = {
        "tensor": images,
        "list": ([images[0], images[1][:, :30]], None),
        "with targets": ((images[0], images[1]), (target, target)),
    }
    weights = next(device._model.parameters()).detach().clone()
    device.submit(batches[batch])

    assert device.detects
    assert not torch.equal(weights, next(device._model.parameters()))


@pytest.mark.parametrize("name", ["maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn"])
def test_made_up_targets_have_what_the_model_learns_from(torchvision, name):
    model = make_model(name)
    targets = made_up_targets(model, torch.zeros(3, 50, 80))

    assert ("masks" in targets) == name.startswith("mask")
    assert ("keypoints" in targets) == name.startswith("keypoint")
    left, top, right, bottom = targets["boxes"].T
    assert (left < right).all()
    assert (right < 80).all()
    assert (top < bottom).all()
    assert (bottom < 50).all()


def test_detector_that_needs_compiled_operators_works_or_says_so(torchvision):
    device = open_device("cpu", "fasterrcnn_mobilenet_v3_large_320_fpn")
    try:
        torch.ops.torchvision.roi_align  # noqa: B018 (whether it is there)
    except AttributeError:
        with pytest.raises(AnalysisError, match="belong together"):
            device.submit(torch.rand(1, 3, 64, 64))
    else:
        device.submit(torch.rand(1, 3, 64, 64))
        assert device.busy


def test_model_of_another_kind_is_refused(torchvision):
    with pytest.raises(AnalysisError, match="step of your own"):
        open_device("cpu", "fcn_resnet50")


def test_images_of_detectors_are_in_three_dimensions(torchvision):
    device = open_device("cpu", "ssdlite320_mobilenet_v3_large")

    with pytest.raises(AnalysisError, match="three dimensions"):
        device.submit((torch.rand(2, 3), None))
