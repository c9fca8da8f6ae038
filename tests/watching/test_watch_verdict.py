import pytest

from penstock.results.records import Verdict
from penstock.watching.frames import Stage
from penstock.watching.inside import Inside, Part
from penstock.watching.loader_facts import LoaderFacts
from penstock.watching.shared_cores import CpuUse
from penstock.watching.verdict import Shares, judge


@pytest.mark.parametrize(
    ("shares", "workers", "cores", "verdict", "words"),
    [
        (Shares(0, 4, 0.9, 0.9), 2, 2, Verdict.NONE, "4 steps"),
        (Shares(40, 0, 0.0, 0.0), 2, 2, Verdict.NONE, "started 40 times"),
        (Shares(0, 50, 0.01, 0.01), 2, 2, Verdict.ACCELERATOR, "only 1% of the time"),
        (Shares(0, 50, 0.4, 0.01), 2, 2, Verdict.START_UP, "Waiting takes 40% of the time"),
        (Shares(0, 50, 0.4, 0.01), 0, 2, Verdict.START_UP, "longer epochs would help"),
        (Shares(0, 50, 0.4, 0.01), 2, 2, Verdict.START_UP, "persistent_workers=True"),
        (Shares(0, 50, 0.8, 0.75), 0, 8, Verdict.WORKERS, "Try num_workers=8"),
        (Shares(0, 50, 0.8, 0.75), 2, 8, Verdict.WORKERS, "2 of 8 cores"),
        (Shares(0, 50, 0.8, 0.75), 8, 8, Verdict.INPUT, "4.0 times as fast"),
        (Shares(0, 50, 0.8, 0.75), 0, 1, Verdict.INPUT, "75% of the time"),
        (Shares(0, 50, 0.8, 0.75), 32, 8, Verdict.INPUT, "32 workers share 8 cores"),
        (Shares(0, 50, 0.8, 0.75), None, 8, Verdict.INPUT, "75% of the time"),
        (Shares(0, 50, 1.0, 1.0), None, 8, Verdict.INPUT, "over 50 times"),
    ],
)
def test_verdict(shares, workers, cores, verdict, words):
    judged = judge(shares, LoaderFacts("DataLoader", workers=workers), cores)

    assert judged.verdict is verdict
    assert words in judged.sentence


def test_workers_that_are_kept_are_not_advised_again():
    facts = LoaderFacts("DataLoader", workers=2, keeps_workers=True)
    judged = judge(Shares(0, 50, 0.4, 0.01), facts, cores=2)

    assert "persistent_workers" not in judged.sentence


def inside(*parts, waiting=0.0, idle=0.05, work_s=4e-3, **more):
    """A loader whose workers take 4 ms per image."""
    return Inside(tuple(Part(*part) for part in parts), 400, work_s, waiting, idle, **more)


def use(wall_s=2e-3, loading_s=4e-3, step_s=0.1e-3, step_cores=0.1, queued_s=0.0):
    """Two cores that are busy with loading, unless told otherwise."""
    return CpuUse(2, wall_s, loading_s, step_s, step_cores, queued_s)


WAITS = Shares(0, 50, 0.8, 0.75)
FED = Shares(0, 50, 0.03, 0.03)
DECODING = (Stage.DECODE, "", "", 0.7)
BLUR = (Stage.OP, "GaussianBlur", "", 0.6)
CROP = (Stage.OP, "RandomResizedCrop", "", 0.3)


@pytest.mark.parametrize(
    ("seen", "verdict", "words"),
    [
        (inside(BLUR, CROP), Verdict.AUGMENT, "goes into augmenting, 60% into GaussianBlur alone"),
        (
            inside(DECODING, CROP),
            Verdict.DECODE,
            "About 70% of the loader's time goes into decoding.",
        ),
        (
            inside((Stage.COLLATE, "pad", "train.py:9", 0.8)),
            Verdict.COLLATE,
            "goes into putting batches together, in pad (train.py:9)",
        ),
        (
            inside((Stage.OWN, "Photos.__getitem__", "train.py:9", 0.8)),
            Verdict.OWN_CODE,
            "goes into your own code, most of it into Photos.__getitem__ (train.py:9)",
        ),
        (
            inside((Stage.READ, "urllib", "train.py:9", 0.9), waiting=0.85),
            Verdict.READ,
            "about 85% of their time passes without using the CPU, mostly while reading with urll",
        ),
        (inside(DECODING, idle=0.7), Verdict.INPUT, "workers have nothing to do 70%"),
    ],
)
def test_the_cause_is_named(seen, verdict, words):
    judged = judge(WAITS, LoaderFacts("DataLoader", workers=2), 2, seen, use())

    assert judged.verdict is verdict
    assert words in judged.sentence


def test_leaving_an_op_out_is_promised_as_a_range():
    judged = judge(WAITS, LoaderFacts("DataLoader", workers=2), 2, inside(BLUR), use())
    (promise,) = judged.promises

    assert promise.gain.low < 2.5 < promise.gain.high
    assert f"Without GaussianBlur, it would run {promise.gain} as fast." in judged.sentence


def test_one_worker_that_computes_all_the_time_is_too_few():
    judged = judge(
        WAITS, LoaderFacts("DataLoader", workers=1), 2, inside(DECODING), use(wall_s=4e-3)
    )
    (promise,) = judged.promises

    assert judged.verdict is Verdict.WORKERS
    assert promise.change == "num_workers=2"
    assert 1.2 < promise.gain.low < promise.gain.high <= 2.0
    assert "1.0 of 2 cores are idle" in judged.sentence


def test_no_workers_at_all():
    judged = judge(
        WAITS, LoaderFacts("DataLoader", workers=0), 2, inside(DECODING, idle=0), use(wall_s=5e-3)
    )

    assert judged.verdict is Verdict.WORKERS
    assert "in the training process itself" in judged.sentence


def test_workers_that_wait_are_too_few_however_many_cores_there_are():
    seen = inside((Stage.READ, "urllib", "", 0.9), waiting=0.9, work_s=40e-3)
    judged = judge(
        WAITS, LoaderFacts("DataLoader", workers=2), 2, seen, use(wall_s=20e-3, loading_s=2e-3)
    )

    assert judged.verdict is Verdict.READ
    assert judged.promises[0].change == "num_workers=8"
    assert judged.promises[0].gain.high == pytest.approx(4.0)


@pytest.mark.parametrize("shares", [FED, Shares(0, 50, 0.3, 0.3)])
def test_a_step_that_competes_with_its_loader(shares):
    shared = use(wall_s=3.5e-3, loading_s=2.8e-3, step_s=4.2e-3, step_cores=1.4, queued_s=2e-3)
    judged = judge(shares, LoaderFacts("DataLoader", workers=2), 2, inside(DECODING), shared)

    assert judged.verdict is Verdict.SHARED_CORES
    assert "compete for the same 2 cores" in judged.sentence
    assert judged.promises[0].gain.low > 1.2


def test_no_promise_is_made_on_cores_that_others_use():
    shared = use(wall_s=20e-3, loading_s=2.8e-3, step_s=10e-3, step_cores=0.9, queued_s=20e-3)
    judged = judge(FED, LoaderFacts("DataLoader", workers=2), 2, inside(DECODING), shared)

    assert judged.verdict is Verdict.SHARED_CORES
    assert "Other programs use these cores too" in judged.sentence
    assert not judged.promises


def test_a_step_that_computes_alone_is_no_accelerator():
    alone = use(wall_s=7e-3, loading_s=1e-3, step_s=7e-3, step_cores=1.0)
    judged = judge(FED, LoaderFacts("DataLoader", workers=2), 2, inside(DECODING), alone)

    assert judged.verdict is Verdict.STEP
    assert "at most 1.03 times as fast" in judged.sentence


def test_nothing_is_said_to_be_without_hope():
    for computing in (None, use(), use(wall_s=7e-3, step_s=7e-3, step_cores=1.0)):
        judged = judge(FED, LoaderFacts("DataLoader", workers=2), 2, None, computing)

        assert "could change" not in judged.sentence
        assert "A loader that took no time at all" in judged.sentence


def test_a_loader_with_threads_is_judged_from_outside():
    threads = CpuUse(2, 2e-3, 0.0, 3e-3, 1.5, loading_is_known=False)

    assert judge(WAITS, LoaderFacts("Loader"), 2, None, threads).verdict is Verdict.INPUT
    judged = judge(FED, LoaderFacts("Loader"), 2, None, threads)
    assert judged.verdict is Verdict.STEP
    assert "the loader's own threads among them" in judged.sentence


def test_a_generator_that_waits_is_not_advised_to_have_workers():
    seen = inside((Stage.READ, "urllib", "", 0.9), waiting=0.9, idle=0.0)
    judged = judge(WAITS, LoaderFacts("generator"), 2, seen, use())

    assert judged.verdict is Verdict.READ
    assert "num_workers" not in judged.sentence


def test_idle_workers_whose_batches_take_long_to_hand_over():
    seen = inside(DECODING, idle=0.7, handing_over=0.6)
    judged = judge(WAITS, LoaderFacts("DataLoader", workers=2), 2, seen, use())

    assert judged.verdict is Verdict.TRANSFER


def test_workers_that_queue_for_a_core_are_not_too_few():
    seen = inside(DECODING, queued=0.5)
    judged = judge(WAITS, LoaderFacts("DataLoader", workers=1), 2, seen, use(wall_s=4e-3))

    assert judged.verdict is Verdict.DECODE
    assert judged.sentence.endswith("Other programs used the cores too: these figures are rough.")


def test_without_workers_a_part_counts_only_while_the_loop_waits():
    half = Shares(0, 50, 0.5, 0.5)
    free = (Stage.COLLATE, "pad", "", 1.0)
    judged = judge(half, LoaderFacts("generator"), 2, inside(free, idle=0.0), use())

    assert judged.promises[0].gain.high == pytest.approx(2.0)
