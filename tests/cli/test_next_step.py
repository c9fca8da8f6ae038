"""The command to type next names what importing the script gives, or says how to get there."""

import sys
import weakref
from types import ModuleType

import pytest

from penstock.cli.next_step import ScriptObjects
from penstock.results.records import Verdict
from penstock.watching.frames import Stage
from penstock.watching.inside import Inside, Part
from penstock.watching.loader_facts import LoaderFacts
from penstock.watching.script import ScriptLoader

GUARDED = """
class DataLoader:
    dataset = None
class Photos: pass

dataset = Photos()
{made}

if __name__ == "__main__":
    {started}
"""


class Report:
    """As much of a report as is asked for."""

    def __init__(self, verdict):
        self.verdict = verdict
        blur = Part(Stage.OP, "GaussianBlur", "", 0.8)
        self.inside = Inside((blur,), samples=100, work_s=1.0, waiting=0.0, idle=0.0)


@pytest.fixture
def next_step(tmp_path, monkeypatch):
    """What is said of the script's object `loader` once it has run."""

    def next_step(text, line, verdict=Verdict.DECODE):
        script = tmp_path / "train.py"
        script.write_text(text)
        main = ModuleType("__main__")
        monkeypatch.setitem(sys.modules, "__main__", main)
        exec(compile(text, str(script), "exec"), vars(main))  # noqa: S102
        loader = vars(main).get("loader") or vars(main)["DataLoader"]()
        loader.dataset = vars(main).get("used", loader.dataset)
        vars(main)["kept"] = loader
        found = ScriptLoader(weakref.ref(loader), LoaderFacts("DataLoader"), None, None, None, line)
        objects = ScriptObjects("train.py", str(script), is_module=False)
        return objects.next_step(found, Report(verdict))

    return next_step


def test_a_data_set_at_the_top_level_is_profiled(next_step):
    text = GUARDED.format(made="loader = DataLoader()\nloader.dataset = dataset", started="pass")

    assert next_step(text, 11) == "`penstock profile train.py:dataset` times it op by op."


def test_a_loader_at_the_top_level_is_analyzed(next_step):
    text = GUARDED.format(made="loader = DataLoader()", started="pass")

    assert next_step(text, 10) == "`penstock analyze train.py:loader` measures what would help."


def test_workers_are_a_matter_of_the_loader_not_of_its_data(next_step):
    text = GUARDED.format(made="loader = DataLoader()\nloader.dataset = dataset", started="pass")

    assert "analyze train.py:loader" in next_step(text, 11, Verdict.WORKERS)


def test_what_trains_when_imported_is_to_be_guarded_first(next_step):
    text = GUARDED.format(made="loader = DataLoader()", started="pass")
    step = next_step(text, 7)

    assert step.startswith('put what trains behind `if __name__ == "__main__":`')
    assert "then `penstock analyze train.py:loader`" in step


def test_a_loader_made_behind_the_guard_is_not_there_when_imported(next_step):
    text = GUARDED.format(made="", started="loader = DataLoader()")
    step = next_step(text, 10)

    assert step.startswith("make the loader in a function without arguments")


def test_a_function_that_makes_the_loader_is_named(next_step):
    made = "def build(size=3):\n    found = DataLoader()\n    return found"
    text = GUARDED.format(made=made, started="loader = build()")

    assert next_step(text, 12) == "`penstock analyze train.py:build` measures what would help."


@pytest.mark.parametrize(
    "made",
    [
        "def build(size):\n    return DataLoader()",
        "def build():\n    return DataLoader(), 3",
        "def build():\n    return DataLoader()\ndef other():\n    return DataLoader()",
    ],
)
def test_functions_that_cannot_be_called_for_one_loader_are_not(next_step, made):
    text = GUARDED.format(made=made, started="pass")

    assert "make_loader" in next_step(text, 99)


def test_where_the_step_sets_the_pace_there_is_nothing_to_look_for(next_step):
    text = GUARDED.format(made="loader = DataLoader()", started="pass")

    assert next_step(text, 9, Verdict.ACCELERATOR) is None


def test_the_line_that_makes_the_slow_op_is_named(next_step):
    made = "class GaussianBlur: pass\nop = GaussianBlur()\nloader = DataLoader()"
    step = next_step(GUARDED.format(made=made, started="pass"), 12, Verdict.AUGMENT)

    assert step.startswith("GaussianBlur is made at ")
    assert "train.py:8; `penstock analyze train.py:loader`" in step
