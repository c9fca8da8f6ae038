"""Packed data sets: one `.pen` file, or a folder of them, instead of a million small ones.

docs/format.md says what every byte of a file means. A *sample* is an image with its values in the
columns beside it (label, boxes ...), a *record* is the bytes of its image in a packed file.

| file | does |
|---|---|
| items.py | samples on their way into a packed file, and the protocol of their source |
| datasets/ | data in whatever layout as such a source |
| pack.py, ordered_map.py | a whole source into files, on many threads, in order |
| records.py | an image file as a record, and back |
| reencode.py, mask_runs.py | smaller images on request; masks of objects as run lengths |
| write.py, journal.py, resume.py, disk.py | one file, safe from crashes and full disks |
| format.py, index.py, columns.py | header, directory and tail; the columns |
| parts.py | how records are cut into parts, and put together in blocks |
| pack_index.py, ranges.py | reading an index, wherever it lies; which bytes samples need |
| read.py, shards.py | opening a file on this machine, or a folder of them |
| unpack.py | the original files back |
| verify.py, inspect.py, summary.py | looking into a packed data set |
"""
