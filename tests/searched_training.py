"""A training of a number, for tests of `search_schedule`, and the same search in plain Python.

As a script, it begins a search on the cluster that runs: python searched_training.py STORAGE OUT
TROUBLES.
"""

import json
import math
import os
import signal
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

from penstock.ray.explore import History, as_content, explore, first_ops

SEARCH = {"epochs": 6, "population": 5, "every": 2, "seed": 3}


def gain(seed, ops):
    """How much an epoch adds to the score: some ops do good, others harm."""
    good = sum(probability * (-0.3, 1)[place % 2] for place, (_, probability, _) in enumerate(ops))
    return good + seed % 97 / 1000


def train(trial, troubles):
    """Train. The first training that finds a file "raise-3" in `troubles` raises in epoch 3.

    "die-3" has it killed, and "kill-3" the process whose number is in the file.
    """
    score = 0.0 if trial.folder is None else json.loads((trial.folder / "score").read_text())
    ops = [(op.name, op.probability, op.level) for op in trial.augment().stage_at(0).ops]
    for epoch in range(trial.start, trial.epochs):
        if met(troubles / f"raise-{epoch}") is not None:
            raise OSError("the disk is full")
        if met(troubles / f"die-{epoch}") is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        if (number := met(troubles / f"kill-{epoch}")) is not None:
            os.kill(int(number), signal.SIGKILL)
        score += gain(trial.seed, ops)
        trial.report(score, partial(save, text=json.dumps(score)))


def save(folder, text):
    (folder / "score").write_text(text)


def met(trouble):
    """Return what is in the file, if it is there; the next training does not find it any more."""
    with suppress(FileNotFoundError):
        text = trouble.read_text()
        trouble.unlink()
        return text
    return None


def search_plainly(epochs, population, every, seed):
    """Return the scores, the best first, and what the schedule contains."""
    seeds = [Random(f"{seed} of {number}").getrandbits(31) for number in range(population)]
    ops = [first_ops()] * population
    scores = [0.0] * population
    histories = [History().then(0, first_ops())] * population
    for done in range(1, epochs + 1):
        scores = [score + gain(*at) for score, *at in zip(scores, seeds, ops, strict=True)]
        if done % every == 0 and done < epochs:
            order = sorted(range(population), key=scores.__getitem__)
            quarter = math.ceil(population / 4)
            dice = Random(f"{seed} {done}")
            for number in order[:quarter]:
                other = dice.choice(order[-quarter:])
                ops[number] = explore(ops[other], dice)
                scores[number] = scores[other]
                histories[number] = histories[other].then(done, ops[number])
    best = max(range(population), key=scores.__getitem__)
    return sorted(scores, reverse=True), as_content(histories[best], epochs, [0.2, 0.3, 0.5])


if __name__ == "__main__":
    import ray

    from penstock.ray import search_schedule

    storage, out, troubles = map(Path, sys.argv[1:])
    for trouble in troubles.glob("kill-*"):
        trouble.write_text(str(os.getpid()))
    ray.init(address="auto", log_to_driver=False)
    search_schedule(partial(train, troubles=troubles), out, storage=storage, cpus=2, **SEARCH)
