"""Data sets as other tools lay them out, read as samples to pack or to load.

| layout | files |
|---|---|
| whatever the user gives | open_dataset.py: finds out which layout a path has |
| COCO | coco.py, coco_index.py, json_stream.py |
| Pascal VOC | voc.py; segmentation.py for its masks |
| YOLO | yolo.py |
| WebDataset, ImageNet's archives and lists | webdataset.py, imagenet.py, tar.py |
| Parquet | parquet.py, parquet_schema.py |
| TFRecord | tfrecord.py, protobuf.py |
| MXNet RecordIO, LMDB, HDF5 | recordio.py, lmdb.py, hdf5.py |
| KITTI, WIDER FACE | kitti.py, widerface.py |
| images with a mask each | segmentation.py |
| what readers share | layout_source.py, files.py, annotations.py |

A reader walks its data once when it is opened, over labels and headers alone, for the classes, the
columns and the number of samples; then it reads samples, in order or at any position. Memory stays
flat, but for some bytes per sample that say where it is.
To add a layout: a module with `open_<layout>` and a `Layout`, its name in `LAYOUTS` of
open_dataset.py, and a test.

What is odd but readable (a box beyond its image) is kept as it is and counted in `findings`;
what is damaged is a SourceError that names the file and the place.
"""

from penstock.packing.datasets.layout_source import LayoutSource
from penstock.packing.datasets.open_dataset import KINDS, open_dataset

__all__ = ["KINDS", "LayoutSource", "open_dataset"]
