"""A data module for Lightning's Trainer.

Importing it imports Lightning: the package `lightning`, or `pytorch_lightning` if that is what is
installed, or what was imported before.
"""

from penstock.lightning.data_module import DataModule

__all__ = ["DataModule"]
