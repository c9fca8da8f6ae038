"""Data sets: which samples there are, where they lie and what their labels are.

| file | does |
|---|---|
| source.py | the protocol a loader relies on, and the source that image files make |
| open_source.py | finds out what the user's files are, and opens them; lists of files |
| image_folder.py | one folder per class, as torchvision's ImageFolder |
| labels_file.py, label_column.py | a folder and a table of labels |
| mask_pairs.py | images and masks in two folders; class numbers in a mask |
| scan.py | finding the files, once |
"""

from penstock.sources.image_folder import open_image_folder
from penstock.sources.labels_file import open_labels_file
from penstock.sources.mask_pairs import MaskPairs, open_mask_pairs, read_label_map
from penstock.sources.open_source import open_file_list, open_source
from penstock.sources.source import (
    FileSource,
    Labels,
    LendingSource,
    PathSource,
    Source,
    has_paths,
    lends,
)

__all__ = [
    "FileSource",
    "Labels",
    "LendingSource",
    "MaskPairs",
    "PathSource",
    "Source",
    "has_paths",
    "lends",
    "open_file_list",
    "open_image_folder",
    "open_labels_file",
    "open_mask_pairs",
    "open_source",
    "read_label_map",
]
