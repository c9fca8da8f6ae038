"""Data sets: which samples there are, where they lie and what their labels are.

| file | does |
|---|---|
| source.py | the protocol a loader relies on |
| open_source.py | finds out what the user's data is, and opens it |
| image_folder.py | one folder a class, as torchvision's ImageFolder |
| labels_file.py, labels_table.py, label_column.py | a folder and a table of labels |
| file_list.py | a list of paths |
| file_source.py | the source all of these make |
| mask_pairs.py, label_map.py | images and masks in two folders; class numbers in a mask |
| path_table.py | very many paths in little memory |
| scan.py, remembered_scan.py | finding the files, once |
"""

from penstock.sources.file_list import open_file_list
from penstock.sources.file_source import FileSource
from penstock.sources.image_folder import open_image_folder
from penstock.sources.label_map import read_label_map
from penstock.sources.labels_file import open_labels_file
from penstock.sources.mask_pairs import MaskPairs, open_mask_pairs
from penstock.sources.open_source import open_source
from penstock.sources.source import Labels, PathSource, Source, has_paths

__all__ = [
    "FileSource",
    "Labels",
    "MaskPairs",
    "PathSource",
    "Source",
    "has_paths",
    "open_file_list",
    "open_image_folder",
    "open_labels_file",
    "open_mask_pairs",
    "open_source",
    "read_label_map",
]
