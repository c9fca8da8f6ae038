"""Functions that draw from generators of the whole process are named, once, and no others."""

import random
import warnings

import numpy as np
import pytest

from penstock import Loader
from penstock import transforms as T


def by_python(image):
    return image.rotate(random.choice([0, 180]))


def by_numpy(image):
    return image.rotate(180 * np.random.randint(2))  # noqa: NPY002  what users write


def by_torch(image):
    import torch

    return image.rotate(180 * int(torch.randint(2, ())))


def by_rng(image, rng):
    return image.rotate(180 * int(rng.integers(2)))


def nothing_drawn(image):
    return image.rotate(180)


def run(folder, *steps, **options):
    transform = T.Compose([T.CenterCrop(16), *steps])
    options = {"batch_size": 2, "threads": 3, "output": "numpy", **options}
    return [images for images, _ in Loader(folder, transform=transform, **options)]


@pytest.mark.parametrize("backend", ["native", "pillow"])
@pytest.mark.parametrize(
    ("step", "generator"), [(by_python, "Python's random"), (by_numpy, "np.random")]
)
def test_a_function_that_draws_on_its_own_is_named(folder, step, generator, backend):
    with pytest.warns(UserWarning, match="draws from") as warned:
        run(folder, nothing_drawn, step, by_rng, backend=backend)

    (message,) = (str(warning.message) for warning in warned)
    assert f"{step.__name__} (step 3): draws from the generator of {generator}, which" in message
    assert "parameter named rng" in message


def test_torchs_generator_is_looked_at_too(folder, torchvision):
    with pytest.warns(UserWarning, match=r"by_torch \(step 2\): draws from the generator of torch"):
        run(folder, by_torch)


def test_every_such_function_is_named(folder):
    with pytest.warns(UserWarning, match="draws from") as warned:
        run(folder, by_python, by_numpy)

    assert sorted(str(warning.message).split(":")[0] for warning in warned) == [
        "by_numpy (step 3)",
        "by_python (step 2)",
    ]


def test_a_keyed_function_is_not(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, again = (run(folder, by_rng, nothing_drawn, seed=5) for _ in range(2))

    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_looking_changes_no_generator(folder):
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002
    run(folder, by_rng, nothing_drawn)

    assert before == (random.getstate(), np.random.get_state()[1].tobytes())  # noqa: NPY002
