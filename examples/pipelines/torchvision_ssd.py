"""Training SSD300 as torchvision's references do: colours, zooming out, a crop around objects.

torchvision's model resizes what it is given to 300 x 300; here this is part of the pipeline, so
that batches have one shape. Needs boxes: `penstock.pack` a COCO, VOC or YOLO data set.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

MEAN = (123.0, 117.0, 104.0)  # the colour around an image that is zoomed out
SIZE = (300, 300)

transform = T.Compose(
    [
        T.RandomPhotometricDistort(),
        T.RandomZoomOut(fill=MEAN),
        T.RandomIoUCrop(),
        T.RandomHorizontalFlip(),
        T.Resize(SIZE),
        T.ConvertBoundingBoxFormat("XYXY"),
        T.SanitizeBoundingBoxes(),
        T.ToDtype("float32", scale=True),
    ]
)


def torchvision_transform() -> Any:
    """The same, of torchvision's transforms."""
    import torch
    from torchvision.transforms import v2

    return v2.Compose(
        [
            v2.RandomPhotometricDistort(),
            v2.RandomZoomOut(fill=MEAN),
            v2.RandomIoUCrop(),
            v2.RandomHorizontalFlip(),
            v2.Resize(SIZE),
            v2.ConvertBoundingBoxFormat("XYXY"),
            v2.SanitizeBoundingBoxes(),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.ToPureTensor(),
        ]
    )
