"""Are the images of two pipelines the same, and if not, how far apart are they?

| file | does |
|---|---|
| certify.py | what users call: run two sides, compare, and say what was found |
| subjects.py | a side as somebody gives it: something to run, data, or a certificate |
| sides.py | how a loader, a Dataset or an iterable is run from a seed, image by image |
| names.py, roots.py | which file each image comes from, where that is known for certain |
| random_state.py | each side draws from generators of its own, seeded alike |
| batches.py, labels.py | the images of a batch one by one, and what goes with each |
| images.py | an image as it was given, and its hash |
| matching.py | which image of one side is to be compared with which of the other |
| comparison.py | pairs of images, judged one by one; keeps the worst |
| differences.py, bins.py | how far apart two images are, and where; the distribution |
| certificate.py, strict_json.py | the hashes of a run as a file, which is read strictly |
| pixel_file.py | the pixels that a certificate is about, in a file beside it |
| environment.py | the versions that a certificate names |
| result.py, wording.py, notes.py | what was found: figures, and in plain words |
| page.py, pictures.py | the report in HTML |
"""
