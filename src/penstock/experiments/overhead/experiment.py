"""The experiment as the runner takes it, from what the user chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from penstock.analysis.device.devices import find_device
from penstock.analysis.machine import describe_environment
from penstock.demo.torchvision_import import import_torchvision
from penstock.errors import AnalysisError
from penstock.experiments.experiment import Experiment
from penstock.experiments.overhead.draw import draw
from penstock.experiments.overhead.photos import choose_photos
from penstock.experiments.overhead.settings import (
    CORES,
    LAYERS,
    LOADERS,
    METHODS,
    MODELS,
    Settings,
    check_names,
    choose_cores,
)
from penstock.experiments.overhead.targets import find_targets
from penstock.experiments.overhead.tasks import Bench
from penstock.usable_cores import CAN_PIN, usable_cores

_MAIN_EMULATED = "emulated:a100"
_ALSO_WITHOUT_GPU = ("emulated:titan-rtx", "cpu")  # one of the study's time, and what there is
_PHOTOS, _QUICK_PHOTOS = 256, 64
_ROUNDS, _QUICK_ROUNDS = 3, 2
_SECONDS, _QUICK_SECONDS = 0.6, 0.4
_ATTEMPTS = 3
_QUICK_LAYERS = (0, 2)
_NO_METHODS = ["none"]
_PEERS = ("nvidia-dali-cuda120", "nvidia-dali-cuda130", "timm")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chose; None is the default, which depends on `quick`."""

    data: str | None = None
    photos: int | None = None
    models: Sequence[str] | None = None
    devices: Sequence[str] | None = None
    gpus: int = 1
    loaders: Sequence[str] | None = None
    cores: Sequence[int] | None = None
    layers: Sequence[int] | None = None
    methods: Sequence[str] | None = None
    rounds: int | None = None
    seconds: float | None = None
    quick: bool = False


def make_experiment(choice: Choice) -> Experiment:
    """Return the experiment; photos are chosen or made here, models when they are measured."""
    quick = choice.quick
    cores = sorted(set(choice.cores or CORES))
    if cores[0] < 1:
        raise AnalysisError(f"--cores: at least one core is needed, got {cores[0]}.")
    methods = choice.methods or ([] if quick else list(METHODS))
    loaders = check_names("--loaders", choice.loaders or list(LOADERS), list(LOADERS))
    settings = Settings(
        cores=cores,
        measured_cores=choose_cores(cores, usable_cores(), can_pin=CAN_PIN, ends_only=quick),
        loaders=[LOADERS[name] for name in loaders],
        layers=sorted(set(choice.layers or (_QUICK_LAYERS if quick else LAYERS))),
        methods=[] if methods == _NO_METHODS else check_names("--methods", methods, list(METHODS)),
        rounds=choice.rounds or (_QUICK_ROUNDS if quick else _ROUNDS),
        seconds=choice.seconds or (_QUICK_SECONDS if quick else _SECONDS),
        attempts=1 if quick else _ATTEMPTS,
    )
    devices = choice.devices or _default_devices(quick=quick, gpus=choice.gpus)
    targets = find_targets(devices, choice.models or MODELS, choice.gpus)
    photos = choose_photos(choice.data, choice.photos or (_QUICK_PHOTOS if quick else _PHOTOS))
    return Experiment(
        "overhead",
        {
            **settings.to_dict(),
            "targets": [target.to_dict() for target in targets],
            "photos": photos.to_dict(),
        },
        _environment(),
        Bench(settings, photos, targets).tasks,
        draw,
    )


def _default_devices(*, quick: bool, gpus: int) -> list[str]:
    _import_torchvision()
    found = find_device()
    if found is not None:
        return [found]
    if quick or gpus > 1:
        return [_MAIN_EMULATED]
    return [_MAIN_EMULATED, *_ALSO_WITHOUT_GPU]


def _import_torchvision() -> None:
    """Import it as its builds need it, before anything else does; without it, tasks say so."""
    try:
        import_torchvision()
    except ImportError:
        return


def _environment() -> dict[str, str]:
    found = describe_environment()
    for name in _PEERS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
