"""Ray Tune's population based training, made repeatable and able to go on.

Ray's scheduler draws from Python's global generator, is not restored with an experiment, and moves
the population as soon as the last training reports, while others may still be saving. Here, the
population moves when all trainings stand still, the draws depend on the seed and the epoch alone,
and every move is recorded before anybody trains on.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ray.tune.experiment import Trial as TuneTrial
from ray.tune.schedulers import PopulationBasedTraining, TrialScheduler

from penstock.errors import SearchError
from penstock.ray.explore import as_ops, explore
from penstock.ray.search_folder import Member, Population

QUANTILE = 0.25


class PopulationScheduler(PopulationBasedTraining):
    """Moves a population: the worst quarter takes over from the best, with other ops.

    `moved` is told the new population before anybody trains on; `heard` by how many epochs a
    training has come further.
    """

    def __init__(
        self,
        population: Population,
        every: int,
        seed: int,
        *,
        moved: Callable[[Population], None],
        heard: Callable[[int], None],
    ) -> None:
        self._dice = Random()
        super().__init__(
            time_attr="epoch",
            perturbation_interval=every,
            quantile_fraction=QUANTILE,
            custom_explore_fn=self._explored,
            log_config=False,
            synch=True,
        )
        self._population = population
        self._seed = seed
        self._moved = moved
        self._heard = heard
        self._next_perturbation_sync = population.epoch + every
        self._reached = [population.epoch] * len(population.members)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what belongs to this process; Ray Tune pickles every scheduler that it gets."""
        return {**self.__dict__, "_moved": None, "_heard": None}

    def on_trial_add(self, tune_controller: Any, trial: TuneTrial) -> None:
        """Begin where the population stands; Ray would begin at 0."""
        super().on_trial_add(tune_controller, trial)
        state = self._trial_state[trial]
        state.last_train_time = state.last_perturbation_time = self._population.epoch
        trial.set_config(self._config(trial.config["number"]))

    def on_trial_result(
        self,
        tune_controller: Any,  # noqa: ARG002 - Ray gives it
        trial: TuneTrial,
        result: dict[str, Any],
    ) -> str:
        """Let a training go on until it has to wait for the others."""
        self._hear(trial, result)
        if result["epoch"] < self._next_perturbation_sync:
            return str(TrialScheduler.CONTINUE)
        self._save_trial_state(self._trial_state[trial], result["epoch"], result, trial)
        return str(TrialScheduler.PAUSE)

    def on_trial_complete(
        self, tune_controller: Any, trial: TuneTrial, result: dict[str, Any]
    ) -> None:
        """Hear of the last epoch, too."""
        super().on_trial_complete(tune_controller, trial, result)
        self._hear(trial, result)

    def choose_trial_to_run(self, tune_controller: Any) -> TuneTrial | None:
        """Move the population once everybody waits; then choose as Ray does."""
        trials = tune_controller.get_trials()
        if len(trials) == len(self._population.members) and all(map(self._waits, trials)):
            self._move(tune_controller)
        return super().choose_trial_to_run(tune_controller)

    def _hear(self, trial: TuneTrial, result: dict[str, Any]) -> None:
        number, epoch = trial.config["number"], result["epoch"]
        self._heard(epoch - self._reached[number])
        self._reached[number] = epoch

    def _waits(self, trial: TuneTrial) -> bool:
        reached = self._trial_state[trial].last_train_time
        return bool(trial.status == TuneTrial.PAUSED and reached == self._next_perturbation_sync)

    def _move(self, tune_controller: Any) -> None:
        epoch = self._next_perturbation_sync
        self._dice.seed(f"{self._seed} {epoch}")
        standing = sorted(self._trial_state, key=lambda trial: int(trial.config["number"]))
        saved = [self._trial_state[trial].last_result["saved"] for trial in standing]
        worst, best = self._quantiles()
        for trial in best:  # first: whoever takes over needs them noted
            self._checkpoint_or_exploit(trial, tune_controller, best, worst)
        for trial in worst:
            self._checkpoint_or_exploit(trial, tune_controller, [self._dice.choice(best)], worst)
            if "took_over" not in trial.config:
                raise SearchError("search_schedule: Ray Tune did not hand over a training.")
        members = tuple(
            Member(as_ops(trial.config["ops"]), saved[trial.config.get("took_over", number)])
            for number, trial in enumerate(standing)
        )
        self._population = Population(epoch, members)
        self._moved(self._population)
        for number, trial in enumerate(standing):
            trial.set_config(self._config(number))
            self._trial_state[trial].last_perturbation_time = epoch
        self._next_perturbation_sync = epoch + self._perturbation_interval

    def _explored(self, config: dict[str, Any]) -> dict[str, Any]:
        ops = explore(as_ops(config["ops"]), self._dice)
        return {**config, "ops": [list(op) for op in ops], "took_over": config["number"]}

    def _config(self, number: int) -> dict[str, Any]:
        member = self._population.members[number]
        return {
            "number": number,
            "after": self._population.epoch,
            "ops": [list(op) for op in member.ops],
            "source": member.source,
        }
