"""`RayLoader`: batches prepared by workers of Ray's, the same as a Loader's, bit for bit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import ray

from penstock._core import Format
from penstock.errors import LoaderError
from penstock.limits import Limits, limits_or_in_force
from penstock.loading.epoch import Epoch, Iteration
from penstock.loading.loader import Loader
from penstock.loading.pipeline import ChosenRules
from penstock.loading.runner import PartRunner, RunSetup
from penstock.loading.sampling.sampling import Sampling
from penstock.planner.explain import Explanation
from penstock.ray.crew import PARTS_PER_WORKER, Crew
from penstock.ray.metrics import Counters, RayMetrics
from penstock.ray.runner import RayRunner
from penstock.ray.worker import Facts, Spec, WorkerInfo
from penstock.sources import Source
from penstock.transforms.targets import Targets
from penstock.transforms.values import Layout


class RayLoader(Loader):
    """A `penstock.Loader` whose images are prepared by workers on any node of a Ray cluster.

    The batches are those of a `Loader` with the same arguments, bit for bit, whatever number of
    workers there is and whatever happens to them: a part of a batch that was lost is prepared again
    by another worker, and each batch comes once, in its order.

    Each loader has workers of its own. They start with the first batch, and `close` or the end of a
    `with` block dismisses them. `ray.init` comes first.

    The arguments are those of `Loader`, but for `backend` and `reuse`, and these:

    - `data`, `labels`, `masks`: must be found under the same path on every node.
    - `workers`: how many processes prepare images; see `scale`.
    - `worker_threads`: threads of each, and the CPUs that it asks Ray for.
    - `threads`: threads of this process, which do the last pass (Normalize, type and layout), since
      images come over the wire in uint8. None takes the cores that this process may use, divided
      by LOCAL_WORLD_SIZE.
    - `prefetch`: how many batches are prepared beyond the one that is asked for; None takes as many
      as keep all workers busy, and at least 2.
    - `hedge`: ask a second worker for a part that takes much longer than usual, and take what comes
      first.
    - `timeout_s`: after how many seconds without any part of a batch, or any new worker, waiting
      ends in a LoaderError.
    - `actor_options`: options of Ray's for the workers, such as {"resources": {"cpu_node": 1}}.
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Source,
        *,
        workers: int,
        worker_threads: int = 1,
        hedge: bool = True,
        timeout_s: float = 300.0,
        actor_options: Mapping[str, Any] | None = None,
        batch_size: int = 1,
        transform: Any = None,
        batch_transform: Any = None,
        labels: Any = None,
        targets: Targets | str | None = None,
        masks: Any = None,
        mask_fill: int = 0,
        background: bool = True,
        columns: Sequence[str] | None = None,
        as_dict: bool | Mapping[str, str] = False,
        shuffle: bool = False,
        seed: int = 0,
        threads: int | None = None,
        drop_last: bool = False,
        prefetch: int | None = None,
        dtype: Any = None,
        layout: Layout = "chw",
        output: str | None = None,
        plan: bool = True,
        fidelity: str = "exact",
        allow: Iterable[str] = (),
        on_error: str = "raise",
        rank: int | None = None,
        world_size: int | None = None,
        indices: Any = None,
        weights: Any = None,
        replacement: bool = True,
        samples_per_epoch: int | None = None,
        sampling: Sampling | None = None,
        pixel_limit: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        _check_count("workers", workers)
        _check_count("worker_threads", worker_threads)
        if isinstance(timeout_s, bool) or not timeout_s > 0:
            raise LoaderError(f"RayLoader: timeout_s must be above 0, got {timeout_s!r}.")
        if not ray.is_initialized():
            raise LoaderError(
                "RayLoader: this process is not connected to Ray. Call ray.init() first, which "
                "starts a cluster on this machine, or ray.init(address=...) for one that runs."
            )
        there: dict[str, Any] = {  # what workers are told, too
            "batch_size": batch_size,
            "transform": transform,
            "labels": absolute_path(_kept(labels)),
            "targets": targets,
            "masks": absolute_paths(masks),
            "mask_fill": mask_fill,
            "background": background,
            "columns": columns,
            "shuffle": shuffle,
            "seed": seed,
            "drop_last": drop_last,
            "plan": plan,
            "fidelity": fidelity,
            "allow": tuple(allow) if not isinstance(allow, str) else allow,
            "on_error": on_error,
            "indices": _kept(indices),
            "weights": _kept(weights),
            "replacement": replacement,
            "samples_per_epoch": samples_per_epoch,
            "sampling": sampling,
            "pixel_limit": pixel_limit,
            "limits": limits_or_in_force(limits),
        }
        data = absolute_paths(data)
        super().__init__(
            data,
            **there,
            batch_transform=batch_transform,
            as_dict=as_dict,
            threads=threads,
            prefetch=2 if prefetch is None else prefetch,
            dtype=dtype,
            layout=layout,
            output=output,
            rank=rank,
            world_size=world_size,
        )
        ours = {"rank": 0, "world_size": 1, "output": "numpy", "threads": worker_threads}
        self._spec = _put(Spec(data, {**there, **ours}))
        self._workers = workers
        self._hedge = hedge
        self._timeout_s = float(timeout_s)
        self._window = prefetch is None
        self._options = {
            "num_cpus": worker_threads,
            "max_concurrency": PARTS_PER_WORKER + 1,
            "scheduling_strategy": "SPREAD",
            **(actor_options or {}),
            # A worker that died is replaced by a new one, which begins with what is wanted then.
            "max_restarts": 0,
            "max_task_retries": 0,
        }
        self._counters = Counters()
        self._crew: Crew | None = None
        course = self._course
        course.pipeline = replace(course.pipeline, elsewhere=self._make_runner)

    @property
    def metrics(self) -> RayMetrics:
        """What was counted since the loader was made."""
        return self._counters.read()

    @property
    def workers(self) -> tuple[WorkerInfo, ...]:
        """The workers that are ready, and where they run."""
        return () if self._crew is None else self._crew.infos()

    def scale(self, workers: int) -> None:
        """Have another number of workers from now on; any thread may call it, at any time.

        Workers that are too many finish what they have begun. The batches stay the same.
        """
        _check_count("workers", workers)
        self._workers = workers
        if self._crew is not None:
            self._crew.scale(workers)

    def explain(self) -> Explanation:
        """Return what is done to images, as `Loader.explain`; and where."""
        explained = super().explain()
        where = (
            f"{self._workers} workers of Ray's do this, {self._options['num_cpus']} CPUs each; "
            "images travel in uint8, and their last pass (values, type, layout"
            f"{', RandomErasing' if self._has_finishing() else ''}) is done in this process."
        )
        return replace(explained, notes=(*explained.notes, where))

    def iteration(self) -> Iteration:
        """Return the batches of the next epoch."""
        self._course.check_not_forked()
        return _TimedIteration(self._course.begin_epoch, self._counters)

    def replica(self, **_: Any) -> NoReturn:
        """Refuse: what is measured on replicas are the cores of one machine."""
        raise LoaderError(
            "RayLoader: its workers' speed cannot be measured by varying the cores of this "
            "machine. Analyze a Loader with the same arguments, whose batches are the same, and "
            "use penstock.watch on this one."
        )

    def __repr__(self) -> str:
        return f"Ray{super().__repr__()[:-1]}, workers={self._workers})"

    def _has_finishing(self) -> bool:
        plans = self.plan.views or (self.plan,)
        return any(plan.segments[-1].finishing for plan in plans)

    def _make_runner(self, setup: RunSetup, formats: list[Format]) -> PartRunner:
        """Hire workers."""
        self._crew = Crew(
            self._spec,
            ChosenRules(setup.rules, setup.view_rules),
            Facts.of(self.source),
            self._workers,
            self._options,
            self._counters,
        )
        try:
            return RayRunner(
                setup,
                formats,
                self._crew,
                self._counters,
                timeout_s=self._timeout_s,
                hedge=self._hedge,
                window=self._window,
            )
        except BaseException:
            self._crew.close()
            raise


class _TimedIteration(Iteration):
    """Counts batches, and the time that whoever asks for them waits."""

    def __init__(self, begin: Callable[[], Epoch], counters: Counters) -> None:
        super().__init__(begin)
        self._counters = counters

    def _advance(self) -> Any:
        begun = time.perf_counter()
        try:
            batch = super()._advance()
        finally:
            self._counters.add(waited_s=time.perf_counter() - begun)
        self._counters.add(batches=1)
        return batch


def _check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise LoaderError(f"RayLoader: {name} must be a whole number from 1 on, got {value!r}.")


def absolute_paths(given: Any) -> Any:
    """The same path or list of paths for workers, which run in folders of their own."""
    given = _kept(given)
    if isinstance(given, (list, tuple)):
        return [absolute_path(one) for one in given]
    return absolute_path(given)


def _kept(given: Any) -> Any:
    """The same for a second reader, where the first would use it up."""
    return list(given) if isinstance(given, Iterator) else given


def absolute_path(given: Any) -> Any:
    """The same for one path; other things and addresses stay as they are."""
    if isinstance(given, (str, os.PathLike)) and "://" not in os.fspath(given):
        return os.path.abspath(given)
    return given


def _put(spec: Spec) -> Any:
    try:
        return ray.put(spec)
    except Exception as error:
        for name, value in {"data": spec.data, **spec.arguments}.items():
            try:
                ray.put(value)
            except Exception as cause:  # noqa: BLE001 (whatever pickling it raises)
                raise LoaderError(
                    f"RayLoader: {name} cannot be sent to workers ({cause.__cause__ or cause}). "
                    "Give paths instead of what is open, and functions that can be pickled."
                ) from error
        raise
