"""`search_schedule`: Population Based Augmentation, searched on Ray Tune.

Ray Tune runs a population of trainings. Every few epochs, the worst of them take over the weights
of the best, and go on with slightly different augmentation. The path that led to the best training
is the schedule: it travels with the weights, so it is what this model was trained with.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from ray import tune
from ray.exceptions import RayActorError
from ray.util.client import ray as client

from penstock.errors import SearchError, TransformError
from penstock.progress import ProgressBar
from penstock.ray.explore import History, as_content, as_ops, checked, first_ops
from penstock.ray.population import PopulationScheduler
from penstock.ray.search_folder import Member, Population, SavedEpoch, SearchFolder, write_whole
from penstock.ray.trial import Trial

COUNTS = (0.2, 0.3, 0.5)  # of no, one and two ops for an image, as published
_MOST_DEATHS = 3  # of workers in a row, without an epoch between them
_WHERE = "search_schedule"

Train = Callable[[Trial], None]


@dataclass(frozen=True, slots=True)
class FoundSchedule:
    """The outcome of a search."""

    path: Path  # of the schedule, for `PopulationBasedAugment`
    score: float  # of the best training after its last epoch, on the images it was chosen by
    scores: tuple[float, ...]  # of all trainings after their last epoch, the best first
    stages: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """What makes a search this search; it cannot go on with another one."""

    epochs: int
    population: int
    every: int
    counts: tuple[float, ...]
    seed: int


def search_schedule(
    train: Train,
    out: str | os.PathLike[str],
    *,
    epochs: int,
    storage: str | os.PathLike[str],
    population: int = 16,
    every: int = 3,
    counts: Sequence[float] = COUNTS,
    seed: int = 0,
    cpus: float = 1,
    gpus: float = 0,
    resume: bool = False,
    progress: bool | None = None,
) -> FoundSchedule:
    """Search an augmentation schedule for a training, and write it for `PopulationBasedAugment`.

    The schedule is that of the training with the highest score after the last epoch: the ops that
    it had, and before them those of the trainings whose weights it took over.

    Args:
        train: Your training, a function of a `Trial`: it trains with `trial.augment()` from
            `trial.start` on, and reports after each epoch. It must be one that Ray can send.
        out: The JSON file to write; it must not exist yet.
        epochs: How long each training is. Your final training may be longer: `epochs=` of
            `PopulationBasedAugment` stretches the schedule to it.
        storage: A folder for what trainings save; on several machines, one that all of them share.
        population: How many trainings there are.
        every: After how many epochs the worst quarter takes over from the best.
        counts: How likely no op, one op, two ops ... are for an image.
        seed: Of the search. The same seed and the same scores give the same moves.
        cpus: That Ray is asked for, for each training.
        gpus: The same.
        resume: Go on with the search in `storage`, with the same arguments. Of a search that has
            ended, this gives the outcome again.
        progress: Show a bar; None means if stderr is a terminal.
    """
    plan = _Plan(epochs, population, every, _checked_counts(counts), seed)
    _check(plan)
    if client.is_connected():
        raise SearchError(
            f"{_WHERE}: this process is only a client of a cluster (ray://), and could not keep "
            "where the search stands. Call it on a machine of the cluster: ray job submit."
        )
    path = Path(out).absolute()
    if not path.parent.is_dir():
        raise SearchError(f"{_WHERE}: there is no folder {path.parent}. Make it first.")
    if "://" in os.fspath(storage):
        raise SearchError(f"{_WHERE}: storage must be a folder, got {storage}. Mount it.")
    folder = SearchFolder(Path(storage).absolute())
    if not resume:
        _refuse_to_overwrite(folder, path)
    with folder.locked():
        state = _resumed(folder, plan) if resume else _begun(folder, plan)
        if state["result"] is None:
            if path.exists():
                raise SearchError(f"{_WHERE}: {path} exists already. Remove it or rename it.")
            with ProgressBar(
                "searching", total=epochs * population, unit="epochs", show=progress
            ) as bar:
                state = _search(folder, plan, train, {"cpu": cpus, "gpu": gpus}, bar)
        return _written(state["result"], path)


def _check(plan: _Plan) -> None:
    least = {"epochs": 2, "population": 4, "every": 1, "seed": 0}
    for name, smallest in least.items():
        value = getattr(plan, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
            raise SearchError(
                f"{_WHERE}: {name} must be a whole number from {smallest} on, got {value!r}."
            )
    if plan.every >= plan.epochs:
        raise SearchError(
            f"{_WHERE}: with every={plan.every}, trainings of {plan.epochs} epochs never take over "
            "from each other. Make every smaller than epochs."
        )


def _checked_counts(counts: Sequence[float]) -> tuple[float, ...]:
    try:
        found = checked(_WHERE, as_content(History().then(0, first_ops()), 1, counts)).counts
    except TransformError as error:
        raise SearchError(str(error)) from error
    if sum(found[1:]) == 0:
        raise SearchError(f"{_WHERE}: with counts={counts!r}, no op is ever done.")
    return found


def _refuse_to_overwrite(folder: SearchFolder, path: Path) -> None:
    if path.exists():
        raise SearchError(f"{_WHERE}: {path} exists already. Remove it, or give another name.")
    if folder.read_state() is not None:
        raise SearchError(
            f"{_WHERE}: {folder.root} holds a search already. Go on with it by resume=True, or "
            "give another storage."
        )
    if folder.root.exists() and (not folder.root.is_dir() or any(folder.root.iterdir())):
        raise SearchError(f"{_WHERE}: {folder.root} is not an empty folder. Give another storage.")


def _begun(folder: SearchFolder, plan: _Plan) -> dict[str, Any]:
    first = Population(0, (Member(first_ops()),) * plan.population)
    return _record(folder, plan, first)


def _resumed(folder: SearchFolder, plan: _Plan) -> dict[str, Any]:
    state = folder.read_state()
    if state is None:
        raise SearchError(
            f"{_WHERE}: {folder.root} holds no search to go on with. Leave resume out to begin one."
        )
    for name, given in _arguments(plan).items():
        if state["arguments"][name] != given:
            raise SearchError(
                f"{_WHERE}: the search in {folder.root} was begun with "
                f"{name}={state['arguments'][name]!r}, not {given!r}. Go on with the same, or "
                "begin another search in another storage."
            )
    return state


def _arguments(plan: _Plan) -> dict[str, Any]:
    return {**asdict(plan), "counts": list(plan.counts)}


def _record(
    folder: SearchFolder, plan: _Plan, population: Population, result: Any = None
) -> dict[str, Any]:
    state = {
        "arguments": _arguments(plan),
        "population": population.as_listed(),
        "result": result,
    }
    folder.write_state(state)
    return state


def _search(
    folder: SearchFolder, plan: _Plan, train: Train, resources: dict[str, float], bar: ProgressBar
) -> dict[str, Any]:
    """Search until all trainings have ended; lost workers are replaced."""
    deaths = 0
    while True:
        before = _epochs_done(folder, plan)
        bar.advance(folder.read_population().epoch * plan.population - bar.done)
        errors = _run(folder, plan, train, resources, bar)
        if not errors:
            break
        deaths = deaths + 1 if _epochs_done(folder, plan) == before else 1
        if deaths > _MOST_DEATHS or not all(isinstance(e, RayActorError) for e in errors):
            _raise_failure(errors, plan)
    return _judge(folder, plan)


def _run(
    folder: SearchFolder, plan: _Plan, train: Train, resources: dict[str, float], bar: ProgressBar
) -> list[Exception]:
    """Run Ray Tune on the population as it stands; return why it ended early."""
    run = folder.begin_run()

    def moved(population: Population) -> None:
        _record(folder, plan, population)
        folder.forget_all_but(population)

    tuner = tune.Tuner(
        tune.with_resources(_trainable(folder, run, plan, train), resources),
        param_space={"number": tune.grid_search(list(range(plan.population)))},
        tune_config=tune.TuneConfig(
            scheduler=PopulationScheduler(
                folder.read_population(),
                plan.every,
                plan.seed,
                moved=moved,
                heard=bar.advance,
            ),
            metric="score",
            mode="max",
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(
            name="tune",
            storage_path=str(folder.root / run),
            stop={"epoch": plan.epochs},
            failure_config=tune.FailureConfig(fail_fast=True),
            verbose=0,
        ),
    )
    return [result.error for result in tuner.fit() if result.error is not None]


def _trainable(folder: SearchFolder, run: str, plan: _Plan, train: Train) -> Any:
    started_in = Path.cwd()

    def train_member(config: dict[str, Any]) -> None:
        number = config["number"]
        if started_in.is_dir():  # Ray Tune has gone elsewhere, and paths are to mean the same
            os.chdir(started_in)
        trial = Trial(
            folder,
            run,
            number,
            Member(as_ops(config["ops"]), config["source"]),
            config["after"],
            epochs=plan.epochs,
            seed=Random(f"{plan.seed} of {number}").getrandbits(31),
            counts=plan.counts,
            tell=lambda saved: _tell_tune(folder, saved),
        )
        trial.run(train)

    return train_member


def _tell_tune(folder: SearchFolder, saved: SavedEpoch) -> None:
    """Report to Ray Tune; it hands trainings over only if they have a checkpoint of its own."""
    name = folder.name_of(saved.path)
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "saved.txt").write_text(name, "utf-8")
        tune.report(
            {"score": saved.score, "epoch": saved.epoch, "saved": name},
            checkpoint=tune.Checkpoint.from_directory(scratch),
        )


def _epochs_done(folder: SearchFolder, plan: _Plan) -> int:
    after = folder.read_population().epoch
    newest = (folder.newest(number, after) for number in range(plan.population))
    return sum(after if saved is None else saved.epoch for saved in newest)


def _raise_failure(errors: Sequence[Exception], plan: _Plan) -> None:
    cause = getattr(errors[0], "cause", None) or errors[0]
    raise SearchError(
        f"{_WHERE}: {len(errors)} of {plan.population} trainings failed, the first with "
        f"{type(cause).__name__}: {cause}\nMend that, and go on with resume=True; all epochs that "
        "were reported are kept."
    ) from errors[0]


def _judge(folder: SearchFolder, plan: _Plan) -> dict[str, Any]:
    population = folder.read_population()
    newest = [folder.newest(number, population.epoch) for number in range(plan.population)]
    ended = [saved for saved in newest if saved is not None and saved.epoch == plan.epochs]
    if len(ended) < plan.population:
        raise SearchError(
            f"{_WHERE}: interrupted after {_epochs_done(folder, plan)} of "
            f"{plan.epochs * plan.population} epochs. Go on with resume=True."
        )
    best = max(ended, key=lambda saved: saved.score)  # the first of equals
    result = {
        "scores": sorted((saved.score for saved in ended), reverse=True),
        "schedule": as_content(best.history, plan.epochs, plan.counts),
    }
    return _record(folder, plan, population, result)


def _written(result: dict[str, Any], path: Path) -> FoundSchedule:
    schedule = result["schedule"]
    checked(f"{_WHERE}: {path}", schedule)
    text = json.dumps(schedule, indent=1) + "\n"
    if not path.exists():
        write_whole(path, text)
    elif path.read_text("utf-8") != text:
        raise SearchError(f"{_WHERE}: {path} exists already, with something else in it.")
    scores = tuple(result["scores"])
    return FoundSchedule(path, scores[0], scores, len(schedule["stages"]))
