"""What was measured, as tables. Each says how many distinct photos it rests on."""

from __future__ import annotations

from statistics import median

from penstock.analysis.rate_model import FED
from penstock.experiments.findings import Table
from penstock.experiments.overhead.results import MOST_CORES, Figure, Results
from penstock.experiments.overhead.settings import TORCHVISION, with_layers
from penstock.experiments.overhead.targets import Target

_NOTHING = "-"
PREDICTED = "~"  # before a figure: not measured


def make_tables(results: Results) -> list[Table]:
    """Return all tables of which something was measured."""
    tables = [
        _starving(results),
        _steps(results),
        _pipelines(results),
        *(_trained(results, target) for target in results.fast_targets),
        _on_the_processor(results),
        _caches(results),
    ]
    return [table for table in tables if table.rows]


def rates(figure: Figure | None) -> str:
    """Return a rate with its spread; a predicted one is marked."""
    if figure is None:
        return _NOTHING
    rate = figure.rate
    if not figure.is_measured:
        return f"{PREDICTED}{rate.median:,.0f}"
    if rate.least == rate.largest:
        return f"{rate.median:,.0f}"
    return f"{rate.median:,.0f} ({rate.least:,.0f}-{rate.largest:,.0f})"


def _photos(results: Results) -> str:
    return f"{results.photos['distinct']:,} distinct photos."


def _starving(results: Results) -> Table:
    """Where training starves, and where penstock moves that point."""
    settings = results.settings
    typical, cores = settings.typical, settings.most_cores
    rows = []
    for target in results.fast_targets:
        for loader in results.loaders:
            both = results.end_to_end(target, loader, typical, cores)
            fed = results.is_fed(target, loader, typical, cores)
            if both is None or fed is None:
                continue
            borne = results.layers_borne(target, loader, cores)
            rows.append(
                [
                    target.label,
                    loader,
                    rates(both),
                    f"{both.median / results.synthetic(target):.0%}",
                    "accelerator-bound" if fed else "input-bound",
                    _needed(results, target, loader, 0) if 0 in settings.layers else _NOTHING,
                    _needed(results, target, loader, typical.layers),
                    "none" if borne is None else f"{borne}",
                ]
            )
    head = (
        *("training", "loader", "end to end", "of synthetic", "verdict"),
        *("cores, Basic", f"cores, N = {typical.layers}", "layers"),
    )
    return Table(
        f"Where training starves: {typical.label}, cores: {cores}",
        head,
        rows,
        f"Images per second: median (least-largest); rounds: {settings.rounds}. An accelerator is "
        f"fed if training reaches {FED:.0%} of the synthetic rate. Cores: the fewest that feed it, "
        f"with each pipeline. Layers: the most layers of RandAugment with which {cores} cores feed "
        f"it. {PREDICTED} is predicted from fewer cores. {_photos(results)}",
    )


def _needed(results: Results, target: Target, loader: str, layers: int) -> str:
    needed = results.cores_needed(target, loader, with_layers(layers))
    if needed is None:
        return f"more than {MOST_CORES}"
    was_measured = results.is_fed(target, loader, with_layers(layers), needed)
    return f"{'' if was_measured else PREDICTED}{needed}"


def _steps(results: Results) -> Table:
    rows = []
    for target in results.targets:
        fresh = results.fresh(target)
        if results.synthetic(target):
            rows.append(
                [
                    target.label,
                    f"{results.synthetic(target):,.1f}",
                    _NOTHING if fresh is None else f"{fresh:,.1f}",
                    "emulated" if target.is_emulated else "real",
                ]
            )
    return Table(
        "Synthetic: the step alone",
        ("training", "batch that stays", "fresh random tensor", "accelerator"),
        rows,
        "Images per second, without any photos. An emulated accelerator has its rate by "
        "definition. Fresh tensors are made by the processor, which may be too slow for an "
        f"accelerator. All other tables: {_photos(results)}",
    )


def _pipelines(results: Results) -> Table:
    rows = [
        [
            pipeline.label,
            f"{cores}",
            *(rates(results.pipeline(loader, pipeline, cores)) for loader in results.loaders),
        ]
        for pipeline in results.settings.pipelines
        for cores in results.cores
        if cores in results.settings.measured_cores or pipeline == results.settings.typical
        if any(results.pipeline(loader, pipeline, cores) for loader in results.loaders)
        if pipeline in results.settings.layered or cores == results.settings.most_cores
    ]
    return Table(
        "Input pipeline only",
        ("pipeline", "cores", *results.loaders),
        rows,
        f"Images per second: median (least-largest). {PREDICTED} is predicted. {_photos(results)}",
    )


def _trained(results: Results, target: Target) -> Table:
    rows = []
    for pipeline in results.settings.pipelines:
        is_layered = pipeline in results.settings.layered
        for cores in results.cores if is_layered else [results.settings.most_cores]:
            found = [
                results.end_to_end(target, loader, pipeline, cores) for loader in results.loaders
            ]
            was_measured = any(one is not None and one.is_measured for one in found)
            if was_measured or (is_layered and any(found)):
                rows.append([pipeline.label, f"{cores}", *map(rates, found)])
    return Table(
        f"End to end: {target.label}, synthetic {results.synthetic(target):,.0f}",
        ("pipeline", "cores", *results.loaders),
        rows,
        f"Images per second: median (least-largest). {PREDICTED} is predicted. {_photos(results)}",
    )


def _on_the_processor(results: Results) -> Table:
    """Real steps on the cores that also load."""
    pipeline, cores = results.settings.typical, results.settings.most_cores
    rows = []
    for target in results.targets:
        if not target.computes_here:
            continue
        for loader in results.loaders:
            both = results.measured(target, loader, pipeline, cores)
            if both is not None and results.synthetic(target):
                lost = 1 - both.median / results.synthetic(target)
                rows.append(
                    [
                        target.model,
                        loader,
                        f"{results.synthetic(target):.2f}",
                        f"{both.median:.2f}",
                        f"{lost:.0%}",
                    ]
                )
    return Table(
        f"Real training on this machine's processor: {pipeline.label}, cores: {cores}",
        ("model", "loader", "synthetic", "end to end", "lost"),
        rows,
        "Images per second of few steps, which take many seconds each: differences of a few per "
        f"cent say nothing. Loading and training share the cores. {_photos(results)}",
    )


def _caches(results: Results) -> Table:
    settings = results.settings
    plain = results.pipeline(TORCHVISION, settings.typical, settings.most_cores)
    if plain is None or not results.decoded:
        return Table("", (), ())
    cached = [one["pipeline"] for one in results.decoded]
    size = results.decoded[0]["bytes"] / 1e6
    rows = [
        ["no cache", rates(plain), _NOTHING, "all"],
        ["decoded images", f"{median(cached):,.0f}", f"{size:.2f}", "all"],
    ]
    if results.augmented is not None:
        kept, made = results.augmented["distinct_cached"], results.augmented["distinct"]
        rows.append(["augmented images", "not needed", "0.60", f"{kept} of {made}"])
    return Table(
        f"Would a cache do? torchvision, {settings.typical.label}, cores: {settings.most_cores}",
        ("cache in memory", "loader alone", "MB for each image", "different augmented images"),
        rows,
        "Images per second. Augmented images are counted over "
        f"{0 if results.augmented is None else results.augmented['epochs']} epochs. "
        f"{_photos(results)}",
    )
