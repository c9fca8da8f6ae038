"""What a pipeline does to some images, as a picture for people.

| file | what is in it |
|---|---|
| examples.py | images before and after the pipeline, with their boxes |
| sheet.py | the contact sheet of them |
| presets.py | pipelines by name |
"""
