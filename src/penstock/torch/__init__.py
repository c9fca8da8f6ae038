"""Data sets and loaders that are torch's own kinds, for frameworks that look inside them.

Importing it imports torch.
"""

from penstock.torch.data_loader import DataLoader
from penstock.torch.dataset import Dataset
from penstock.torch.prepared import keep_native

__all__ = ["DataLoader", "Dataset", "keep_native"]
