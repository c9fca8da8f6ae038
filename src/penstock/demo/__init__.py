"""`penstock demo`: before and after, on photos made for it.

| file | does |
|---|---|
| sample_photo.py, sample_set.py | images with the statistics of photos, and folders of them |
| story.py | what is measured, in order |
| loaders.py, torchvision_import.py | the contestants |
| passes.py, loader_process.py | each timed in a process of its own |
| check.py | whether their pixels are identical |
| result.py, telling.py | the figures, and how they are told |
"""
