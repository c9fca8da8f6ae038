"""penstock on the packed file as a CPU without AVX-512 would run it."""

from __future__ import annotations

from benchmarks.peers.penstock_packed import batches, versions, write

__all__ = ["batches", "label", "versions", "write"]

label = "penstock, .pen, AVX2 only"
