"""Hugging Face's Trainer with native batches.

Importing it imports torch and transformers.
"""

from penstock.transformers.trainer import NativeBatches, TellEpochs, Trainer

__all__ = ["NativeBatches", "TellEpochs", "Trainer"]
