"""The study's detector, SSD-300 with a MobileNet backbone, in training on a VOC-layout folder.

| file | does |
|---|---|
| voc.py | a folder of photos with boxes, made where none is given |
| plain_dataset.py | the torch Dataset that one writes by hand, which is timed line by line |
| model.py | the model and its training step |
| training.py | images per second and utilisation, for each way to load |
"""
