"""Training SSDlite with a MobileNet as torchvision's references do: a crop around objects, a flip.

torchvision's model resizes what it is given to 320 x 320; here this is part of the pipeline, so
that batches have one shape. Needs boxes: `penstock.pack` a COCO, VOC or YOLO data set.
`T.detection("ssdlite", size=(320, 320))` is the same list.
"""

from __future__ import annotations

from typing import Any

from penstock import transforms as T

SIZE = (320, 320)

transform = T.Compose(
    [
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
