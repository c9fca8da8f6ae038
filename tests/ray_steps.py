"""Functions for pipelines that run in the processes of Ray, which must be able to import them."""

import random
import time


def linger(image):
    """Take a while, so that a worker is killed in the middle of something."""
    time.sleep(0.004)
    return image


def fail(image):
    raise ValueError(f"no {image.mode}")


def draw_unkeyed(image):
    random.random()
    return image
