"""SPDL's pipeline of threads, with simplejpeg decoding and OpenCV resizing."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any

import cv2
import numpy as np
import torch
from spdl.pipeline import PipelineBuilder

from benchmarks.case import Case
from benchmarks.peers.data_loader import images_of
from benchmarks.peers.opencv_steps import steps_of
from benchmarks.peers.simplejpeg import decode_file
from benchmarks.peers.simplejpeg import versions as versions_of_steps

label = "SPDL, simplejpeg + OpenCV"

READY = 3  # batches that are prepared ahead


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"SPDL": version("spdl"), **versions_of_steps()}


class Batches:
    """A pipeline for each epoch, as SPDL's users build it."""

    def __init__(self, case: Case, cores: int) -> None:
        cv2.setNumThreads(0)
        torch.set_num_threads(1)
        self._case, self._cores = case, cores
        self._steps = steps_of(case, decode_file)
        self._images = images_of(case)

    def _prepare(self, index: int) -> tuple[Any, int]:
        return self._steps(self._images[index]), self._case.labels[index]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        order = list(range(len(self._case.paths))) * self._case.repeats
        random.shuffle(order)
        pipeline = (
            PipelineBuilder()
            .add_source(order)
            .pipe(self._prepare, concurrency=self._cores)
            .aggregate(self._case.batch_size)
            .pipe(_together)
            .add_sink(READY)
            .build(num_threads=self._cores)
        )
        with pipeline.auto_stop():
            yield from pipeline


def _together(samples: list[tuple[Any, int]]) -> tuple[Any, Any]:
    images, labels = zip(*samples, strict=True)
    return torch.from_numpy(np.stack(images)), torch.tensor(labels)


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a pipeline with a thread for each core."""
    return Batches(case, cores)
