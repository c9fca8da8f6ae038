"""A pytest plugin that runs torchvision's tests on penstock's transforms and keeps the score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import pytest

from penstock import PenstockError
from tests.outside.adapter import Adapter
from tests.outside.functional import leave_out_scripting, private_names
from tests.outside.skips import (
    is_functional,
    judges_arguments,
    reason_to_skip,
    reason_to_skip_calls,
)

UNTOUCHED = "judges torchvision alone: no transform of penstock's was called"


class Judge:
    """Outcomes of one run."""

    def __init__(self, *, called: bool = False) -> None:
        self._called = called
        self.passed = 0
        self.failed: list[str] = []
        self.skipped: Counter[str] = Counter()
        self._is_strict = False

    def pytest_configure(self) -> None:
        """Take our errors where torchvision's tests expect theirs; see `_ErrorOrOurs`."""
        raises, warns = pytest.raises, pytest.warns
        pytest.raises = lambda *args, **kwargs: self._expect(raises(*args, **kwargs))
        pytest.warns = lambda *args, **kwargs: self._expect(warns(*args, **kwargs))

    def _expect(self, theirs: Any) -> Any:
        """Our functions, unlike our transforms, must raise errors of the same class and words."""
        return theirs if self._is_strict else _ErrorOrOurs(theirs)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._is_strict = is_functional(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[Any]:
        if self._called:
            return (yield)
        with private_names():
            return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for module in {item.module for item in items}:
            leave_out_scripting(module)
        for item in items:
            reason = reason_to_skip_calls(item) if self._called else reason_to_skip(item)
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[Any]:
        """Count a test once; one that called nothing of ours does not count as passed."""
        if call.when == "setup":
            item.stash[_USES] = Adapter.uses
        report = yield
        is_untouched = item.stash[_USES] == Adapter.uses and not judges_arguments(item)
        if call.when == "call" and report.passed and is_untouched:
            report.outcome = "skipped"
            report.longrepr = (str(item.path), 0, f"Skipped: {UNTOUCHED}")
        self._count(report)
        return report

    def _count(self, report: Any) -> None:
        if report.failed:
            self.failed.append(f"{report.nodeid} ({report.when})")
        elif report.skipped:
            self.skipped[_skip_reason(report)] += 1
        elif report.when == "call":
            self.passed += 1


class _ErrorOrOurs:
    """pytest.raises or pytest.warns, content with any PenstockError.

    Our messages and classes differ, and we refuse some arguments that torchvision warns of.
    """

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    def __enter__(self) -> Any:
        return self._theirs.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Any:
        if isinstance(error, PenstockError):
            return True
        return self._theirs.__exit__(kind, error, trace)


_USES = pytest.StashKey[int]()


def _skip_reason(report: Any) -> str:
    if hasattr(report, "wasxfail"):
        return f"torchvision expects it to fail: {report.wasxfail.removeprefix('reason: ')}"
    return report.longrepr[2].removeprefix("Skipped: ")
