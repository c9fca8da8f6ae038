"""tf.data on the JPEG files, set up as TensorFlow's own ImageNet examples are.

Not the reference's pixels: tf.image.resize does not smooth before it shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from benchmarks.case import CENTRE, FLOAT32, PADDED, Case, refuse_unless

label = "tf.data"

READY = 2  # batches that are prepared ahead


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"TensorFlow": tf.__version__}


def batches(case: Case, cores: int) -> Iterable[tuple[Any, Any]]:
    """Return a data set that never ends, with a thread for each core."""
    refuse_unless(not case.augment_layers, "tf.data", "RandAugment")
    tf.config.threading.set_inter_op_parallelism_threads(cores)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    if case.arrays:
        import numpy as np

        source: Any = np.load(case.arrays)[: len(case.paths)]
    else:
        source = list(case.paths)
    options = tf.data.Options()
    options.autotune.enabled = False
    options.threading.private_threadpool_size = cores
    options.threading.max_intra_op_parallelism = 1
    data = tf.data.Dataset.from_tensor_slices((source, list(case.labels)))
    data = data.shuffle(len(case.paths), seed=case.seed).repeat()
    data = data.map(_steps_of(case), num_parallel_calls=cores)
    data = data.batch(case.batch_size).prefetch(READY).with_options(options)
    return data.as_numpy_iterator()  # type: ignore[no-any-return]


def _steps_of(case: Case) -> Any:
    size = (case.crop_px, case.crop_px)
    mean, std = (tf.constant(values) * 255 for values in (case.mean, case.std))

    def prepare(source: Any, label: Any) -> tuple[Any, Any]:
        if case.crop == PADDED:
            around = [[case.pad_px] * 2, [case.pad_px] * 2, [0, 0]]
            image = tf.image.random_crop(tf.pad(source, around), (*size, 3))
        elif case.crop == CENTRE:
            image = _centre(tf.io.decode_jpeg(tf.io.read_file(source), channels=3), case)
        else:
            image = tf.image.resize(_random_crop(tf.io.read_file(source)), size)
        if case.flips:
            image = tf.image.random_flip_left_right(image)
        if case.output == FLOAT32:
            image = (tf.cast(image, tf.float32) - mean) / std
        else:
            image = tf.saturate_cast(tf.round(tf.cast(image, tf.float32)), tf.uint8)
        return tf.transpose(image, (2, 0, 1)), label

    return prepare


def _random_crop(content: Any) -> Any:
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(content),
        tf.constant([0.0, 0.0, 1.0, 1.0], shape=(1, 1, 4)),
        min_object_covered=0.08,
        aspect_ratio_range=(3 / 4, 4 / 3),
        area_range=(0.08, 1.0),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    return tf.image.decode_and_crop_jpeg(content, window, channels=3)


def _centre(image: Any, case: Case) -> Any:
    shape = tf.shape(image)
    scale = case.resize_px / tf.reduce_min(shape[:2])
    height, width = (tf.cast(tf.cast(shape[n], tf.float64) * scale, tf.int32) for n in range(2))
    image = tf.image.resize(image, (height, width))
    top, left = (tf.cast(tf.round((side - case.crop_px) / 2), tf.int32) for side in (height, width))
    return image[top : top + case.crop_px, left : left + case.crop_px]
