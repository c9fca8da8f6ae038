"""Schedules of augmentation: what is refused, and that they are followed."""

import dataclasses
import json
import re
import sys

import numpy as np
import pytest

from drawn import batch
from penstock import transforms as T
from penstock._core import Effect
from penstock.errors import TransformError

STAGE = {"from_epoch": 0, "ops": [["Rotate", 0.5, 3]]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "must hold an object"),
        ({"epochs": 1, "counts": [1.0]}, "the key 'stages' is missing"),
        ({"epochs": 1, "counts": [0.5], "stages": [STAGE]}, "that sum to 1, got [0.5]"),
        ({"epochs": 1, "counts": [1.0], "stages": []}, "a list of at least one"),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "from_epoch": 2}]},
            "must begin at epoch 0 and be in order, got from_epoch [2]",
        ),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "ops": [["Rotat", 1, 1]]}]},
            "unknown op 'Rotat'. Known are AutoContrast",
        ),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "ops": [["Rotate", 1, 11]]}]},
            "level of Rotate must be a number between 0 and 10, got 11",
        ),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "ops": ["Rotate"]}]},
            "an op must be [name, probability, level], got 'Rotate'",
        ),
        (
            {"epochs": 1, "counts": [1.0], "stages": [{**STAGE, "ops": 3}]},
            "ops must be a list, got 3",
        ),
    ],
)
def test_schedules_refused(tmp_path, content, message):
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(content))
    with pytest.raises(TransformError, match=re.escape(message)):
        T.PopulationBasedAugment(path)


def make_schedule(tmp_path, suffix=".json"):
    path = tmp_path / f"schedule{suffix}"
    stages = [
        {"from_epoch": 0, "ops": []},
        {"from_epoch": 10, "ops": [["Invert", 1.0, 0], ["Equalize", 0.5, 0]]},
    ]
    if suffix == ".json":
        path.write_text(json.dumps({"epochs": 20, "counts": [0.25, 0.75], "stages": stages}))
    else:
        path.write_text(
            "epochs = 20\ncounts = [0.25, 0.75]\n[[stages]]\nfrom_epoch = 0\nops = []\n"
            '[[stages]]\nfrom_epoch = 10\nops = [["Invert", 1.0, 0], ["Equalize", 0.5, 0]]\n'
        )
    return path


def test_a_schedule_is_followed(tmp_path):
    op = T.PopulationBasedAugment(make_schedule(tmp_path))
    (early,) = batch(op, 8000, epoch=9)
    (late,) = batch(op, 8000, epoch=10)

    assert not early.effect.any()
    shares = [(late.effect == e).mean() for e in (Effect.NONE, Effect.INVERT, Effect.EQUALIZE)]
    # Equalize comes first half the time, and then happens half the time; Invert always would.
    np.testing.assert_allclose(shares, [0.25, 0.75 * 0.75, 0.75 * 0.25], atol=0.02)


def test_a_schedule_is_stretched_to_the_training(tmp_path):
    op = T.PopulationBasedAugment(make_schedule(tmp_path), epochs=4)

    assert [len(op.stage_at(epoch).ops) for epoch in range(5)] == [0, 0, 2, 2, 2]
    assert "Invert" in op.describe(2)
    assert "Invert" not in op.describe(1)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TOML needs Python 3.11")
def test_a_schedule_may_be_toml(tmp_path):
    toml = T.PopulationBasedAugment(make_schedule(tmp_path, ".toml"))
    plain = T.PopulationBasedAugment(make_schedule(tmp_path))

    assert dataclasses.asdict(toml._schedule) == dataclasses.asdict(plain._schedule)


def test_the_example_schedule_grows():
    op = T.PopulationBasedAugment()
    shares = [(batch(op, 2000, epoch=e)[0].effect != 0).mean() for e in (0, 60, 199)]

    assert shares[0] < 0.3
    assert 0.6 < shares[1] <= shares[2] < 0.85
