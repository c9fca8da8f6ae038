"""Data sets as other tools lay them out, read as samples to pack.

| layout | files |
|---|---|
| open_dataset.py, recognise.py | finds out which of them a path is |
| COCO | coco.py, coco_images.py, coco_index.py, coco_other.py, json_stream.py |
| Pascal VOC | voc.py, voc_layout.py, voc_xml.py |
| YOLO | yolo.py, yolo_layout.py |
| WebDataset, ImageNet's archives | webdataset.py, imagenet_tar.py, tar_members.py |
| Parquet | parquet.py, parquet_files.py, parquet_schema.py |
| TFRecord | tfrecord.py, tf_survey.py, tf_example.py, tf_framing.py, class_names.py |
| MXNet RecordIO | recordio.py, recordio_framing.py |
| LMDB | lmdb_values.py, caffe_datum.py |
| HDF5 | hdf5.py |
| KITTI, WIDER FACE, ImageNet's lists | kitti.py, widerface.py, imagenet_txt.py |
| shared | layout_source.py, boxes.py, polygons.py, images.py, labels.py, names.py, splits.py |

A reader walks its data twice: once over labels and headers alone, for the classes, the columns
and the number of samples, and then sample by sample. Memory stays flat in both.
What is odd but readable (a box beyond its image) is kept as it is and counted in `findings`;
what is damaged is a SourceError that names the file and the place.
"""

from penstock.packing.datasets.layout_source import LayoutSource
from penstock.packing.datasets.open_dataset import KINDS, open_dataset

__all__ = ["KINDS", "LayoutSource", "open_dataset"]
