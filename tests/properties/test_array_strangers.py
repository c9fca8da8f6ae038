"""Datasets of OpenCV and NumPy that nobody wrote: accelerated to the same batches, or refused."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

pytest.importorskip("torch")
pytest.importorskip("cv2")

from penstock import TranslationError
from tests.deferring.pictures import coded, picture, turned
from tests.properties.array_grammar import TABLES, ArrayProgram, array_programs
from tests.properties.strangers_grammar import imported
from tests.strangers.compare import NO_WAY, accelerated, batches, has_way, same

EPOCHS = 2


@pytest.fixture(scope="module")
def files(tmp_path_factory, torchvision):
    """Photos of several sizes: gray, turned and progressive ones, and one that is no JPEG."""
    folder = tmp_path_factory.mktemp("arrays")
    kinds = {
        "a.jpg": coded(picture(31, 23)),
        "b.jpg": coded(picture(24, 40, "L")),
        "c.jpg": coded(picture(26, 27), progressive=True),
        "d.jpg": coded(picture(33, 21), exif=turned(6)),
        "e.jpg": coded(picture(22, 25), exif=turned(2)),
        "f.png": coded(picture(29, 22), "PNG"),
        "g.jpg": coded(picture(48, 36), subsampling=2),
    }
    for name, data in kinds.items():
        (folder / name).write_bytes(data)
    return [str(folder / name) for name in kinds]


@pytest.mark.skipif(not has_way(), reason=NO_WAY)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    program=array_programs,
    seed=st.integers(0, 2**32 - 1),
    workers=st.sampled_from((*[0] * 9, 2)),
)
def test_generated_datasets_are_the_same_accelerated_or_refused(
    files, tmp_path, program, seed, workers
):
    note(program.source)
    with imported(program.source, tmp_path) as module:
        try:
            loader = accelerated(module.make_loader(files, workers))
        except TranslationError as refused:
            note(str(refused))
            return
        ours = batches(loader, seed, EPOCHS)
        same(batches(module.make_loader(files, workers), seed, EPOCHS), ours)


@pytest.mark.parametrize("table", TABLES)
def test_every_statement_gives_the_same_batches(files, tmp_path, table):
    """Alone, so that each has been seen to work, and none is refused."""
    for statement in TABLES[table]:
        chosen = (statement,) if table == "steps" else statement
        program = replace(ArrayProgram(), **{table: chosen})
        with imported(program.source, tmp_path) as module:
            ours = batches(accelerated(module.make_loader(files, 0)), 3, EPOCHS)
            same(batches(module.make_loader(files, 0), 3, EPOCHS), ours)
