"""The kinds of configurations that load: what is done to the loader, and what must hold."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from soak.children import PROMPT_S, Ended, Scene
from soak.pipelines import MODES, Pipeline, random_pipeline, step

LEAK_ROUNDS = 16
LEAK_KB = 3 * 1024  # what the second half of a leak hunt may add: the allocator's own
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
PACKED = ("packed", "shards")


def batches(scene: Scene) -> None:
    """Many threads give one thread's batches, whatever the form of the data."""
    pipeline = random_pipeline(scene.rng, scene.data_sets)
    scene.notes.append(pipeline.describe())
    expected = reference(scene, pipeline, other_form=True)
    got = scene.run(scene.job_of(pipeline))
    compare(scene, got, expected)


def resume(scene: Scene) -> None:
    """A state saved in mid-epoch goes on with the batches that would have come."""
    pipeline = random_pipeline(scene.rng, scene.data_sets, torch=False)
    scene.notes.append(pipeline.describe())
    expected = reference(scene, pipeline)
    if expected.error is not None or not expected.batches:
        return
    stop = scene.rng.randint(1, len(expected.batches))
    first = scene.run(scene.job_of(pipeline, stop_after=stop))
    state = first.said("state")
    if not scene.expect(state, f"no state after {stop} batches"):
        return
    other_threads = replace(pipeline, threads=scene.rng.randint(1, 4))
    _go_on(scene, other_threads, state, first.lines, expected)


def ranks(scene: Scene) -> None:
    """Two processes have halves that together are the whole epoch, in its order."""
    pipeline = random_pipeline(
        scene.rng, scene.data_sets, data=("photos", "coco", "maps", "columns"), torch=False
    )
    options = {**pipeline.options, "drop_last": False}
    if options.get("targets") == "padded":
        options["targets"] = "list"  # how far samples are padded depends on their neighbours
    pipeline = replace(pipeline, options=options, batch_transform=None, epochs=1)
    scene.notes.append(pipeline.describe())
    expected = reference(scene, pipeline)
    children = [
        scene.start(
            scene.job_of(replace(pipeline, options={**options, "rank": rank, "world_size": 2}))
        )
        for rank in (0, 1)
    ]
    first, second = (scene.judge(child.wait()) for child in children)
    if expected.error is not None:
        # The sample that is refused may be in one half only.
        scene.expect(first.error or second.error, "one process is refused, two are not")
        return
    whole = expected.samples
    if len(whole) % 2:
        whole = [*whole, whole[0]]  # as torch's DistributedSampler fills up
    together = [s for s in chain(*zip_longest(first.samples, second.samples)) if s is not None]
    scene.expect(
        together == whole,
        f"two ranks deliver {len(first.samples)} and {len(second.samples)} samples, which are not "
        f"the {len(expected.samples)} of one",
    )


def _begin(scene: Scene, epochs: int) -> tuple[Pipeline, Ended]:
    """Choose a pipeline and run it undisturbed."""
    pipeline = replace(random_pipeline(scene.rng, scene.data_sets, torch=False), epochs=epochs)
    scene.notes.append(pipeline.describe())
    return pipeline, reference(scene, pipeline)


def close(scene: Scene) -> None:
    """`close()` at any moment, from any thread, and the loader can be used again."""
    pipeline, expected = _begin(scene, epochs=1)
    if expected.error is not None:
        return
    close_after = scene.rng.randint(1, max(1, len(expected.batches)))
    ended = scene.run(
        scene.job_of(
            pipeline,
            "close",
            close_after=close_after,
            from_thread=scene.rng.random() < 0.7,
            delay_s=scene.rng.choice([0.0, 0.0, scene.rng.uniform(0, 0.02)]),
        )
    )
    if scene.failures:
        return
    again = next((n for n, line in enumerate(ended.lines) if "again" in line), None)
    if not scene.expect(again is not None, f"no second epoch after close(): {ended.error}"):
        return
    before = replace_lines(ended, ended.lines[:again])
    after = replace_lines(ended, ended.lines[again:])
    scene.expect(
        before.batches == expected.batches[: len(before.batches)],
        "batches before close() are not one thread's",
    )
    compare(scene, after, expected)


def leak(scene: Scene) -> None:
    """Memory, descriptors, threads and files stay as they are over repeated use."""
    pipelines = [
        replace(random_pipeline(scene.rng, scene.data_sets, torch=False), epochs=1)
        for _ in range(3)
    ]
    scene.notes += [pipeline.describe() for pipeline in pipelines]
    jobs = [scene.job_of(pipeline) for pipeline in pipelines]
    ended = scene.run({"job": "leak", "rounds": LEAK_ROUNDS, "pipelines": jobs})
    rounds = [line["round"] for line in ended.lines if "round" in line]
    if not scene.expect(len(rounds) == LEAK_ROUNDS, f"only {len(rounds)} rounds: {ended.error}"):
        return
    for sentence in what_grew(rounds):
        scene.fail(sentence)


def what_grew(rounds: list[dict[str, int]]) -> list[str]:
    """Return a sentence for each thing of which the second half of the rounds used ever more."""
    settled, last = rounds[len(rounds) // 2], rounds[-1]
    found = []
    grown_kb = last["resident_kb"] - settled["resident_kb"]
    if grown_kb > LEAK_KB:
        sizes = [one["resident_kb"] for one in rounds]
        found.append(f"memory grew by {grown_kb:,} KB in {len(rounds) // 2} rounds: {sizes}")
    return found + [
        f"{thing} grew: {[one[thing] for one in rounds]} by round"
        for thing in ("descriptors", "threads", "shared_memory", "temporary_files")
        if last[thing] > settled[thing]
    ]


def truncate(scene: Scene) -> None:
    """A packed file that shrinks gives an error that names it, and until then the right batches."""

    def cut(path: Path) -> None:
        size = path.stat().st_size
        share = scene.rng.choice([0.0, scene.rng.random(), 1 - 0.1 * scene.rng.random()])
        os.truncate(path, int(size * share))

    _disturb(scene, cut)


def replace_file(scene: Scene) -> None:
    """Another data set under the same name, renamed or rewritten, never mixes into batches."""
    rewrite = scene.rng.random() < 0.6

    def put(path: Path) -> None:
        other = scene.data_sets["other"].forms["packed"]
        if rewrite:
            with path.open("r+b") as file:
                file.write(other.read_bytes())
                file.truncate()
        else:
            new = path.with_suffix(".new")
            shutil.copyfile(other, new)
            new.replace(path)

    scene.notes.append("rewritten in place" if rewrite else "renamed over it")
    _disturb(scene, put)


def kill_loader(scene: Scene) -> None:
    """A process that is killed goes on from its last state; nothing is lost or repeated."""
    pipeline, expected = _begin(scene, epochs=2)
    if expected.error is not None:
        return
    state_file = scene.folder / "state.json"
    child = scene.start(scene.job_of(pipeline, state_file=str(state_file)))
    if scene.rng.random() < 0.8:
        child.wait_for_batches(scene.rng.randint(1, max(1, len(expected.batches))))
    child.sleep(scene.rng.uniform(0, 0.02))
    sent = scene.rng.choice(SIGNALS)
    child.send(sent)
    ended = scene.judge(child.wait(PROMPT_S), sent=[sent])
    saved = json.loads(state_file.read_text()) if state_file.exists() else None
    # What was told after the last state that was saved comes again.
    done = [line for line in ended.lines if "batch" in line][: saved["told"] if saved else 0]
    _go_on(scene, replace(pipeline, threads=1), saved and saved["state"], done, expected)


def _go_on(
    scene: Scene,
    pipeline: Pipeline,
    state: dict[str, int] | None,
    done: list[dict[str, Any]],
    expected: Ended,
) -> None:
    """Run the rest of the epochs from a state, and compare the two parts with the whole."""
    end = pipeline.epoch + pipeline.epochs
    rest = replace(pipeline, epochs=end - (state["epoch"] if state else pipeline.epoch))
    ended = scene.run(scene.job_of(rest, state=state))
    ended.lines[:0] = done
    compare(scene, ended, expected)


def _disturb(scene: Scene, change: Any) -> None:
    """Run a loader over a copy of a packed file, and change that under it."""
    pipeline = random_pipeline(
        scene.rng, scene.data_sets, data=("photos",), forms=PACKED, torch=False
    )
    # Small steps and many epochs, so that the change falls among them.
    pipeline = replace(
        pipeline,
        transform=[step("RandomResizedCrop", 24, interpolation=scene.rng.choice(MODES))],
        batch_transform=None,
        options={**pipeline.options, "dtype": None},
        epochs=4,
    )
    scene.notes.append(pipeline.describe())
    source = scene.data_sets["photos"].forms[pipeline.form]
    copy = scene.folder / f"copy{source.suffix}"
    if source.is_dir():
        shutil.copytree(source, copy)
        victim = scene.rng.choice(sorted(copy.glob("*.pen")))
    else:
        shutil.copyfile(source, copy)
        victim = copy
    job = scene.job_of(pipeline)
    expected = reference(scene, pipeline)
    if scene.refused:
        return
    go = scene.folder / "go"
    wait_after = scene.rng.randint(1, max(1, len(expected.batches) // 2))
    child = scene.start({**job, "data": str(copy), "wait_after": wait_after, "wait_for": str(go)})
    if scene.rng.random() < 0.5:  # while it waits; else among its batches
        child.wait_for_batches(wait_after)
        change(victim)
        go.touch()
    else:
        child.wait_for_batches(wait_after)
        go.touch()
        child.sleep(scene.rng.uniform(0, 0.01))
        change(victim)
    ended = scene.judge(child.wait())
    if scene.failures:
        return
    delivered = len(ended.batches)
    scene.expect(
        ended.batches == expected.batches[:delivered],
        f"a batch of {delivered} delivered is not what the file held when it was opened",
    )
    if ended.error is not None:
        named = victim.name in ended.error["text"] or copy.name in ended.error["text"]
        scene.expect(named, f"the error does not name the file: {ended.error['text']}")
    else:
        scene.expect(delivered == len(expected.batches), "ended early without an error")


def reference(scene: Scene, pipeline: Pipeline, *, other_form: bool = False) -> Ended:
    """Run a pipeline on one thread, which is what the others are compared with.

    At times also from another form of the same data, or through Pillow, which give the same bytes.
    """
    single = replace(pipeline, threads=1, prefetch=0)
    exact = pipeline.options["fidelity"] == "exact" and pipeline.data != "damaged"
    if other_form and exact and scene.rng.random() < 0.3:
        forms = list(scene.data_sets[pipeline.data].forms)
        single = replace(single, form=scene.rng.choice(forms))
    # Of these, both promise to be within one level of each other (docs/augmentations.md).
    is_close = {"ElasticTransform", "GaussianNoise"} & {name for name, _, _ in pipeline.transform}
    if other_form and exact and scene.rng.random() < 0.2 and not is_close:
        single = replace(single, options={**single.options, "backend": "pillow"})
    ended = scene.run(scene.job_of(single))
    scene.refused = ended.error is not None and not ended.batches
    return ended


def compare(scene: Scene, got: Ended, expected: Ended) -> None:
    """Fail unless both delivered the same batches and ended in the same way."""
    if scene.failures:
        return
    if got.batches != expected.batches:
        pairs = zip_longest(got.batches, expected.batches)
        first = next(number for number, (one, other) in enumerate(pairs) if one != other)
        scene.fail(
            f"batch {first} differs from one thread's: {len(got.batches)} batches delivered, "
            f"{len(expected.batches)} expected; errors {_text(got)} and {_text(expected)}"
        )
    elif (got.error is None) != (expected.error is None):
        scene.fail(f"one ends with an error: {_text(got)}; one thread: {_text(expected)}")


def _text(ended: Ended) -> str:
    return ended.error["text"][:200] if ended.error else "none"


def replace_lines(ended: Ended, lines: list[dict[str, Any]]) -> Ended:
    """Return the part of a run that these lines tell."""
    return replace(ended, lines=lines)
