"""Who packs the shards of a data set, and which of them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import PackError
from penstock.packing.crews.crew import Crew, Leader
from penstock.packing.crews.on_ray import RayCrew
from penstock.packing.crews.processes import ProcessCrew
from penstock.packing.crews.worker import Work
from penstock.packing.job import Job
from penstock.packing.sharded import Part, ShardPlan
from penstock.progress import ProgressBar
from penstock.usable_cores import usable_cores

ENGINES = ("threads", "processes", "ray")


@dataclass(frozen=True, slots=True)
class How:
    """An engine, its workers, and a share of the shards."""

    engine: str
    workers: int | None
    part: Part | None

    @classmethod
    def read(cls, engine: str, workers: int | None, part: str | None, shards: int) -> How:
        """Read the arguments of `pack`; PackError if they do not fit together."""
        if engine not in ENGINES:
            raise PackError(f"engine: must be one of {', '.join(ENGINES)}, got {engine!r}.")
        if engine == "threads" and workers is not None:
            raise PackError(
                f"workers={workers}: threads of this process have none. Say threads={workers}, or "
                'engine="processes".'
            )
        if shards == 1 and (engine != "threads" or part is not None):
            raise PackError(
                "shards: several workers or parts need several files. Say how many: --shards N "
                "(shards=N), some for each of them."
            )
        share = None if part is None else Part.read(part)
        if share is not None and share.parts > shards:
            raise PackError(f"part: there are {shards} shards for {share.parts} parts. Make more.")
        return cls(engine, workers, share)

    def shards(self, count: int) -> range:
        """Return the numbers of the shards to pack."""
        return range(count) if self.part is None else self.part.shards(count)

    def pack(self, job: Job, plan: ShardPlan, bar: ProgressBar, *, resume: bool) -> None:
        """Pack those shards."""
        numbers = self.shards(plan.shards)
        if self.engine == "threads":
            for number in numbers:
                plan.pack(job, number, bar.advance, resume=resume)
            return
        bar.advance(0, total=sum(plan.samples(number) for number in numbers))
        with self._crew(Work(job.request, plan)) as crew:
            leader = Leader(plan, crew, bar.advance)
            for noted in leader.pack(numbers):
                job.remarks.add(noted)
        job.remarks.add_deaths(leader.died)

    def _crew(self, work: Work) -> Crew:
        if self.engine == "ray":
            return RayCrew(work, self.workers)
        return ProcessCrew(work, self.workers or usable_cores())
