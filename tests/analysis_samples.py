"""Analyses made by hand, for the tests of whatever reads them."""

import math
import random
from dataclasses import replace

from penstock.analysis.verdict import Measurements
from penstock.results.records import (
    Advice,
    Analysis,
    CoreRate,
    FirstEpoch,
    LayerRate,
    OpCost,
    Prediction,
    Rate,
    Steps,
    Utilisation,
    Verdict,
    WhatIf,
)

HOSTILE = "</script><script>alert('1')</script><img src=x onerror=alert(2)>\"'&\u2028"


def rate(median, spread=0.04):
    return Rate(median, median * (1 - spread), median * (1 + spread))


def measurements(synthetic, pipeline, end_to_end, *, cores=2, **more):
    """What was measured with a worker per core."""
    rates = {"synthetic": synthetic, "pipeline": pipeline, "end_to_end": end_to_end}
    given = {"batches": 100, "workers": cores, "worker_kind": "processes", **more}
    return Measurements(cores=cores, **rates, **given)


def minimal():
    """What a run that was stopped at once leaves."""
    return Analysis(
        title="train.py",
        created="2026-01-05T10:00:00+00:00",
        environment={},
        device="cpu",
        is_emulated=False,
        batch_size=32,
        images=0,
        verdict=Verdict.NONE,
        sentence="No verdict: 3 batches measured, 50 needed.",
        evidence=(),
    )


def full():
    """Everything that an analysis can hold, of a pipeline that decodes too slowly."""
    draws = random.Random(7)
    cores = (1, 2, 4, 8, 16)
    pipeline = [340, 660, 1290, 2480, 4700]
    end = [330, 610, 1180, 2100, 2380]
    seconds = tuple(0.05 * (i + 1) for i in range(200))
    return Analysis(
        title="ImageFolder('train'), torchvision, ResNet-50",
        created="2026-01-05T10:00:00+00:00",
        environment={
            "CPU": "AMD EPYC 9R14, 2 cores",
            "memory": "8 GB",
            "Python": "3.11.2",
            "torch": "2.13.0",
            "penstock": "0.1.0",
        },
        device="emulated:2400",
        is_emulated=True,
        batch_size=64,
        images=1_281_167,
        verdict=Verdict.DECODE,
        sentence="Decoding JPEGs holds training back: the accelerator waits 75 % of its time.",
        evidence=(
            "The accelerator alone takes 2,400 images/s; the pipeline gives 660 on 2 cores.",
            "Of the pipeline's CPU time, 61 % goes into decoding.",
            "All files were in the page cache: reading costs 2 %.",
        ),
        synthetic=rate(2400, 0.01),
        fresh=rate(1700, 0.02),
        pipeline=tuple(
            CoreRate(c, rate(r, 0.05 if c <= 2 else 0), c <= 2)
            for c, r in zip(cores, pipeline, strict=True)
        ),
        end_to_end=tuple(
            CoreRate(c, rate(r, 0.04 if c <= 2 else 0), c <= 2)
            for c, r in zip(cores, end, strict=True)
        ),
        stall=0.746,
        stall_parts={"prepare": 0.71, "fetch": 0.03, "transfer": 0.006},
        first_epoch=FirstEpoch(cold=rate(420, 0.02), cached=rate(590, 0.02)),
        ops=(
            OpCost("decode", 1720.0, 0.61, "Pillow", "libjpeg-turbo, full size"),
            OpCost("RandomResizedCrop", 480.0, 0.17, "Pillow"),
            OpCost("RandomHorizontalFlip", 31.0, 0.011, "Pillow"),
            OpCost("ToTensor", 302.0, 0.107, "torch", "copies and divides by 255"),
            OpCost("Normalize", 241.0, 0.085, "torch"),
            OpCost("AddGaussianNoise", 48.0, 0.017, "Python"),
        ),
        layers=tuple(
            LayerRate(n, rate(p, 0.03), rate(p * 0.95, 0.03), n <= 2)
            for n, p in enumerate((660, 610, 566, 528))
        ),
        predictions=(
            Prediction("end to end, 1 core", 338, 330),
            Prediction("end to end, 2 cores", 628, 610),
            Prediction("end to end, 2 cores, N = 1", 596, 581),
            Prediction("end to end, 2 cores, N = 2", 548, 540),
            Prediction("end to end, 16 cores", 2380),
        ),
        what_ifs=(
            WhatIf("8 cores", 2100, 3.44),
            WhatIf("packed data set, same cores", 2330, 3.82),
            WhatIf("one layer of RandAugment", 581, 0.95),
            WhatIf("accelerator twice as fast", 612, 1.003),
        ),
        advice=(
            Advice(
                "Use 8 CPU cores",
                3.44,
                "#SBATCH --cpus-per-task=8",
                "This accelerator needs 7.3 cores of this pipeline.",
            ),
            Advice(
                "Pack the data set and load it with penstock",
                3.82,
                "penstock pack train train.pen\nloader = penstock.Loader('train.pen', ...)",
                "Decoding then costs a sixth, with the same pixels.",
            ),
        ),
        utilisation=Utilisation(
            "emulated device",
            seconds,
            tuple(
                min(1.0, max(0.0, 0.25 + 0.18 * math.sin(i / 3) + draws.gauss(0, 0.05)))
                for i in range(200)
            ),
        ),
        steps=Steps(
            waited=(2.1, *(max(0.0, draws.gauss(0.078, 0.02)) for _ in range(179))),
            computed=tuple(0.0267 + draws.random() * 0.002 for _ in range(180)),
        ),
        slowest_files=(("n02105855/ILSVRC2012_val_00002933.JPEG", 41.2), ("n03/large.JPEG", 38.0)),
        assumption="if your accelerator took 2,400 images/s",
        left_out=("images 320 pixels high",),
    )


def improved():
    """The same after the advice was taken."""
    was = full()
    draws = random.Random(8)
    return replace(
        was,
        title="train.pen, penstock, ResNet-50",
        verdict=Verdict.ACCELERATOR,
        sentence="The accelerator is the limit: the pipeline could feed it 4.6 times over.",
        evidence=("The pipeline gives 11,000 images/s on 2 cores; the accelerator takes 2,400.",),
        pipeline=(CoreRate(1, rate(5700), True), CoreRate(2, rate(11000), True)),
        end_to_end=(CoreRate(1, rate(2290), True), CoreRate(2, rate(2350), True)),
        stall=0.021,
        stall_parts={},
        ops=(
            OpCost("decode", 110.0, 0.63, "core"),
            OpCost("RandomResizedCrop", 48.0, 0.27, "core"),
            OpCost("final pass", 17.0, 0.1, "core", "flip, normalise and layout at once"),
        ),
        layers=(),
        predictions=(),
        what_ifs=(),
        advice=(),
        utilisation=Utilisation(
            "emulated device",
            was.utilisation.seconds[:60],
            tuple(min(1.0, draws.gauss(0.97, 0.02)) for _ in range(60)),
        ),
        steps=Steps(
            waited=(0.09, *(max(0.0, draws.gauss(0.0005, 0.0003)) for _ in range(179))),
            computed=was.steps.computed,
        ),
        slowest_files=(),
    )


def in_many_places():
    """Ops of many libraries, and a loader far faster than its accelerator."""
    was = full()
    places = ("Pillow or the like", "NumPy, OpenCV", "torch", "Python", "core", "disk")
    fast = tuple(CoreRate(cores, rate(12_000 * cores), cores <= 2) for cores in (1, 2, 4, 8, 16))
    return replace(
        was,
        ops=tuple(replace(op, runs_in=place) for op, place in zip(was.ops, places, strict=True)),
        pipeline=fast,
    )


def hostile():
    """Every text that comes from outside tries to become markup."""
    was = full()
    return replace(
        was,
        title=HOSTILE,
        created=HOSTILE,
        environment={HOSTILE: HOSTILE},
        device=HOSTILE,
        sentence=HOSTILE,
        evidence=(HOSTILE,),
        ops=tuple(
            replace(op, name=HOSTILE, runs_in=HOSTILE + str(i % 2), note=HOSTILE)
            for i, op in enumerate(was.ops)
        ),
        stall_parts={HOSTILE: 0.5},
        predictions=tuple(replace(entry, what=HOSTILE) for entry in was.predictions),
        what_ifs=(WhatIf(HOSTILE, 1000, 1.5),),
        advice=(Advice(HOSTILE, 2, HOSTILE, HOSTILE),),
        utilisation=replace(was.utilisation, source=HOSTILE),
        slowest_files=((HOSTILE, 3.0),),
    )
