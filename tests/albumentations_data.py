"""Datasets as users of Albumentations write them."""

import cv2
import numpy as np
from PIL import Image

from folders import Files


class ByPillow(Files):
    """Images opened by Pillow."""

    def __getitem__(self, index):
        image = np.array(Image.open(self.files[index]).convert("RGB"))
        if self.transform is not None:
            image = self.transform(image=image)["image"]
        return image, index % 5


class InTwoSteps(Files):
    """The dictionary has a name of its own, and so has the sample."""

    def __getitem__(self, index):
        with Image.open(self.files[index]) as file:
            image = np.asarray(file.convert("RGB"), dtype=np.uint8)
        if self.transform:
            augmented = self.transform(image=image)
            image = augmented["image"]
        return {"pixels": image, "label": index % 5}


class ByOpenCV(Files):
    """Images read by OpenCV."""

    def __getitem__(self, index):
        image = cv2.imread(self.files[index])
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
        return self.transform(image=image)["image"], index % 5


class BlueFirst(Files):
    """Colours left as OpenCV has them."""

    def __getitem__(self, index):
        image = cv2.imread(self.files[index], cv2.IMREAD_COLOR)
        return self.transform(image=image)["image"], index % 5


class WithMask(Files):
    """More than one image."""

    def __getitem__(self, index):
        image = np.array(Image.open(self.files[index]).convert("RGB"))
        return self.transform(image=image, mask=image)["image"], index % 5


class WithoutArray(Files):
    """A Pillow image, which Albumentations does not take."""

    def __getitem__(self, index):
        image = Image.open(self.files[index]).convert("RGB")
        return self.transform(image=image)["image"], index % 5


class Gray(Files):
    """An array without channels."""

    def __getitem__(self, index):
        image = np.array(Image.open(self.files[index]).convert("L"))
        return self.transform(image=image)["image"], index % 5
