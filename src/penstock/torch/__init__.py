"""Data sets and loaders that are torch's own kinds, for frameworks that look inside them.

Importing it imports torch.
"""

from penstock.torch.data_loader import DataLoader
from penstock.torch.dataset import Dataset

__all__ = ["DataLoader", "Dataset"]
