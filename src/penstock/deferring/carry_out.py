"""Many chains at once, in the core. What the core is not sure of, Pillow decodes."""

from __future__ import annotations

import io
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image
from torch.utils import data as torch_data

from penstock._core import BatchBuffer, Engine, EnginePart, Format, RowMemory, Status, run_here
from penstock.deferring.chain import NO_VERSION, Chain, JpegFile, Pixels, same_steps
from penstock.deferring.counts import counts_here
from penstock.deferring.programs import programs_of
from penstock.errors import CoreError, DecodeError
from penstock.loading.fetch import open_images
from penstock.loading.row_memory import row_memory_bytes
from penstock.loading.shared_engine import shared_engine, wait_for

open_with_pillow = Image.open  # as it is before anybody puts something else in its place

_WORTH_ALL = 1.25  # times its pixels asked for: then a file is decoded whole, once


class InBatch(NamedTuple):
    """Where finished values go: a place in the memory of a batch."""

    buffer: BatchBuffer
    offset: int  # in bytes
    format: Format


@dataclass(frozen=True, slots=True)
class Job:
    """A chain, and where its pixels go: an array of its size, or a batch."""

    chain: Chain
    target: Pixels | InBatch


def pixels_of(chain: Chain) -> Pixels:
    """Compute one chain alone."""
    if chain.pixels is not None:
        return chain.pixels
    chain = from_whole(chain)
    pixels = np.empty((chain.height, chain.width, 3), dtype=np.uint8)
    carry_out([Job(chain, pixels)], threads=1)
    return pixels


def from_whole(chain: Chain) -> Chain:
    """The chain from decoded pixels, if more of its file is asked for than it has.

    For those whose pixels are needed at once, one after the other.
    """
    file, counts = chain.source, counts_here()
    if counts is None or not isinstance(file, JpegFile):
        return chain
    if file.whole is None:
        size_px = file.height * file.width
        again = file.asked_px > 0
        file.asked_px += chain.needed_px
        if not again or file.asked_px < _WORTH_ALL * size_px:
            return chain
        whole = np.empty((file.height, file.width, 3), dtype=np.uint8)
        carry_out([Job(Chain.of_file(file), whole)], threads=1)
        file.whole = whole
        counts.kept.append(file)
    return chain.after(0, file.whole)


def carry_out(jobs: Sequence[Job], threads: int) -> None:
    """Compute all of them; DecodeError if a file turns out to be damaged."""
    first, jobs = _share(jobs)
    if first:
        carry_out(first, threads)
        for job in first:
            file = job.chain.source
            if isinstance(file, JpegFile) and file.batches > 1 and not job.chain.steps:
                file.whole = job.target  # type: ignore[assignment]  # it is an array
    doubtful = _run(jobs, threads)
    if not doubtful:
        return
    # A file may have several jobs; Pillow decodes it once.
    decoded = {job.chain.source: _decode(job.chain) for job in doubtful}
    _run(
        [Job(job.chain.after(0, decoded[job.chain.source]), job.target) for job in doubtful],
        threads,
    )


def note_batch(jobs: Sequence[Job]) -> None:
    """Count in how many batches files are found: in a second one, a Dataset has kept the image.

    Pillow's would have its pixels by then, and would keep them.
    """
    sources = {id(job.chain.source): job.chain.source for job in jobs}
    for source in sources.values():
        if isinstance(source, JpegFile):
            source.batches += 1


def _share(jobs: Sequence[Job]) -> tuple[list[Job], Sequence[Job]]:
    """What several jobs have in common, to be computed first; and the jobs after that."""
    of_files: dict[JpegFile, list[int]] = defaultdict(list)
    for number, job in enumerate(jobs):
        if isinstance(job.chain.source, JpegFile):
            of_files[job.chain.source].append(number)
    first: list[Job] = []
    after = list(jobs)
    for file, numbers in of_files.items():
        chains = [jobs[number].chain for number in numbers]
        steps = _steps_in_common(file, chains)
        if steps is None:
            continue
        pixels = file.whole if steps == 0 else None
        if pixels is None:
            begun = chains[0].upto(steps)
            pixels = np.empty((begun.height, begun.width, 3), dtype=np.uint8)
            first.append(Job(begun, pixels))
        for number, chain in zip(numbers, chains, strict=True):
            after[number] = Job(chain.after(steps, pixels), jobs[number].target)
    return first, after


def _steps_in_common(file: JpegFile, chains: Sequence[Chain]) -> int | None:
    """How many steps of a file's chains are to be done once, for all; None for none at all."""
    if file.whole is not None or (file.batches > 1 and chains[0].steps):
        return 0
    if len(chains) == 1:
        return None
    steps = same_steps(chains)
    needed_px = sum(chain.needed_px for chain in chains)
    is_worth_it = steps > 0 or needed_px > _WORTH_ALL * file.height * file.width
    return steps if is_worth_it else None


def _run(jobs: Sequence[Job], threads: int) -> list[Job]:
    """Run all jobs; returns those that the core leaves to Pillow."""
    if threads == 1 or len(jobs) == 1:
        return _run_here(jobs)
    of_files = [job for job in jobs if isinstance(job.chain.source, JpegFile)]
    of_pixels = [job for job in jobs if not isinstance(job.chain.source, JpegFile)]
    groups = [group for group in (of_files, of_pixels) if group]
    started = [_start(shared_engine(threads), group) for group in groups]
    doubtful: list[Job] = []
    for part, members in zip(started, groups, strict=True):
        wait_for(part)
        doubtful += _doubtful(members, part.status != Status.OK)
    return doubtful


def _doubtful(jobs: Sequence[Job], failed: npt.NDArray[np.bool_]) -> list[Job]:
    found = [jobs[position] for position in np.flatnonzero(failed).tolist()]
    if any(not isinstance(job.chain.source, JpegFile) for job in found):
        raise CoreError("The core failed on pixels that are there.")
    return found


def _run_here(jobs: Sequence[Job]) -> list[Job]:
    """Run jobs in this thread."""
    chains = [job.chain for job in jobs]
    sources: list[Any] = [
        chain.source.data if isinstance(chain.source, JpegFile) else chain.source
        for chain in chains
    ]
    status = run_here(
        [job.target for job in jobs],
        sources,
        programs_of(chains),
        _versions_of(chains),
        _row_memory(os.getpid()),
    )
    return _doubtful(jobs, np.array(status) != Status.OK)


@lru_cache(maxsize=1)
def _row_memory(process: int) -> RowMemory:
    """What this process remembers of files that it has decoded; a forked one begins anew."""
    del process
    worker = torch_data.get_worker_info()
    return RowMemory(row_memory_bytes(1 if worker is None else worker.num_workers))


def _versions_of(chains: Sequence[Chain]) -> npt.NDArray[np.uint64]:
    versions = [
        chain.source.version if isinstance(chain.source, JpegFile) else NO_VERSION
        for chain in chains
    ]
    return np.array(versions, dtype=np.uint64).reshape(-1, len(NO_VERSION))


def _start(engine: Engine, jobs: Sequence[Job]) -> EnginePart:
    """Start jobs that all begin with files, or all with pixels."""
    sources: list[Any] = [job.chain.source for job in jobs]
    if isinstance(sources[0], JpegFile):
        part = open_images(engine, 0, [source.data for source in sources])
        wait_for(part)
        part.set_versions(_versions_of([job.chain for job in jobs]))
    else:
        part = engine.begin(0, len(jobs))
        for position, pixels in enumerate(sources):
            part.set_pixels(position, pixels)
    every = np.arange(len(jobs), dtype=np.int32)
    part.run_each(every, programs_of([job.chain for job in jobs]), [job.target for job in jobs])
    return part


def _decode(chain: Chain) -> Pixels:
    file: Any = chain.source
    if not file.by_pillow:
        raise DecodeError(f"{file.name}: it is damaged.")
    try:
        with open_with_pillow(io.BytesIO(file.data)) as image:
            pixels = np.array(image.convert("RGB"))
    except Exception as error:
        raise DecodeError(f"{file.name}: {error}") from error
    if pixels.shape[:2] != (file.height, file.width):
        raise DecodeError(f"{file.name}: its header says another size than Pillow finds.")
    return pixels
