"""Datasets that nobody wrote: accelerated to the same batches, or refused."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from penstock import TranslationError
from tests.properties.strangers_grammar import TABLES, Program, imported, programs
from tests.strangers.compare import NO_WAY, accelerated, batches, has_way, same
from tests.strangers.data import make_data

EPOCHS = 2
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory, torchvision):
    """Good files, and good ones among damaged ones."""
    root = make_data(tmp_path_factory.mktemp("strangers"), count=7, side_px=21)
    good = sorted((root / "photos").rglob("*.jpg")) + sorted((root / "cutouts").glob("*.png"))[:3]
    damaged = sorted((root / "damaged").glob("*.jpg"))
    return {False: [*map(str, good)], True: [*map(str, damaged)]}


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(program=programs, seed=seeds)
def test_generated_datasets_can_be_judged_by(files, tmp_path, program, seed):
    """They run, and a seed decides about their batches."""
    note(program.source)
    with imported(program.source, tmp_path) as module:
        first, again = (
            batches(module.make_loader(files[program.damaged], 0), seed, EPOCHS) for _ in range(2)
        )

    assert len(first[0]) >= 2
    same(first, again)


@pytest.mark.skipif(not has_way(), reason=NO_WAY)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(program=programs, seed=seeds, workers=st.sampled_from((*[0] * 7, 2)))
def test_generated_datasets_are_the_same_accelerated_or_refused(
    files, tmp_path, program, seed, workers
):
    note(program.source)
    with imported(program.source, tmp_path) as module:
        chosen = files[program.damaged]
        try:
            loader = accelerated(module.make_loader(chosen, workers))
        except TranslationError as refused:
            note(str(refused))
            return
        ours = batches(loader, seed, EPOCHS)
        same(batches(module.make_loader(chosen, workers), seed, EPOCHS), ours)


FIELDS = {"plain": "opening", "converted": "opening", "careful": "opening"}
SEVERAL = {"general": "general", "step": "steps", "transform": "transforms"}
SEVERAL["afterwards"] = "afterwards"


@pytest.mark.parametrize("table", TABLES)
def test_every_statement_runs(files, tmp_path, table):
    """Alone, so that each has been seen to work."""
    for statement in TABLES[table]:
        if table in SEVERAL:
            program = replace(Program(), **{SEVERAL[table]: (statement,)})
        else:
            program = replace(Program(), **{FIELDS.get(table, table): statement})
        with imported(program.source, tmp_path) as module:
            samples = list(module.make_loader(files[program.damaged], 0))

        assert len(samples) >= 2, program.source
