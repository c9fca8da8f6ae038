"""penstock on the files as in a first epoch: nothing is known of them from an earlier one."""

from __future__ import annotations

from benchmarks.peers.penstock_folder import batches, versions

__all__ = ["batches", "label", "versions"]

label = "penstock, folder, first epoch"
