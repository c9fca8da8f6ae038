"""Whether a detection batch is the same as the DataLoader's, to the bit."""

import torch


def assert_same_batches(ours, theirs):
    """Compare images and targets of whole epochs; return how many objects there were."""
    objects = 0
    assert len(ours) == len(theirs)
    for batch, expected in zip(ours, theirs, strict=True):
        assert type(batch) is type(expected)
        for image, other in zip(batch[0], expected[0], strict=True):
            assert image.dtype == other.dtype
            assert torch.equal(image, other)
        for target, other in zip(batch[1], expected[1], strict=True):
            assert_same_target(target, other)
            objects += len(target.get("labels", ()))
    return objects


def assert_same_target(target, expected):
    """Compare two dictionaries: keys, types, numbers."""
    assert target.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, torch.Tensor):
            assert target[key].dtype == value.dtype
            assert target[key].shape == value.shape
            assert torch.equal(target[key], value.as_subclass(torch.Tensor))
        else:
            assert target[key] == value
