"""Are the images of two pipelines the same, and if not, how far apart are they?

| file | does |
|---|---|
| certify.py | what users call: run two sides, compare, and say what was found |
| sides.py | what can be a side: loaders, data sets, data, certificates, functions that make them |
| names.py | which file each image comes from, where that is known for certain |
| random_state.py | each side draws from generators of its own, seeded alike |
| batches.py, labels.py | the images of a batch one by one, and what goes with each |
| images.py | an image as it was given, and its hash |
| matching.py | which image of one side is to be compared with which of the other |
| differences.py, bins.py | how far apart two images are, and where; the distribution |
| certificate.py, certificate_file.py | the hashes of a run as a file, written and read strictly |
| pixel_file.py | the pixels that a certificate is about, in a file beside it |
| environment.py | the versions that a certificate names |
| result.py, wording.py | what was found: figures, and in plain words |
| page.py, pictures.py | the report in HTML |
"""
