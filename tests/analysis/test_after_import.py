import json
import sys

import pytest

from penstock.analysis.after_import import after_import


@pytest.fixture
def module_name(tmp_path, monkeypatch):
    """A module that nobody has imported yet."""
    (tmp_path / "not_yet_imported.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "not_yet_imported"
    sys.modules.pop("not_yet_imported", None)


def test_waits_for_the_import(module_name):
    seen = []
    after_import(module_name, lambda module: seen.append(module.value))
    assert not seen

    import not_yet_imported  # type: ignore[import-not-found]

    assert seen == [1]
    assert not_yet_imported.__spec__.loader.get_source(module_name) == "value = 1\n"


def test_happens_at_once_where_it_is_imported():
    seen = []
    after_import("json", seen.append)

    assert seen == [json]


def test_leaves_no_trace_after_the_import(module_name):
    finders = list(sys.meta_path)
    after_import(module_name, lambda _: None)
    __import__(module_name)

    assert sys.meta_path == finders
