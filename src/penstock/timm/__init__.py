"""timm's loaders, with penstock inside: what its train.py imports, under the same names.

Importing it imports torch and timm.
"""

from penstock.timm.create_dataset import create_dataset
from penstock.timm.create_loader import PrefetchLoader, create_loader

__all__ = ["PrefetchLoader", "create_dataset", "create_loader"]
