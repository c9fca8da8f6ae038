"""What a pipeline does to some images, as a picture for people.

| file | what is in it |
|---|---|
| sheet.py | images before and after the pipeline, with their boxes, on a contact sheet |
| presets.py | pipelines by name |
"""
