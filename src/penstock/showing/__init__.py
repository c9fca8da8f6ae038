"""What a pipeline does to some images, as a picture for people.

| file | what is in it |
|---|---|
| sheet.py | images before and after the pipeline, with their boxes, on a contact sheet |
| batch_sheet.py | a batch of a training, with what was drawn for each image |
| captions.py | pictures with paragraphs below them |
| presets.py | pipelines by name |
"""
