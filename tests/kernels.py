"""penstock's kernels and decoders one by one, from the module that is built for tests alone.

No wheel contains it; tests that import this are skipped where it is missing. It has a copy of the
kernels of its own, so its instruction set is chosen apart from penstock's: the fixture `isa` sets
both.
"""

import pytest

kernels = pytest.importorskip(
    "penstock_test_core",
    reason="penstock_test_core is missing: no wheel contains it. Run `make setup`.",
)
