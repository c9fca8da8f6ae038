"""Sweeps over sizes, layers, models, accelerators and forms: what they change, not how fast."""

import math
from dataclasses import replace

import numpy as np
import pytest

import penstock
from analysis_samples import measurements
from penstock import Loader, TransformError
from penstock import transforms as T
from penstock.analysis.advice import (
    ACCELERATE,
    ACCELERATE_NEAR,
    ACCELERATE_PACKED,
    ORDER,
    ORDER_FAST,
)
from penstock.analysis.budget import Budget
from penstock.analysis.device.devices import EmulatedDevice, StepDevice
from penstock.analysis.measure import Effort, StepAlone, first_batch
from penstock.analysis.rate_model import CoreModel
from penstock.analysis.subject.subject import PenstockSubject, open_subject
from penstock.analysis.sweeps.alternatives import measure_alternatives
from penstock.analysis.sweeps.orders import measure_orders
from penstock.analysis.sweeps.pipeline_changes import heights_near, image_height_px, measure_sizes
from penstock.analysis.sweeps.step_changes import check_faster, measure_other_models
from penstock.analysis.sweeps.sweep import SweepContext
from penstock.analysis.what_if import Model, what_ifs
from penstock.costs.costs import Cost, Costs
from penstock.reordering.trials import Times, Trials
from penstock.results.records import Rate

EFFORT = Effort(1, 0.02)
FACTS = measurements(5000.0, 1000.0, 900.0, costs=Costs((Cost("augment", "all", 1.0, "Pillow"),)))
MODEL = Model(CoreModel(0.0, 1e-3), step_cpu_s=0.0, overlap=8.0)


@pytest.fixture(scope="module")
def files(make_photos):
    return sorted(str(file) for file in make_photos(12).rglob("*.jpg"))


def loader_of(files, *ops):
    return Loader(
        files, labels=[0] * len(files), batch_size=4, transform=T.Compose(ops), output="numpy"
    )


def context_of(loader, device):
    subject = open_subject(loader)
    alone = StepAlone(Rate(100.0, 100.0, 100.0), 1e-6, first_batch(subject))
    budget = Budget(math.inf, lambda *_: None)
    return SweepContext(subject, device, alone, MODEL, 1, EFFORT, budget, run_s=0.1)


@pytest.fixture
def torch_loader(files, torchvision):
    import torch

    v1 = torchvision.transforms
    ops = [v1.Resize(80), v1.CenterCrop(64), v1.ToTensor()]
    folder = files[0].rpartition("/")[0].rpartition("/")[0]
    photos = torchvision.datasets.ImageFolder(folder, v1.Compose(ops))
    return torch.utils.data.DataLoader(photos, batch_size=4)


def test_every_size_of_a_plan_is_scaled(files):
    subject = PenstockSubject(loader_of(files, T.Resize(80), T.CenterCrop((64, 48))))

    with subject.with_size(0.5).open() as smaller:
        assert next(iter(smaller))[0].shape[2:] == (32, 24)


def test_size_of_a_torch_loader_is_scaled_in_a_copy(torch_loader):
    subject = open_subject(torch_loader)

    assert first_batch(subject.with_size(1.5))[0].shape == (4, 3, 96, 96)
    assert first_batch(subject)[0].shape == (4, 3, 64, 64)


def test_layers_are_added_where_a_torch_loader_has_none(torch_loader):
    changed = open_subject(torch_loader).with_layers(3)

    names = [type(op).__name__ for op in changed._dataset.transform.transforms]
    assert names == ["Resize", "CenterCrop", "RandAugment", "ToTensor"]
    assert changed._dataset.transform.transforms[2].num_ops == 3


@pytest.mark.parametrize(
    ("batch", "height"),
    [
        ((np.zeros((2, 3, 5, 7)), [0, 1]), 5),
        ([np.zeros((2, 5, 7, 3))], 5),
        ({"image": np.zeros((2, 1, 5, 7))}, 5),
        (([np.zeros((3, 5, 7)), np.zeros((3, 6, 7))], [{}, {}]), None),
        ([], None),
    ],
)
def test_height_of_a_batch(batch, height):
    assert image_height_px(batch) == height


def test_usual_heights():
    assert heights_near(224) == [160, 192, 256, 288]
    assert heights_near(32) == [64, 96]


def test_sizes_are_measured_and_one_is_checked(files):
    context = context_of(loader_of(files, T.RandomResizedCrop(128)), EmulatedDevice(1000))
    measure_sizes(context)
    swept = context.results

    assert [change.what.split()[1] for change in swept.changes] == ["64", "96", "160", "192"]
    assert all("assumed" in change.what for change in swept.changes)
    assert all(change.pipeline > 0 for change in swept.changes)
    assert [check.what for check in swept.checks] == ["images 64 pixels high"]
    assert swept.checks[0].error is not None


def test_step_of_the_user_is_not_tried_on_other_sizes(files):
    heights = []
    device = StepDevice(lambda batch: heights.append(batch[0].shape[2]))
    context = context_of(loader_of(files, T.RandomResizedCrop(128)), device)
    measure_sizes(context)
    swept = context.results

    assert swept.changes[0].synthetic == pytest.approx(400)
    assert heights == []


def test_size_that_does_not_work_is_noted(files, monkeypatch):
    def refuse(subject, factor):
        raise TransformError("too large")

    monkeypatch.setattr(PenstockSubject, "with_size", refuse)
    context = context_of(loader_of(files, T.CenterCrop(64)), EmulatedDevice(1000))
    measure_sizes(context)
    swept = context.results

    assert "images 96 pixels high could not be tried: too large" in swept.notes


def test_faster_emulated_accelerators_are_checked(files):
    context = context_of(loader_of(files, T.CenterCrop(32)), EmulatedDevice(100))

    check_faster(context, 1e6)
    checks = context.results.checks
    assert [check.what for check in checks] == [
        "an accelerator of 200 images/s",
        "an accelerator of 400 images/s",
    ]
    assert checks[0].predicted == pytest.approx(200)
    real = context_of(context.subject.loader, StepDevice(len))
    check_faster(real, 1e6)
    assert real.results.checks == []


def test_torch_loader_is_tried_natively_and_packed(torch_loader):
    context = context_of(torch_loader, EmulatedDevice(1000))
    measure_alternatives(context, torch_loader)
    swept = context.results

    assert [change.what for change in swept.changes] == [ACCELERATE, ACCELERATE_PACKED]
    assert swept.notes == []


@pytest.mark.filterwarnings("ignore:RandomPerspective.* draws from the generator:UserWarning")
def test_what_is_only_near_is_measured_with_its_bound(torch_loader, torchvision):
    """With strict=False, where the same pixels cannot be had natively, or not at all."""
    from torchvision.transforms import v2

    torch_loader.dataset.transform = v2.Compose(
        [v2.CenterCrop(16), v2.RandomPerspective(), v2.PILToTensor()]
    )
    context = context_of(torch_loader, EmulatedDevice(1000))
    measure_alternatives(context, torch_loader)
    swept = context.results
    assert [change.what for change in swept.changes][:2] == [ACCELERATE, ACCELERATE_NEAR]
    assert swept.changes[1].note.startswith("RandomPerspective, within a level")

    torch_loader.dataset.transform = v2.Compose([v2.ToImage(), v2.Resize((16, 16))])
    context = context_of(torch_loader, EmulatedDevice(1000))
    measure_alternatives(context, torch_loader)
    swept = context.results
    assert swept.changes[0].what == ACCELERATE_NEAR
    assert ACCELERATE not in [change.what for change in swept.changes]


def test_what_cannot_be_translated_is_noted():
    torch = pytest.importorskip("torch")
    numbers = torch.utils.data.TensorDataset(torch.zeros(8, 3, 4, 4))
    loader = torch.utils.data.DataLoader(numbers, batch_size=4)
    context = context_of(loader, EmulatedDevice(1000))
    measure_alternatives(context, loader)
    swept = context.results

    assert swept.changes == []
    assert swept.notes[0].startswith("penstock.accelerate could not be tried: ")


def test_other_models_are_measured_on_a_real_device(torchvision):
    import torch

    from penstock.analysis.device.devices import TorchDevice

    batches = [(torch.rand(2, 3, 32, 32), torch.tensor([1, 2]))] * 3
    context = context_of(batches, TorchDevice("cpu", "resnet18"))
    measure_other_models(context)
    changes = context.results.changes

    assert [change.what.split()[0] for change in changes] == ["mobilenet_v3_small", "resnet50"]
    assert all(change.synthetic > 0 and change.step_cpu_s >= 0 for change in changes)


def test_emulated_device_has_no_other_models(files):
    context = context_of(loader_of(files, T.CenterCrop(32)), EmulatedDevice(1000))

    measure_other_models(context)
    assert context.results.changes == []


def test_all_kinds_of_changes_are_there(files):
    loader = loader_of(files, T.RandomResizedCrop(64), T.ToDtype("float32", scale=True))
    found = penstock.analyze(loader, effort=EFFORT)
    text = "; ".join(change.change for change in found.what_ifs)

    for kind in (
        "cores",
        "layers",
        "pixels high",
        "packed",
        "fidelity",
        "an accelerator of",
        "busy",
    ):
        assert kind in text


@pytest.mark.parametrize("kind", ["ours", "torch"])
def test_slowest_files_are_named(kind, files, request):
    loader = (
        loader_of(files, T.CenterCrop(32))
        if kind == "ours"
        else request.getfixturevalue("torch_loader")
    )
    slowest = open_subject(loader).slowest_files()

    assert len(slowest) == 10
    assert {name for name, _ in slowest} <= set(files)
    times_ms = [milliseconds for _, milliseconds in slowest]
    assert times_ms == sorted(times_ms, reverse=True)


def test_data_without_files_has_no_slowest(files, tmp_path):
    penstock.pack(files, tmp_path / "train.pen", labels=[0] * len(files), progress=False)

    assert open_subject(Loader(tmp_path / "train.pen")).slowest_files() == ()
    assert open_subject([1, 2]).slowest_files() == ()


def pixels_as_times(trials, orders, seconds):
    """An op takes a millisecond for each megapixel that it gets."""
    del seconds
    return [
        Times(
            {
                step.number: met.pixels / 1e6
                for step, met in zip(order, trials.images(order), strict=False)
            },
            (sum(met.pixels for met in trials.images(order)[:-1]) / 1e6,) * 3,
            3,
        )
        for order in orders
    ]


@pytest.fixture
def rated(monkeypatch):
    """Loaders have the rates that are set for the first op of their list; orders take no time."""
    rates = {}

    class Run:
        def __init__(self, subject, *_):
            first = type(subject._dataset.transform.transforms[0]).__name__
            self.images_per_s = next(rates[first])

    monkeypatch.setattr(Trials, "race", pixels_as_times)
    monkeypatch.setattr("penstock.analysis.sweeps.sweep.run_pipeline", Run)
    return rates


def with_ops(torch_loader, *ops):
    import torch

    dataset = type(torch_loader.dataset)(
        torch_loader.dataset.root, type(torch_loader.dataset.transform)(ops)
    )
    return torch.utils.data.DataLoader(dataset, batch_size=4)


def test_a_better_order_has_the_rate_of_the_loader_in_that_order(torch_loader, torchvision, rated):
    v1 = torchvision.transforms
    colours = [v1.ColorJitter(0.4), *(v1.RandomInvert() for _ in range(9))]
    loader = with_ops(torch_loader, *colours, v1.RandomCrop(64), v1.Resize(32), v1.ToTensor())
    context = context_of(loader, EmulatedDevice(1000))
    rated["ColorJitter"] = iter([100.0, 90.0, 100.0, 100.0])
    rated["RandomCrop"] = iter([140.0, 144.0, 190.0, 210.0])
    measure_orders(context, FACTS)

    exact, fast = context.results.changes
    assert exact.what == ORDER
    assert exact.pipeline == pytest.approx(1500)
    assert exact.line.splitlines()[3:5] == [
        "    transforms.RandomCrop(64),",
        "    transforms.ColorJitter(brightness=0.4),",
    ]
    assert (
        "RandomCrop before ColorJitter (exact). Measured in turn on one core, they take "
        in exact.note
    )
    assert fast.what == ORDER_FAST
    assert fast.pipeline == pytest.approx(2000)
    assert "what changes values most does so by mean" in fast.note
    assert type(loader.dataset.transform.transforms[0]) is v1.ColorJitter  # the user's own stays


def test_without_time_for_the_loader_its_rate_follows_from_the_transforms(
    torch_loader, torchvision, rated
):
    del rated
    v1 = torchvision.transforms
    loader = with_ops(torch_loader, v1.RandomInvert(), v1.RandomCrop(64), v1.ToTensor())
    slow = {"run_s": 1000.0, "budget": Budget(500.0, lambda *_: None)}
    context = replace(context_of(loader, EmulatedDevice(1000)), **slow)
    measure_orders(context, FACTS)

    (change,) = context.results.changes
    assert not change.is_measured
    assert change.pipeline > FACTS.pipeline
    (told,) = [one for one in what_ifs(FACTS, MODEL, [change]) if one.change == ORDER]
    assert told.pipeline is None
    assert told.gain > 1


def test_an_order_that_does_not_help_the_loader_is_no_advice(torch_loader, torchvision, rated):
    v1 = torchvision.transforms
    loader = with_ops(torch_loader, v1.ColorJitter(0.4), v1.RandomCrop(64), v1.ToTensor())
    context = context_of(loader, EmulatedDevice(1000))
    rated["ColorJitter"] = iter([100.0, 100.0])
    rated["RandomCrop"] = iter([130.0, 99.0])
    measure_orders(context, FACTS)

    assert context.results.changes == []


def test_a_loader_without_a_list_of_torchvisions_is_not_asked_for_its_order(files):
    context = context_of(loader_of(files, T.CenterCrop(32)), EmulatedDevice(1000))
    measure_orders(context, FACTS)

    assert context.results.changes == []
    assert context.results.notes == []
