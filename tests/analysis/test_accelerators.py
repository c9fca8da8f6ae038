from pathlib import Path

import pytest

from penstock import AnalysisError
from penstock.analysis.device.accelerators import (
    ACCELERATOR_RATES,
    accelerator_names,
    find_accelerator,
)
from penstock.analysis.device.devices import EmulatedDevice, choose_device, open_device


@pytest.mark.parametrize("rate", ACCELERATOR_RATES, ids=lambda rate: rate.label)
def test_every_rate_says_where_it_comes_from(rate):
    assert rate.images_per_s > 0
    assert rate.source.startswith("https://")
    assert rate.describe().count("derived") == bool(rate.derived)


def test_no_rate_is_listed_twice():
    rates = [rate.label for rate in ACCELERATOR_RATES]

    assert len(set(rates)) == len(rates)


def test_every_name_opens_the_device_of_its_rate():
    for name in accelerator_names():
        device = open_device(f"emulated:{name}")

        assert isinstance(device, EmulatedDevice)
        assert device.images_per_s == find_accelerator(name).images_per_s
        assert device.name == f"emulated:{name}"


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("emulated:a100/resnet50", 2470),
        ("emulated:a100/resnet50/tf32", 938),
        ("emulated:Titan_RTX/ResNet50", 330),
        ("v100/resnet50/float32", 367),
    ],
)
def test_rates_as_published(name, rate):
    assert find_accelerator(name).images_per_s == rate


def test_bandwidth_explains_published_rates():
    """The rule for rates that nobody published, tried where somebody did."""
    v100, a100, rtx = (
        find_accelerator(f"{name}/resnet50").images_per_s for name in ("v100", "a100", "rtx-3090")
    )

    assert v100 * 936 / 900 == pytest.approx(rtx, rel=0.05)
    assert v100 * 2039 / 900 == pytest.approx(a100, rel=0.15)


@pytest.mark.parametrize(
    "name", ["emulated:a10/resnet50", "emulated:a100", "emulated:a100/resnet50/int8"]
)
def test_typing_error_lists_the_known_names(name):
    with pytest.raises(AnalysisError) as caught:
        open_device(name)

    assert all(known in str(caught.value) for known in accelerator_names())
    assert "emulated:1000" in str(caught.value)


def test_near_name_is_suggested():
    with pytest.raises(AnalysisError, match="Did you mean emulated:h100/mobilenet_v2"):
        open_device("emulated:h100/mobilenetv2")


def test_source_is_among_the_notes():
    _, notes = choose_device(None, "emulated:t4/resnet50", "resnet18")

    assert "427 images/s (t4, resnet50, mixed precision), derived: https://" in notes[0]
    assert choose_device(None, "emulated:1000", "resnet18")[1] == []


def test_docs_list_the_same_rates():
    page = (Path(__file__).parents[2] / "docs" / "analysis.md").read_text("utf-8")
    for one in ACCELERATOR_RATES:
        row = f"| {one.accelerator} | {one.model} | {one.precision} | {one.images_per_s:,.0f} |"

        assert row in page
        assert one.source in page
