"""The study's conclusions, judged by what was measured here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import median

from penstock.analysis.rate_model import FED
from penstock.experiments.findings import Claim, Judgement
from penstock.experiments.overhead.results import Results
from penstock.experiments.overhead.settings import PACKED, TORCHVISION, Pipeline
from penstock.experiments.overhead.targets import Target

NOISE = 0.05  # of an accelerator's rate: rounds differ by as much
_AMPLE = 1.2  # times the accelerator's rate: a pipeline as fast as this feeds it
IMAGENET_PHOTOS = 1_281_167


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two settings, of which the first ought to lose more of the accelerator's rate."""

    told: str
    worse: float  # the share lost
    better: float

    @property
    def says_something(self) -> bool:
        """Whether anything is lost at all."""
        return max(self.worse, self.better) >= NOISE

    @property
    def holds(self) -> bool:
        """Whether it came out as it ought to, give or take noise."""
        return self.worse >= self.better - NOISE

    def describe(self) -> str:
        """Say what was compared."""
        return f"{self.told}: {self.worse:.0%} against {self.better:.0%} lost"


def judge_claims(results: Results) -> list[Claim]:
    """Return the study's sentences, each with what was found here."""
    return [
        _slower_where_pipeline_is(results),
        _judged("A smaller model, which trains faster, suffers more.", list(_models(results))),
        _judged("Fewer cores suffer more.", list(_cores(results))),
        _judged("More layers of RandAugment suffer more.", list(_layers(results))),
        _decoded_cache(results),
        _augmented_cache(results),
    ]


def _judged(says: str, found: list[Comparison]) -> Claim:
    telling = [one for one in found if one.says_something]
    if not found:
        return Claim(says, Judgement.UNTESTED, "only one such setting was measured")
    if not telling:
        fed = f"no accelerator lost more than {NOISE:.0%} in {len(found)} comparisons"
        return Claim(says, Judgement.UNTESTED, fed)
    against = [one for one in telling if not one.holds]
    count = f"in {len(telling) - len(against)} of {len(telling)} comparisons in which one stalls"
    if not against:
        clearest = max(telling, key=lambda one: one.worse - one.better)
        return Claim(says, Judgement.HOLDS, f"{count}; most clearly for {clearest.describe()}")
    worst = max(against, key=lambda one: one.better - one.worse)
    judgement = Judgement.DEPENDS if 2 * len(against) <= len(telling) else Judgement.FAILS
    return Claim(says, judgement, f"{count}; not for {worst.describe()}")


def _settings(results: Results) -> Iterator[tuple[str, Pipeline, int]]:
    for loader in results.loaders:
        for pipeline in results.settings.layered:
            for cores in results.settings.measured_cores:
                yield loader, pipeline, cores


def _models(results: Results) -> Iterator[Comparison]:
    for one, other in combinations(results.fast_targets, 2):
        if one.group != other.group:
            continue
        slow, fast = sorted((one, other), key=results.synthetic)
        for loader, pipeline, cores in _settings(results):
            told = f"{fast.model} and {slow.model}, {loader}, {pipeline.label}, cores: {cores}"
            yield from _compared(
                results, told, (fast, loader, pipeline, cores), (slow, loader, pipeline, cores)
            )


def _cores(results: Results) -> Iterator[Comparison]:
    for target in results.fast_targets:
        for loader in results.loaders:
            for pipeline in results.settings.layered:
                for fewer, more in pairwise(results.settings.measured_cores):
                    told = f"{fewer} and {more} cores, {target.label}, {loader}, {pipeline.label}"
                    yield from _compared(
                        results,
                        told,
                        (target, loader, pipeline, fewer),
                        (target, loader, pipeline, more),
                    )


def _layers(results: Results) -> Iterator[Comparison]:
    layered = results.settings.layered
    if len(layered) < 2:
        return
    few, many = layered[0], layered[-1]
    for target in results.fast_targets:
        for loader in results.loaders:
            for cores in results.settings.measured_cores:
                told = f"{many.layers} and {few.layers} layers, {target.label}, {loader}"
                told = f"{told}, cores: {cores}"
                yield from _compared(
                    results, told, (target, loader, many, cores), (target, loader, few, cores)
                )


def _compared(
    results: Results,
    told: str,
    worse: tuple[Target, str, Pipeline, int],
    better: tuple[Target, str, Pipeline, int],
) -> Iterator[Comparison]:
    lost, less = results.stall(*worse), results.stall(*better)
    if lost is not None and less is not None:
        yield Comparison(told, lost, less)


def _slower_where_pipeline_is(results: Results) -> Claim:
    says = (
        "Training slows down where the input pipeline alone is slower than the synthetic rate, "
        "and only there."
    )
    right = {True: 0, False: 0}  # by whether the pipeline is the slower one
    points = {True: 0, False: 0}
    for target in results.fast_targets:
        rate = results.synthetic(target)
        for loader, pipeline, cores in _settings(results):
            alone = results.pipeline(loader, pipeline, cores)
            fed = results.is_fed(target, loader, pipeline, cores)
            if alone is None or fed is None or FED * rate <= alone.median < _AMPLE * rate:
                continue
            is_slower = alone.median < rate
            points[is_slower] += 1
            right[is_slower] += fed != is_slower
    total, good = sum(points.values()), sum(right.values())
    if not total:
        return Claim(says, Judgement.UNTESTED, "nothing was measured end to end")
    because = (
        f"of {points[True]} settings with a slower pipeline, {right[True]} trained below "
        f"{FED:.0%} of the synthetic rate; of {points[False]} with one at least {_AMPLE:g} times "
        f"as fast, {right[False]} reached it"
    )
    if good == total:
        return Claim(says, Judgement.HOLDS, because)
    judgement = Judgement.DEPENDS if 2 * good >= total else Judgement.FAILS
    return Claim(says, judgement, because)


def _decoded_cache(results: Results) -> Claim:
    says = "A cache of decoded images does not do what random augmentation needs."
    pipeline, cores = results.settings.typical, results.settings.most_cores
    plain = results.pipeline(TORCHVISION, pipeline, cores)
    if not results.decoded or plain is None:
        return Claim(says, Judgement.UNTESTED, "not measured, or not yet")
    cached = median(one["pipeline"] for one in results.decoded)
    size = results.decoded[0]["bytes"]
    because = (
        f"torchvision with {pipeline.label}, cores: {cores}: {cached:,.0f} images/s from a cache, "
        f"{plain.median:,.0f} without, {cached / plain.median:.2f} times as many; it takes "
        f"{size * results.photos['distinct'] / 1e9:.2f} GB for these photos, "
        f"{size * IMAGENET_PHOTOS / 1e9:,.0f} GB for as many as ImageNet has"
    )
    packed = results.pipeline(PACKED, pipeline, cores)
    if packed is not None:
        because += f"; penstock packed, without a cache: {packed.median:,.0f} images/s"
    target = next(iter(results.fast_targets), None)
    if target is None:
        return Claim(says, Judgement.DEPENDS, because)
    fed = median(one["end_to_end"][target.key] for one in results.decoded)
    share = fed / results.synthetic(target)
    because += f"; {target.label} reaches {share:.0%} of its rate with the cache"
    return Claim(says, Judgement.HOLDS if share < FED else Judgement.DEPENDS, because)


def _augmented_cache(results: Results) -> Claim:
    says = "A cache of augmented images repeats the same augmentations."
    found = results.augmented
    if found is None:
        return Claim(says, Judgement.UNTESTED, "not measured, or not yet")
    because = (
        f"{found['photos']} photos over {found['epochs']} epochs: {found['distinct']} different "
        f"augmented images without a cache, {found['distinct_cached']} with one"
    )
    is_less = found["distinct_cached"] < found["distinct"]
    return Claim(says, Judgement.HOLDS if is_less else Judgement.FAILS, because)
