"""A loader that gives its batches in the form the DataLoader gave them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.analysis.accelerate.read_dataset import IMAGE, LABEL, Samples, Template
from penstock.analysis.accelerate.translation import Translation
from penstock.loading.loader import Loader


class AcceleratedLoader(Loader):
    """A `Loader` made from a DataLoader; `translation` says how."""

    def __init__(
        self, samples: Samples, *, is_gray: bool, translation: Translation, **options: Any
    ) -> None:
        super().__init__(samples.source(), **options)
        self._template = samples.template
        self._is_gray = is_gray
        self._translation = translation

    @property
    def translation(self) -> Translation:
        """What became of each part of the DataLoader."""
        return self._translation

    def __iter__(self) -> Iterator[Any]:
        return map(self._form, super().__iter__())

    def _form(self, delivered: tuple[Any, Any]) -> Any:
        images, labels = delivered
        if self._is_gray:
            images = images[:, :1].contiguous()
        return _fill(self._template, {IMAGE: images, LABEL: labels})


def _fill(template: Template, parts: dict[str, Any]) -> Any:
    """Batches of the parts of a sample, side by side as torch's default_collate has them."""
    if isinstance(template, str):
        return parts[template]
    if isinstance(template, dict):
        return {name: _fill(inner, parts) for name, inner in template.items()}
    return [_fill(inner, parts) for inner in template]
