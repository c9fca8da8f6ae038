"""Packed data sets: one `.pen` file, or a folder of them, instead of a million small ones.

docs/format.md says what every byte of a file means.

| file | does |
|---|---|
| items.py | samples on their way into a packed file, and where they come from |
| datasets/ | what the user has, in whatever layout, as such a source |
| pack.py, stream.py, ordered_map.py | a whole source into files, on many threads, in order |
| encode.py, jpeg_records.py, raw_pixels.py, records.py | an image file as a record |
| reencode.py | smaller images on request |
| write.py, journal.py, recover.py, disk.py | one file, safe from crashes and full disks |
| index.py, column_values.py | the columns of a file |
| format.py | header, directory and tail |
| read.py, read_column.py, shards.py | opening a file or a folder of them |
| original.py, unpack.py | the original files back |
| verify.py, inspect.py, summary.py, contact_sheet.py | looking into a packed data set |
"""
