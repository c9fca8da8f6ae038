"""What the experiment measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from penstock.errors import AnalysisError

BATCH_SIZE = 64
CROP_PX = 224
MAGNITUDE = 9
CLASSES = 1000  # of labels that MixUp and CutMix mix

TORCHVISION, FOLDER, PACKED, DALI = "torchvision", "penstock folder", "penstock packed", "DALI"
LOADERS = {"torchvision": TORCHVISION, "folder": FOLDER, "packed": PACKED, "dali": DALI}
METHODS = {
    "autoaugment": "AutoAugment",
    "trivialaugment": "TrivialAugment",
    "pba": "PBA schedule",
    "mixup": "MixUp",
    "cutmix": "CutMix",
}
MODELS = ("resnet50", "mobilenet_v2")
CORES = (1, 2, 4, 6, 8)
LAYERS = (0, 1, 2, 3, 5)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Crop, flip and normalise, and a method of augmentation between them."""

    method: str = ""  # "randaugment", one of METHODS, or nothing
    layers: int = 0  # of RandAugment

    @property
    def key(self) -> str:
        """Return what it is called in results: basic, randaugment-2, mixup ..."""
        if self.method == "randaugment":
            return f"randaugment-{self.layers}"
        return self.method or "basic"

    @property
    def label(self) -> str:
        """Return what it is called in tables and figures."""
        if self.method == "randaugment":
            return f"RandAugment N = {self.layers}"
        return METHODS[self.method] if self.method else "Basic"


def with_layers(layers: int) -> Pipeline:
    """Return the pipeline with so many layers of RandAugment; none is Basic."""
    return Pipeline("randaugment", layers) if layers else Pipeline()


@dataclass(frozen=True, slots=True)
class Settings:
    """All that decides what is measured, except the photos and the targets."""

    cores: Sequence[int]  # that were asked for
    measured_cores: Sequence[int]  # those of them that this machine has
    loaders: Sequence[str]
    layers: Sequence[int]
    methods: Sequence[str]
    rounds: int
    seconds: float  # of one run
    attempts: int = 1  # at most, if other programs use the cores meanwhile

    @property
    def most_cores(self) -> int:
        """The largest number of cores that is measured."""
        return max(self.measured_cores)

    @property
    def layered(self) -> list[Pipeline]:
        """The pipelines with RandAugment, from the fewest layers on."""
        return [with_layers(layers) for layers in sorted(self.layers)]

    @property
    def pipelines(self) -> list[Pipeline]:
        """All pipelines."""
        return [*self.layered, *(Pipeline(method) for method in self.methods)]

    @property
    def typical(self) -> Pipeline:
        """The pipeline that tables compare loaders with: two layers, as most trainings have."""
        return with_layers(min(self.layers, key=lambda layers: (abs(layers - 2), -layers)))

    def to_dict(self) -> dict[str, Any]:
        """Return it in JSON's types."""
        return asdict(self) | {"batch_size": BATCH_SIZE}

    @staticmethod
    def from_dict(kept: Mapping[str, Any]) -> Settings:
        """Read what `to_dict` wrote."""
        names = Settings.__dataclass_fields__
        return Settings(**{name: kept[name] for name in names})


def choose_cores(asked: Sequence[int], usable: int, *, can_pin: bool, ends_only: bool) -> list[int]:
    """Return the numbers of cores to measure on: those asked for that are there.

    Where the system cannot pin, only all cores can be measured. `ends_only` takes the fewest and
    the most, which is enough to predict the others.
    """
    there = sorted({cores for cores in asked if cores <= usable}) if can_pin else []
    if not there:
        return [usable]
    return sorted({there[0], there[-1]}) if ends_only else there


def check_names(option: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the names, each once; AnalysisError if one is not known."""
    for name in names:
        if name not in known:
            raise AnalysisError(f"{option}: {name!r} is not known. Known are {', '.join(known)}.")
    return list(dict.fromkeys(names))
