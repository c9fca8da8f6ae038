"""Data sets as the rest of penstock sees them: opened, with any sample and its columns at hand.

| file | does |
|---|---|
| open_data.py | finds out what the user gave, and opens it: for Loader, pack, analyze and show |
| beside.py | what a loader delivers beside images |
| column_source.py | a data set with columns: the base class of the next two |
| packed.py | a packed file, or a folder of its shards |
| unpacked.py | a data set in any other layout that `pack` reads, without packing it |
| hugging_face.py | a data set of the library `datasets` |
| columns.py | the values beside images: labels, names, and what else a data set has |
| targets.py | boxes, their labels and keypoints |
| masks.py | masks of objects, and of whole images |

Folders and lists of image files are in `sources`, the readers of layouts in `packing.datasets`.
"""
