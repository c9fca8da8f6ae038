"""Contestants that take turns in one process, on one core."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

Pass = Callable[[], int]  # does its work once, and returns how many images that were


def stay_on_one_core() -> None:
    """Keep this process on one core, with all threads that it starts from now on.

    OpenCV and torch do without threads of their own, which would only take turns on that core.
    """
    import cv2
    import torch

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    cv2.setNumThreads(0)
    torch.set_num_threads(1)


def take_turns(
    contestants: Mapping[str, Pass], rounds: int, least_s: float
) -> dict[str, list[float]]:
    """Return what each takes for an image, in milliseconds, once for each round.

    A turn is as many passes as fill `least_s`, so that the fastest are not measured for too short
    a time. A pass of each to warm up does not count.
    """
    took: dict[str, list[float]] = {name: [] for name in contestants}
    for run in contestants.values():
        run()
    for _ in range(rounds):
        for name, run in contestants.items():
            began = time.perf_counter()
            images, seconds = 0, 0.0
            while not images or seconds < least_s:
                images += run()
                seconds = time.perf_counter() - began
            took[name].append(seconds / images * 1e3)
    return took
