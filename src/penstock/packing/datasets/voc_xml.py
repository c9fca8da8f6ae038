"""One image's annotation in Pascal VOC's xml."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.geometry import Size
from penstock.limits import beyond, how_to_allow
from penstock.packing.datasets.boxes import NO_BOXES, Boxes, boxes_from_rows
from penstock.packing.datasets.files import read_bytes
from penstock.printable import printable

FLAGS = ("difficult", "truncated", "occluded")  # one a box; false where a file does not say
CORNERS = ("xmin", "ymin", "xmax", "ymax")


@dataclass(frozen=True, slots=True, eq=False)
class VocAnnotation:
    """What an xml file says of its image."""

    where: str
    filename: str | None
    size: Size | None
    names: tuple[str, ...]  # one a box
    boxes: Boxes
    flags: dict[str, npt.NDArray[np.bool_]]
    parts: int  # boxes of parts of objects

    @classmethod
    def without_objects(cls, path: str) -> VocAnnotation:
        """Return the annotation of an image that has no xml file."""
        none = {flag: np.zeros(0, np.bool_) for flag in FLAGS}
        return cls(printable(path), None, None, (), NO_BOXES, none, 0)


def read_voc_xml(path: str) -> VocAnnotation:
    """Read one xml file."""
    where = printable(path)
    text = read_bytes(path, "document_bytes")
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise SourceError(f"{where}: it declares its own entities. Remove the DOCTYPE.")
    elements = text.count(b"<")
    if beyond("nodes", elements):
        raise SourceError(f"{where}: {elements:,} tags. {how_to_allow('nodes', elements)}.")
    try:
        root = ET.fromstring(text)  # noqa: S314 - declarations are refused above
    except (ET.ParseError, ValueError, LookupError) as error:
        raise SourceError(f"{where}: not valid xml ({error}). Correct or remove it.") from error
    if root.tag != "annotation":
        raise SourceError(f"{where}: <annotation> expected, found <{root.tag[:60]}>.")
    objects = root.findall("object")
    names, rows = [], []
    for number, item in enumerate(objects):
        name = (item.findtext("name") or "").strip()
        box = item.find("bndbox")
        if not name or box is None:
            raise SourceError(f"{where}, object {number}: it needs a <name> and a <bndbox>.")
        names.append(name)
        rows.append([_number(box, corner, f"{where}, object {number}") for corner in CORNERS])
    return VocAnnotation(
        where=where,
        filename=_file_name(root),
        size=_size(root),
        names=tuple(names),
        boxes=boxes_from_rows(rows, where),
        flags={flag: np.array([_flag(item, flag) for item in objects], np.bool_) for flag in FLAGS},
        parts=sum(len(item.findall("part")) for item in objects),
    )


def _file_name(root: ET.Element) -> str | None:
    # <path> is the author's own disk, and some tools write it into <filename> too.
    name = (root.findtext("filename") or "").strip().replace("\\", "/")
    return os.path.basename(name) or None


def _size(root: ET.Element) -> Size | None:
    texts = [root.findtext(f"size/{side}") or "" for side in ("height", "width")]
    if not all(re.fullmatch(r"\s*[0-9]{1,9}\s*", text) for text in texts):
        return None
    height, width = (int(text) for text in texts)
    return Size(height, width) if height and width else None


def _number(box: ET.Element, corner: str, where: str) -> float:
    text = box.findtext(corner)
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SourceError(f"{where}: <{corner}> must be a number, got {(text or '')[:60]!r}.")
    return value


def _flag(item: ET.Element, flag: str) -> bool:
    return (item.findtext(flag) or "0").strip() not in {"", "0", "false", "False"}
