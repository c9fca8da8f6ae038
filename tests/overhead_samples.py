"""Journals of the overhead experiment with made-up measurements that follow the rate model."""

from penstock.analysis.rate_model import Point, predict
from penstock.experiments.journal import Journal
from penstock.experiments.overhead.settings import DALI, PACKED, TORCHVISION, Settings
from penstock.experiments.overhead.targets import find_targets

RATES_OF_A_CORE = {TORCHVISION: 300.0, DALI: 400.0, PACKED: 5000.0}
COST_OF_A_LAYER = 0.1
PHOTOS = {"distinct": 64, "origin": "made up", "digest": "0", "mean_bytes": 1000}


def pipeline_rate(loader, cores, layers):
    return RATES_OF_A_CORE[loader] * cores / (1 + COST_OF_A_LAYER * layers)


def journal(
    devices=("emulated:a100",),
    models=("resnet50", "mobilenet_v2"),
    measured_cores=(1, 2),
    layers=(0, 2, 5),
    rate=pipeline_rate,
    gpus=1,
):
    settings = Settings(
        cores=[1, 2, 4, 8],
        measured_cores=list(measured_cores),
        loaders=list(RATES_OF_A_CORE),
        layers=list(layers),
        methods=["pba"],
        rounds=1,
        seconds=1.0,
    )
    targets = find_targets(devices, models, gpus)
    measured = {}
    for target in targets:
        synthetic = target.gpus * (target.rate or 3.0)
        step = {"resident": synthetic, "fresh": 900.0, "cpu_s": 0.0}
        measured[f"step/0/{target.key}"] = step
    for loader in RATES_OF_A_CORE:
        for cores in measured_cores:
            for pipeline in settings.layered:
                alone = rate(loader, cores, pipeline.layers)
                both = {
                    target.key: predict(
                        Point(target.gpus * (target.rate or 3.0), alone, cores, 0.0), 8.0
                    )
                    for target in targets
                }
                key = f"rate/0/{loader}/{cores}/{pipeline.key}"
                measured[key] = {"pipeline": alone, "end_to_end": both}
    why = {"failed": "torchvision has no Population Based Augmentation"}
    measured[f"rate/0/{TORCHVISION}/{max(measured_cores)}/pba"] = why
    measured["cache/decoded/0"] = {
        "pipeline": 900.0,
        "end_to_end": {target.key: 850.0 for target in targets},
        "bytes": 600_000,
    }
    measured["cache/augmented"] = {
        "photos": 24,
        "epochs": 3,
        "distinct": 72,
        "distinct_cached": 24,
    }
    told = settings.to_dict() | {
        "targets": [target.to_dict() for target in targets],
        "photos": PHOTOS,
    }
    return Journal("overhead", told, {"CPU": "a CPU"}, measurements=measured)
