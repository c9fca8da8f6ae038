"""A loader that gives its batches in the form the DataLoader gave them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock.errors import LoaderError
from penstock.loading.loader import Loader
from penstock.loading.selection import EpochOrder, Listed
from penstock.translation.datasets.samples import IMAGE, LABEL, Samples, Template
from penstock.translation.read_batching import Collate
from penstock.translation.transforms.identify import TORCH_DATA, imported
from penstock.translation.transforms.lines import Translation


class AcceleratedLoader(Loader):
    """A `Loader` made from a DataLoader; `translation` says how."""

    def __init__(
        self,
        samples: Samples,
        *,
        is_gray: bool,
        as_pillow: bool,
        collate: Collate,
        translation: Translation,
        sampler: Any = None,
        **options: Any,
    ) -> None:
        if not collate.stacks or samples.form is not None:
            samples = samples.one_by_one()
        super().__init__(samples.source(), targets=samples.targets, **options)
        self._template = samples.template
        self._target_form = samples.form
        self._positions = samples.labels
        self._is_gray = is_gray
        self._as_pillow = as_pillow
        self._collate = collate
        self._translation = translation  # of the whole DataLoader, not of its transforms only
        self._sampler = sampler

    def __iter__(self) -> Iterator[Any]:
        return map(self._form, super().__iter__())

    def __len__(self) -> int:
        if self._sampler is None:
            return super().__len__()
        samples, size = len(self._sampler), self.batch_size
        return samples // size if self._batching.drop_last else -(-samples // size)

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go on from a `state_dict`; in the midst of an epoch only if the order is ours."""
        if self._sampler is not None and state.get("consumed"):
            raise LoaderError(
                f"Loader.load_state_dict: {state['consumed']:,} samples of epoch "
                f"{state.get('epoch')} were consumed, but their order is that of your "
                f"{type(self._sampler).__name__}, which cannot be repeated. Save at the end of an "
                "epoch, or use shuffle=True."
            )
        super().load_state_dict(state)

    def _order(self, epoch: int) -> EpochOrder:
        if self._sampler is None:
            return super()._order(epoch)
        name, said = type(self._sampler).__name__, len(self._sampler)
        listed = [int(index) for index in islice(self._sampler, said + 1)]
        if len(listed) != said:
            more = "more" if len(listed) > said else f"{len(listed):,}"
            raise LoaderError(f"{name}: its length is {said:,}, but it yields {more} samples.")
        samples, length = np.array(listed, dtype=np.int64), len(self.source)
        outside = (samples < 0) | (samples >= length)
        if outside.any():
            raise LoaderError(
                f"{name}: it asks for sample {samples[outside][0]}; they count from 0 to "
                f"{length - 1:,}."
            )
        return Listed(samples)

    def _form(self, delivered: tuple[Any, Any]) -> Any:
        images, labels = delivered
        if self._as_pillow:
            images = [_pillow_image(pixels, is_gray=self._is_gray) for pixels in images]
        elif self._is_gray:
            images = _first_channel(images)
        if self._target_form is not None:
            labels = [
                self._target_form.form(int(self._positions[target.pop("image_id")]), target)
                for target in labels
            ]
        if self._collate == Collate.FAST:
            return images, labels
        if self._collate == Collate.DEFAULT:
            if self._target_form is not None:
                images, labels = _collated(images), _collated(labels)
            return _fill(self._template, {IMAGE: images, LABEL: labels})
        parts = {IMAGE: tuple(images), LABEL: tuple(labels)}
        zipped = [parts[str(part)] for part in self._template]
        return tuple(zipped) if self._collate == Collate.TUPLE else zipped


def _first_channel(images: Any) -> Any:
    """What one channel is; images of different sizes come as a list."""
    if isinstance(images, list):
        return [image[:1].contiguous() for image in images]
    return images[:, :1].contiguous()


def _pillow_image(pixels: npt.NDArray[np.uint8], *, is_gray: bool) -> PIL.Image.Image:
    return PIL.Image.fromarray(np.ascontiguousarray(pixels[:, :, 0]) if is_gray else pixels)


def _collated(parts: Any) -> Any:
    """What torch makes of parts that are not one array yet, or its own error."""
    return imported(TORCH_DATA).default_collate(parts) if isinstance(parts, list) else parts


def _fill(template: Template, parts: dict[str, Any]) -> Any:
    """Batches of the parts of a sample, side by side as torch's default_collate has them."""
    if isinstance(template, str):
        return parts[template]
    if isinstance(template, dict):
        return {name: _fill(inner, parts) for name, inner in template.items()}
    return [_fill(inner, parts) for inner in template]
