"""RayLoader: a Loader's batches, bit for bit, each once, whatever happens to the workers."""

import gc
import os
import random
import signal
import time

import pytest

import penstock as ps
from past_batches import CROPS, ENDED, SEED, WAYS, same, write_boxed
from penstock import transforms as T
from penstock.errors import (
    DecodeError,
    LoaderError,
    NoKernelError,
    TransformError,
    TranslationError,
)
from ray_steps import draw_unkeyed, fail, linger

pytest.importorskip("ray", reason="Ray is not installed")
pr = pytest.importorskip("penstock.ray")
runner = pytest.importorskip("penstock.ray.runner")
worker = pytest.importorskip("penstock.ray.worker")

pytestmark = pytest.mark.usefixtures("cluster")

LIKE_LOADERS = ("mixing", "views", "buckets of ranks", "bfloat16", "dictionaries", "fast")
LONGEST_S = 120  # what must happen, happens sooner; else the test fails instead of hanging


def make_both(data, **options):
    """A Loader, and a RayLoader with the same arguments."""
    usual = {"transform": ENDED, "batch_size": 4, "shuffle": True, "seed": SEED, "threads": 1}
    asked = {**usual, "output": "numpy", "rank": 0, "world_size": 1, **options}
    of_ray = {"workers": 1, "timeout_s": LONGEST_S, "actor_options": None}
    of_ray |= {name: asked.pop(name) for name in of_ray if name in asked}
    return ps.Loader(data, **asked), pr.RayLoader(data, **of_ray, **asked)


def until(condition):
    """Wait for what happens in other processes."""
    end = time.monotonic() + LONGEST_S
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("way", LIKE_LOADERS)
def test_batches_are_a_loaders(folder, way):
    local, ours = make_both(folder, **WAYS[way])
    with ours:
        assert same(list(ours), list(local))


def test_two_workers_deliver_epoch_after_epoch_on_the_wire_in_uint8(folder):
    """The same loader goes on from a state, makes past batches again, and frees its workers."""
    local, ours = make_both(folder, batch_size=80, samples_per_epoch=300, workers=2)
    assert len(ours) == len(local)
    expected = [list(local) for _ in range(3)]
    with ours:
        assert same(list(ours), expected[0])
        metrics = ours.metrics
        images = 300
        assert metrics.batches == len(expected[0])
        assert metrics.parts == sum(-(-len(batch[1]) // 64) for batch in expected[0])
        pixels = images * 16 * 16 * 3
        assert pixels < metrics.wire_bytes < pixels + images * 64  # and numbers beside them
        assert metrics.waited_s > 0

        some = iter(ours)
        assert same(next(some), expected[1][0])
        state = ours.state_dict()
        ours.load_state_dict(state)
        assert same(list(ours), expected[1][1:])
        ours.set_epoch(2)
        assert same(list(ours), expected[2])
        assert same(ours.batch_at(1, 1).batch, expected[1][1])
        until(lambda: len(ours.workers) == 2)
        pids = [worker.pid for worker in ours.workers]
    until(lambda: not any(map(is_running, pids)))
    assert ours.workers == ()


def test_a_state_goes_on_in_a_loader_and_back(folder):
    local, ours = make_both(folder)
    with ours:
        begun = iter(ours)
        first = [next(begun) for _ in range(2)]
        local.load_state_dict(ours.state_dict())
        rest = list(local)
        local.set_epoch(0)
        assert same(first + rest, list(local))


@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_bad_files_are_left_out_and_listed(broken_folder, on_error):
    local, ours = make_both(broken_folder, on_error=on_error)
    with ours:
        assert same(list(ours), list(local))
        assert [str(one) for one in ours.ledger] == [str(one) for one in local.ledger]


def test_bad_files_are_the_same_error_at_the_same_step(broken_folder):
    said = []
    for loader in make_both(broken_folder, workers=2, batch_size=2):
        came = []
        with pytest.raises(DecodeError) as error:
            came.extend(loader)
        said.append((len(came), str(error.value)))
        loader.close()
    assert said[0] == said[1]


def test_errors_of_functions_name_the_file(folder):
    said = []
    for loader in make_both(folder, transform=T.Compose([T.Resize((8, 8)), fail])):
        with pytest.raises(TransformError, match=r"fail \(step 2\): .*ValueError: no RGB") as error:
            next(iter(loader))
        said.append(str(error.value))
        loader.close()
    assert said[0] == said[1]


def test_warnings_of_workers_arrive(folder):
    _, ours = make_both(folder, transform=T.Compose([T.Resize((8, 8)), draw_unkeyed]))
    with ours, pytest.warns(UserWarning, match="draw_unkeyed .* generator of Python's random"):
        list(ours)


def test_boxes(tmp_path):
    local, ours = make_both(write_boxed(tmp_path), transform=T.ssd(size=(32, 32)))
    with ours:
        assert same(list(ours), list(local))


def test_torch_tensors_are_the_loaders_and_can_be_written_to(folder):
    torch = pytest.importorskip("torch")
    local, ours = make_both(folder, transform=CROPS, output="torch")
    with ours:
        for (images, labels), expected in zip(ours, local, strict=True):
            assert torch.equal(images, expected[0])
            assert torch.equal(labels, expected[1])
            images.zero_()


def test_two_ranks_while_workers_are_killed(folder):
    """At random moments, with SIGKILL; python -m soak.ray does so 50 times."""
    rng = random.Random(3)
    transform = T.Compose([T.RandomResizedCrop(16), linger, T.RandAugment()])
    options = {"transform": transform, "samples_per_epoch": 1600, "batch_size": 8, "workers": 2}
    both = [make_both(folder, rank=rank, world_size=2, **options) for rank in (0, 1)]
    expected = [list(local) for local, _ in both]
    loaders = [ours for _, ours in both]
    came = [[], []]
    kills = 0
    for step, batches in enumerate(zip(*loaders, strict=True)):
        for rank, batch in enumerate(batches):
            came[rank].append(batch)
        if step % 20 == 10:
            workers = rng.choice(loaders).workers
            if workers:
                kills += 1
                os.kill(rng.choice(workers).pid, signal.SIGKILL)
    metrics = [loader.metrics for loader in loaders]
    for loader in loaders:
        loader.close()

    assert same(came, expected)
    assert kills >= 3
    assert sum(one.restarts for one in metrics) >= 1
    assert sum(one.recomputed for one in metrics) >= 1


def test_a_worker_that_stands_still_does_not_stop_the_others(folder, monkeypatch):
    monkeypatch.setattr(runner, "_LATE_S", 0.1)
    transform = T.Compose([linger, T.RandomCrop(16)])
    options = {"transform": transform, "samples_per_epoch": 240, "workers": 2}
    local, ours = make_both(folder, **options)
    with ours:
        batches = iter(ours)
        came = [next(batches)]
        until(lambda: len(ours.workers) == 2)
        pid = ours.workers[0].pid
        os.kill(pid, signal.SIGSTOP)
        try:
            came.extend(batches)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert same(came, list(local))
        assert ours.metrics.hedged >= 1


def test_scaling_up_and_down_while_iterating(folder):
    transform = T.Compose([linger, T.RandomCrop(16)])
    local, ours = make_both(folder, transform=transform, samples_per_epoch=400)
    with ours:
        batches = iter(ours)
        came = [next(batches)]
        ours.scale(3)
        until(lambda: len(ours.workers) == 3)
        came += [next(batches) for _ in range(10)]
        ours.scale(1)
        until(lambda: len(ours.workers) == 1)
        came.extend(batches)
        assert same(came, list(local))
        assert ours.metrics.restarts == ours.metrics.recomputed == 0


def test_no_worker_to_be_had_is_an_error_and_no_wait_for_ever(folder):
    _, ours = make_both(folder, actor_options={"num_cpus": 99}, timeout_s=0.5)
    with ours, pytest.raises(LoaderError, match=r"0 of 1 workers are ready.* 99 CPUs; of 4 in the"):
        next(iter(ours))


class Seen:
    """A transform that cannot be sent."""

    def __call__(self, image):
        return image

    def __reduce__(self):
        raise TypeError("not this one")


def test_what_cannot_be_sent_is_an_error_at_once(folder):
    with pytest.raises(LoaderError, match=r"transform cannot be sent to workers \(not this one"):
        pr.RayLoader(folder, workers=1, transform=Seen())


def test_workers_that_see_other_data_are_an_error(folder, monkeypatch):
    monkeypatch.setattr(worker.Facts, "of", staticmethod(lambda _: worker.Facts("1", 5, ())))
    ours = pr.RayLoader(folder, workers=1, transform=CROPS)
    with ours, pytest.raises(LoaderError, match=r"the worker on .* has penstock .* this process 1"):
        next(iter(ours))


def test_watch_and_explain(folder):
    local, ours = make_both(folder, transform=ENDED)
    with ours:
        watched = ps.watch(ours)
        assert same(list(watched), list(local))
        assert watched.report().images == len(ours.source)
        assert "images travel in uint8" in str(ours.explain())
        assert ", RandomErasing" in str(ours.explain())
        with pytest.raises(LoaderError, match="Analyze a Loader with the same arguments"):
            ours.replica()
        assert repr(ours).startswith("RayLoader(")
        assert "workers=1" in repr(ours)


def test_breaking_off_and_beginning_anew(folder):
    local, ours = make_both(folder, transform=CROPS, workers=2)
    with ours:
        next(iter(ours))
        ours.close()
        ours.set_epoch(0)
        assert same(list(ours), list(local))


def test_a_loader_that_nobody_refers_to_has_no_workers(folder):
    _, ours = make_both(folder, transform=CROPS)
    next(iter(ours))
    pids = [one.pid for one in ours.workers]
    del ours
    gc.collect()
    until(lambda: not any(map(is_running, pids)))
    assert pids


def test_paths_and_lists_that_can_be_read_once(folder):
    paths = sorted(map(str, folder.rglob("*.jpg")))
    args = {"transform": CROPS, "output": "numpy", "rank": 0, "world_size": 1, "batch_size": 9}
    local = ps.Loader(paths, labels=range(23), indices=range(9), **args)
    some = {"labels": iter(range(23)), "indices": iter(range(9))}
    with pr.RayLoader(iter(map(os.path.relpath, paths)), workers=1, **some, **args) as ours:
        assert same(list(ours), list(local))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"workers": 0}, "workers must be a whole number from 1 on, got 0"),
        ({"workers": True}, "got True"),
        ({"workers": 1, "worker_threads": 0.5}, "worker_threads must be"),
        ({"workers": 1, "timeout_s": 0}, "timeout_s must be above 0, got 0"),
    ],
)
def test_wrong_arguments(folder, options, told):
    with pytest.raises(LoaderError, match=told):
        pr.RayLoader(folder, **options)


def test_ray_must_be_there(folder, monkeypatch):
    monkeypatch.setattr(pr.loader.ray, "is_initialized", lambda: False)
    with pytest.raises(LoaderError, match=r"Call ray.init\(\) first"):
        pr.RayLoader(folder, workers=1)


def test_errors_arrive_as_they_were_raised():
    two = TranslationError("two", ("a", "b"))
    for error in (DecodeError("a.jpg: no"), two, NoKernelError("x", int)):
        again = worker.Raised.of(error).error()
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)
    other = worker.Raised.of(ZeroDivisionError("by nothing")).error()
    assert isinstance(other, LoaderError)
    assert "ZeroDivisionError: by nothing" in str(other)


def test_facts_differ():
    facts = worker.Facts("1", 2, ("a", "b"))
    assert facts.difference(facts) is None
    assert "penstock 2" in facts.difference(worker.Facts("2", 2, ("a", "b")))
    assert "3 samples" in facts.difference(worker.Facts("1", 3, ("a", "b")))
    assert "'c' where" in facts.difference(worker.Facts("1", 2, ("a", "c")))
