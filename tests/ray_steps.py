"""Functions for pipelines that run in the processes of Ray, which must be able to import them."""

import time


def linger(image):
    """Take a while, so that a worker is killed in the middle of something."""
    time.sleep(0.01)
    return image


def fail(image):
    raise ValueError(f"no {image.mode}")
