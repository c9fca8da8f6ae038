"""`accelerate` by reading a Dataset's code, which is what these tests are about."""

from functools import partial

import penstock

accelerate = partial(penstock.accelerate, way="read")
explain_translation = partial(penstock.explain_translation, way="read")
