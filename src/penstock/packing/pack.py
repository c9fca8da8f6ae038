"""`pack`: a data set into one packed file, or a folder of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

from penstock import _core
from penstock.errors import PackError
from penstock.limits import Limits, limits_in_force, obeying_limits
from penstock.packing import disk
from penstock.packing.crews.how import How
from penstock.packing.disk import TargetLock
from penstock.packing.far_source import USUAL_LIMIT, Fetching, Given, brought_near
from penstock.packing.format import SUFFIX
from penstock.packing.job import Job, Request
from penstock.packing.journal import JOURNAL_SUFFIX, Span
from penstock.packing.read import PackFile
from penstock.packing.reencode import Reencoding
from penstock.packing.sharded import (
    Part,
    ShardPlan,
    commit,
    commit_if_last,
    length_of,
    remove_journals,
)
from penstock.packing.shards import MANIFEST, PackSet, open_packed, shard_paths, shards_of
from penstock.packing.summary import Summary, summarise
from penstock.packing.to_store import StoreTarget
from penstock.packing.write import PARTIAL_SUFFIX
from penstock.progress import ProgressBar
from penstock.storage.address import is_address
from penstock.storage.options import StorageOptions, read_size
from penstock.usable_cores import usable_cores


@obeying_limits
def pack(
    source: Any,
    target: str | os.PathLike[str],
    *,
    labels: Any = None,
    kind: str | None = None,
    split: str | None = None,
    images: str | os.PathLike[str] | None = None,
    masks: Any = None,
    shards: int = 1,
    resume: bool = False,
    on_error: str = "raise",
    short_side: int | None = None,
    quality: int | None = None,
    keep_jpeg: bool = False,
    threads: int | None = None,
    engine: str = "threads",
    workers: int | None = None,
    part: str | None = None,
    staging: str | os.PathLike[str] | None = None,
    staging_limit: int | str | None = None,
    storage: StorageOptions | None = None,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
    progress: bool | None = None,
) -> Summary:
    """Write a data set as one packed file: lossless, and many times faster to load.

    Args:
        source: A file or folder in any layout that `open_dataset` recognises (a folder of class
            folders, COCO, VOC, YOLO, tar, Parquet ...), a folder of images with `labels`, a list
            of files, or a `PackSource`. Or the address of a folder in a store, such as
            "s3://bucket/imagenet/train" (docs/packing-large.md).
        target: The `.pen` file to write; with `shards`, the folder. It must not exist yet. Or an
            address in a store: s3://, gs:// or az://.
        labels: As `Loader` takes them: a labels file, one label per file, or a dictionary from
            path to label.
        kind: The layout, where it is not recognised: "coco", "voc", "folder" ...
        split: Which part of a data set that has several: "train", "val" ...
        images: For COCO, the folder of the images, if it is not near the json file.
        masks: For a folder or list of images, that of their masks, matched by name.
        shards: Number of files to write. More than one makes a folder with a manifest.
        resume: Go on where an interrupted pack with the same arguments stopped.
            The result is the same, byte for byte, as without the interruption; refused if a
            sample that is packed already is no longer what it was.
        on_error: "raise" stops at a file that is not an image; "skip" leaves it out and lists it.
        short_side: Lossy: scale larger images down to this short side, in pixels.
        quality: Lossy: re-encode all images as JPEGs of this quality.
        keep_jpeg: Store JPEGs as they are, not as coefficient tiles: the container without the
            codec. The file is a little smaller, written sooner, and loads as slowly as JPEGs.
        threads: None takes all cores this process may use; with other engines, the threads of
            each worker, and None means one. The file does not depend on it.
        engine: Who packs the shards: "threads" of this process, one shard after another;
            "processes" of this machine, or actors of a cluster on "ray", as many shards at a time
            as there are workers. The bytes are the same, also if workers die on the way.
        workers: For "processes" and "ray": how many. None takes all cores of this machine, or
            of the cluster.
        part: "3/8" packs the third of eight shares of the shards, for job arrays: the other shares
            are other packs with the same arguments. Whichever ends last completes the data set.
        staging: For stores: the folder in which to keep what is on its way, on each machine that
            packs. None takes that of temporary files.
        staging_limit: The most bytes of a data set in a store that are copied here, where its
            layout cannot be read from there: a number, or a text as "50 GB", the default.
        storage: How stores are asked, if not as usual (`penstock.StorageOptions`).
        limits: The largest inputs that are read, against files that ask for endless memory.
        progress: Show a bar; None means if stderr is a terminal.
    """
    if on_error not in {"raise", "skip"}:
        raise PackError(f'on_error: must be "raise" or "skip", got {on_error!r}.')
    counts = {"shards": shards, "threads": threads, "workers": workers}
    for name, value in counts.items():
        if value is not None and value < 1:
            raise PackError(f"{name}: must be 1 or more, got {value}.")
    how = How.read(engine, workers, part, shards)
    _core.active_isa()  # reports a wrong PENSTOCK_SIMD once, instead of for every file
    if staging is not None and not os.path.isdir(os.path.expanduser(os.fspath(staging))):
        raise PackError(
            f"{os.fspath(staging)}: no such folder for staging. Make it, or name another."
        )
    far = None
    if is_address(target):
        far = StoreTarget.read(str(target), shards, storage, staging)
        far.require_free(resume=resume)
    else:
        _check_target(target, shards, how, resume=resume)
        _refuse_far(
            source, {"staging": staging, "staging_limit": staging_limit, "storage": storage}
        )
    given = Given(source, labels, kind, split, images, masks)
    limit = read_size("staging_limit", staging_limit or USUAL_LIMIT)
    fetching = Fetching(engine, staging, limit, storage or StorageOptions(), progress)
    with brought_near(given, fetching) as brought:
        request = Request(
            *_for_workers(brought.given, engine),
            reencoding=Reencoding(short_side, quality),
            keep_jpeg=keep_jpeg,
            skips=on_error == "skip",
            threads=threads or (usable_cores() if engine == "threads" else 1),
            limits=limits_in_force(),
        )
        if far is not None:
            summary = far.pack(request, how, resume=resume, progress=progress)
        else:
            summary = _pack_here(request, target, shards, how, resume=resume, progress=progress)
        remarks = tuple(map(brought.named, summary.remarks))
        return replace(summary, source=brought.named(summary.source), remarks=remarks)


def _pack_here(
    request: Request,
    target: str | os.PathLike[str],
    shards: int,
    how: How,
    *,
    resume: bool,
    progress: bool | None,
) -> Summary:
    """Pack to a disk of this machine."""
    path = os.path.expanduser(os.fspath(target))
    lock = TargetLock(path)
    # A finished pack needs no lock, so that it may lie where nothing can be written. Parts of one
    # pack run at the same time, and lock the shards that they write.
    is_idle = os.path.exists(_final(path, shards)) and not os.path.lexists(lock.path)
    needs_no_lock = how.part is not None or (resume and is_idle)
    with disk.explaining_errors(path, lambda: 0), nullcontext() if needs_no_lock else lock:
        finished = _is_finished(path, shards, how.part, resume=resume)
        job = request.open()
        if finished:
            job.check_finished(path, shards)
        else:
            with ProgressBar(
                "packing", total=job.source.length, unit="images", show=progress
            ) as bar:
                _write(job, path, bar, shards, how, resume=resume)
    return _summary(path, job, shards, how.part)


def _check_target(target: str | os.PathLike[str], shards: int, how: How, *, resume: bool) -> None:
    """Raise if nothing can be packed there, before a data set is listed or copied."""
    path = os.path.expanduser(os.fspath(target))
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise PackError(
            f"{path}: there is no folder {folder} to write it to. Make it first, or check the path."
        )
    if shards == 1 and not path.endswith(SUFFIX):
        raise PackError(f"{path}: the name of a packed file must end in {SUFFIX}.")
    is_new = not resume and how.part is None
    if is_new and os.path.lexists(path) and not _begun(path):
        raise PackError(f"{path}: exists already. Remove it, or give another name.")


def _refuse_far(source: Any, said: dict[str, Any]) -> None:
    given = [f"{name}=" for name, value in said.items() if value is not None]
    if given and not is_address(source):
        raise PackError(
            f"{' and '.join(given)}: for a source or target in a store, as s3://bucket/train, and "
            "neither is. Leave it out."
        )


def _for_workers(given: Given, engine: str) -> tuple[Any, Any, str | None, str | None, Any, Any]:
    """Return the arguments so that processes in other folders understand them."""
    # A dictionary of labels has paths as they were given, which the source must keep then.
    keeps = engine == "threads" or isinstance(given.labels, Mapping)
    found = _as_it_is if keeps else _absolute
    labels = found(given.labels) if isinstance(given.labels, (str, os.PathLike)) else given.labels
    images, masks = found(given.images), found(given.masks)
    return found(given.source), labels, given.kind, given.split, images, masks


def _absolute(given: Any) -> Any:
    """A path, a pattern or a list of them as processes in other folders find it; else as it is."""
    if isinstance(given, (str, os.PathLike)):
        return os.path.abspath(os.path.expanduser(os.fspath(given)))
    if type(given) in (list, tuple):
        return type(given)(map(_absolute, given))
    return given


def _as_it_is(given: Any) -> Any:
    return given


def _write(job: Job, path: str, bar: ProgressBar, shards: int, how: How, *, resume: bool) -> None:
    if shards == 1:
        left = f"{path}{PARTIAL_SUFFIX} and {path}{JOURNAL_SUFFIX}"
        check = job.check(path, bar.advance, f"remove {left}")
        job.write_file(path, Span(), check, bar.advance, resume=resume)
        return
    try:
        _write_shards(job, path, bar, shards, how, resume=resume)
    except BaseException:
        with suppress(OSError):  # unless there is something in it to go on from
            os.rmdir(path)
        raise


def _write_shards(
    job: Job, folder: str, bar: ProgressBar, shards: int, how: How, *, resume: bool
) -> None:
    plan = ShardPlan(os.path.abspath(folder), shards, length_of(job), job.digest())
    if resume:
        job.check(folder, bar.advance, f"remove {folder}").length(plan.paths, plan.length)
    how.pack(job, plan, bar, resume=resume)
    if how.part is None:
        commit(plan)
    else:
        commit_if_last(plan)


def _summary(path: str, job: Job, shards: int, part: Part | None) -> Summary:
    is_complete = os.path.exists(_final(path, shards))
    waits_for = [] if is_complete else ShardPlan(path, shards, 0, b"").missing()
    mine = [] if part is None else [shard_paths(path, shards)[one] for one in part.shards(shards)]
    packed = open_packed(path) if is_complete else PackSet(path, [PackFile(one) for one in mine])
    return replace(
        summarise(packed),
        source=job.source.describe(),
        remarks=job.remarks.sentences(),
        waits_for=tuple(waits_for),
    )


def _final(path: str, shards: int) -> str:
    """Return the file that a pack writes last."""
    return path if shards == 1 else os.path.join(path, MANIFEST)


def _is_finished(path: str, shards: int, part: Part | None, *, resume: bool) -> bool:
    """Whether a resumed pack had been finished; raises if a new one would overwrite something."""
    begun = _begun(path)
    if (resume or part is not None) and begun - {shards}:
        others = max(begun - {shards})
        raise PackError(
            f"{path}: an unfinished pack of {others} files is there. Go on with --shards "
            f"{others} (shards={others}), or remove it to start over."
        )
    if resume:
        if os.path.exists(_final(path, shards)):
            remove_journals([path] if shards == 1 else shard_paths(path, shards))
            return True
        return False
    unfinished = (
        f"{path}: an unfinished pack is there. Go on with --resume (resume=True), or remove"
    )
    if part is not None and not os.path.exists(_final(path, shards)):
        _refuse_begun([shard_paths(path, shards)[number] for number in part.shards(shards)])
        return False
    if 1 in begun:
        raise PackError(
            f"{unfinished} {path}{PARTIAL_SUFFIX} and {path}{JOURNAL_SUFFIX} to start over."
        )
    if begun:
        raise PackError(f"{unfinished} {path} to start over.")
    if os.path.lexists(path):
        raise PackError(f"{path}: exists already. Remove it, or give another name.")
    return False


def _refuse_begun(shards: list[str]) -> None:
    """Raise if a part that is not resumed would write shards that it has begun before."""
    for path in shards:
        if os.path.lexists(path) or os.path.lexists(path + PARTIAL_SUFFIX):
            raise PackError(
                f"{path}: this part of the pack was begun before. Go on with --resume "
                "(resume=True), or remove it to start over."
            )


def _begun(path: str) -> set[int]:
    """Return the numbers of shards that unfinished packs to this target are of; 1 for a file."""
    begun = {1} if os.path.lexists(path + PARTIAL_SUFFIX) else set()
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, MANIFEST)):
        found = map(shards_of, os.listdir(path))
        begun.update(shards for shards in found if shards is not None)
    return begun
