import numpy as np
import pytest

from penstock.analysis.device.devices import EmulatedDevice, StepDevice
from penstock.analysis.device.fresh import fresh_batch
from penstock.analysis.measure import Effort, measure_fresh_step
from penstock.watching.loader_facts import count_images

IMAGES = np.zeros((4, 3, 8, 8), np.float32)
LABELS = np.arange(4)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_images_are_new_each_time(dtype):
    first, second = (fresh_batch(IMAGES.astype(dtype)) for _ in range(2))

    assert first.shape == IMAGES.shape
    assert first.dtype == dtype
    assert not np.array_equal(first, second)


def test_torch_images_are_new_each_time():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.uint8):
        batch = torch.zeros(2, 3, 8, 8, dtype=dtype)
        first, second = (fresh_batch(batch) for _ in range(2))

        assert first.dtype == dtype
        assert first.shape == batch.shape
        assert not torch.equal(first, second)


@pytest.mark.parametrize(
    "batch",
    [
        IMAGES,
        (IMAGES, LABELS),
        [IMAGES, LABELS],
        {"image": IMAGES, "label": LABELS},
        [IMAGES[0], IMAGES[1][:, :4]],
        ((IMAGES[0], IMAGES[1]), ("a", "b")),
    ],
)
def test_everything_else_stays(batch):
    made = fresh_batch(batch)

    assert count_images(made) == count_images(batch)
    if isinstance(batch, dict):
        assert made["label"] is LABELS
    elif isinstance(batch, tuple):
        assert made[1] is batch[1]
    elif isinstance(batch, np.ndarray):
        assert isinstance(made, np.ndarray)


@pytest.mark.parametrize("batch", [(), {}, ["a", "b"], object(), None])
def test_no_batch_is_made_of_what_is_not_known(batch):
    assert fresh_batch(batch) is None
    assert measure_fresh_step(EmulatedDevice(1000), batch, Effort(1, 0.01)) is None


def test_step_gets_a_new_batch_each_time():
    seen = []
    rate = measure_fresh_step(StepDevice(seen.append), (IMAGES, LABELS), Effort(2, 0.01))

    assert rate is not None
    assert rate.median > 0
    assert all(batch[1] is LABELS for batch in seen)
    assert len({batch[0].tobytes() for batch in seen}) == len(seen)


def test_emulated_device_is_measured_while_its_queue_is_full():
    device = EmulatedDevice(4000)
    rate = measure_fresh_step(device, IMAGES, Effort(1, 0.02))

    assert rate is not None
    assert rate.median > 0
    assert len(device.busy) > 3
