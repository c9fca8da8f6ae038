"""COCO's json: values, nesting, outlines and run lengths."""

from __future__ import annotations

import json

from hostile.cases import JPEG, ODD, REFUSED, bomb, each, put

COCO = {
    "images": [{"id": 1, "file_name": "a.jpg", "height": 6, "width": 8}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 2, 2], "segmentation": []}
    ],
    "categories": [{"id": 1, "name": "cat"}],
}


def coco(folder, **changes):
    put(folder / "a.jpg", JPEG)
    data = json.loads(json.dumps(COCO))
    text = changes.pop("text", None)
    for path, value in changes.items():
        part, key = path.split("__")
        data[part][0][key] = value
    return [put(folder / "instances.json", json.dumps(data) if text is None else text)]


@each(
    REFUSED,
    "instances.json",
    empty="",
    blank="  ",
    array="[]",
    scalar="3",
    null="null",
    cut='{"images": [{"id": 1',
    depth="[" * 100_000,
    deep_value='{"images": ' + "[" * 100_000,
    no_images="{}",
    deep_but_parsed='{"images": [{"id": 1, "x": ' + "[" * 500 + "]" * 500 + "}]}",
    integer='{"images": [{"id": ' + "9" * 10_000 + "}]}",
    nan='{"images": [{"id": NaN}]}',
    not_objects='{"images": [1, 2]}',
    duplicate='{"images": [{"id": 1}, {"id": 1}]}',
    latin=b'{"images": [{"id": 1, "file_name": "\xff.jpg"}]}',
    no_name='{"images": [{"id": 1}]}',
    utf16='{"images": []}'.encode("utf-16"),
    nul='{"images": [{"id": 1, "file_name": "a\\u0000"}]}',
    key="{3: 4}",
    twice='{"images": []} {"images": []}',
    bom='\ufeff{"images": []}',
    surrogate='{"images": [{"id": 1, "file_name": "\\ud800.jpg"}]}',
    outside='{"images": [{"id": 1, "file_name": "../../etc/passwd"}]}',
)
def coco_text(folder, text):
    return coco(folder, text=text)


HUGE = int("9" * 4000)


@each(
    REFUSED,
    "instances.json",
    big_box={"annotations__bbox": [0, 0, HUGE, 1]},
    infinite={"annotations__bbox": [0, 0, 1e999, 1]},
    nan={"annotations__bbox": [float("nan")] * 4},
    text_box={"annotations__bbox": ["a"] * 4},
    short_box={"annotations__bbox": [1, 2]},
    no_box={"annotations__bbox": {"a": 1}},
    category={"annotations__category_id": 7},
    category_text={"annotations__category_id": "1"},
    big_category={"categories__id": HUGE},
    wide_category={"categories__id": 2**63},
    unnamed={"categories__name": None},
    surrogate_class={"categories__name": "\ud800"},
    outline=({"annotations__segmentation": [[0, 0, 1e300, 1, 2, 2]]}),
    outline_nan={"annotations__segmentation": [[0, 0, float("nan"), 1, 2, 2]]},
    outline_text={"annotations__segmentation": [["a", "b"]]},
    runs_text={"annotations__segmentation": "x"},
    outline_odd={"annotations__segmentation": [[1, 2, 3]]},
    outline_deep={"annotations__segmentation": [[[[1]]]]},
    runs_none={"annotations__segmentation": {"size": [6, 8]}},
    runs_negative={"annotations__segmentation": {"size": [6, 8], "counts": [-1, 49]}},
    runs_big={"annotations__segmentation": {"size": [6, 8], "counts": [2**70]}},
    runs_characters={"annotations__segmentation": {"size": [6, 8], "counts": "\ud800\u1234"}},
    runs_cut={"annotations__segmentation": {"size": [6, 8], "counts": "ooooo"}},
    runs_size={"annotations__segmentation": {"size": [10**30, 8], "counts": []}},
    keypoints={"annotations__keypoints": [1, 2]},
    keypoints_text={"annotations__keypoints": ["a"] * 3},
    keypoints_big={"annotations__keypoints": [HUGE] * 3},
    crowd_name={"images__file_name": "/dev/zero"},
    name_kind={"images__file_name": 3},
)
def coco_value(folder, changes):
    return coco(folder, **changes)


@each(
    ODD,
    "",
    crowd={"annotations__iscrowd": "yes"},
    crowd_big={"annotations__iscrowd": HUGE},
    id={"annotations__id": [1]},
    height={"images__height": HUGE},
    negative={"images__height": -1},
    area={"annotations__area": float("nan")},
    long_class={"categories__name": "x" * 10_000},
    nul_class={"categories__name": "a\0b"},
    box={"annotations__bbox": [-5, -5, 0, 0]},
)
def coco_oddity(folder, changes):
    return coco(folder, **changes)


@bomb("outline")
def coco_outline_around_the_earth(folder):
    outline = [x for n in range(2000) for x in (10**6 * (n % 2), n)]
    return coco(folder, annotations__segmentation=[outline])


@bomb("--limit pixels=")
def coco_mask_of_a_huge_image(folder):
    side = 40_000
    return coco(
        folder,
        images__height=side,
        images__width=side,
        annotations__segmentation={"size": [side, side], "counts": [side * side]},
    )


@bomb("--limit document-bytes=")
def coco_value_without_an_end(folder):
    return coco(folder, text='{"x": [' + "[]," * 8_000_000)
