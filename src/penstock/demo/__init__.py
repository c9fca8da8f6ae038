"""`penstock demo`: before and after, on photos made for it.

| file | does |
|---|---|
| sample_photo.py, sample_set.py | images with the statistics of photos, and folders of them |
| story.py | what is measured, in order |
| loaders.py | the loaders that are compared, and whether their pixels are identical |
| torchvision_import.py | torch and torchvision, also from different builds |
| passes.py | each loader timed in a process of its own |
| result.py | the figures, and how they are presented |
"""
