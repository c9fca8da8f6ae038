"""The sweep over layers of RandAugment."""

from __future__ import annotations

from penstock.analysis.measure import rate_of, run_pipeline
from penstock.analysis.sweeps.sweep import Setting, Swept
from penstock.analysis.what_if import Change
from penstock.errors import PenstockError
from penstock.results.records import LayerRate, Prediction

LAYERS = (0, 1, 2, 3)


def measure_layers(setting: Setting) -> tuple[tuple[LayerRate, ...], Swept]:
    """Measure pipeline and end to end with 0 to 3 layers, and check the prediction of each.

    Nothing comes back for a pipeline whose RandAugment cannot be changed from outside.
    """
    rates: list[LayerRate] = []
    swept = Swept()
    synthetic, cores = setting.alone.rate.median, setting.cores
    for done, layers in enumerate(LAYERS):
        what = f"{layers} layer{'' if layers == 1 else 's'} of RandAugment"
        left = len(LAYERS) - done
        try:
            other = setting.subject.with_layers(layers)
            if other is None:
                setting.budget.drop(left)
                break
            if not setting.allows(f"{layers} and more layers of RandAugment", 2, left):
                break
            setting.budget.begin(what)
            pipeline = rate_of([run_pipeline(other, None, cores, setting.effort)])
            end_to_end = rate_of([run_pipeline(other, setting.device, cores, setting.effort)])
        except PenstockError as error:
            swept.notes.append(f"{what} could not be tried: {error}")
            break
        rates.append(LayerRate(layers, pipeline, end_to_end, is_measured=True))
        swept.changes.append(Change(what, pipeline.median))
        predicted = setting.model.end_to_end(synthetic, pipeline.median, cores)
        swept.checks.append(Prediction(what, predicted, end_to_end.median))
    return tuple(rates), swept
