"""`Trial`: one training of a search's population, as the user's function sees it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from penstock import transforms as T
from penstock.errors import SearchError
from penstock.ray.explore import History, as_content
from penstock.ray.search_folder import MODEL, Member, Save, SavedEpoch, SearchFolder, write_whole


class Trial:
    """One training of the population, given to your function.

    Train from epoch `start` to before `epochs`, with `augment()`, from what is in `folder`; call
    `report` after each epoch.
    """

    def __init__(
        self,
        place: SearchFolder,
        run: str,
        number: int,
        member: Member,
        after: int,
        *,
        epochs: int,
        seed: int,
        counts: Sequence[float],
        tell: Callable[[SavedEpoch], None],
    ) -> None:
        self._place, self._run, self._number, self._after = place, run, number, after
        self._epochs, self._seed, self._counts, self._tell = epochs, seed, counts, tell
        self._ops = member.ops
        self._is_augmented = self._is_continued = False
        self._saved = place.newest(number, after)
        self._is_news = self._saved is not None
        if self._saved is None and member.source is not None:
            self._saved = SavedEpoch.read(place.root / member.source)
        self._epoch = 0 if self._saved is None else self._saved.epoch
        history = History() if self._saved is None else self._saved.history
        self._history = history.then(self._epoch, self._ops)

    @property
    def start(self) -> int:
        """The first epoch to train, counted from 0."""
        return self._epoch

    @property
    def epochs(self) -> int:
        """How many epochs the whole training has."""
        return self._epochs

    @property
    def seed(self) -> int:
        """Another number for each training of the population, for whatever you draw."""
        return self._seed

    @property
    def folder(self) -> Path | None:
        """What `save` wrote, to go on from: by this training or by a better one. None at first."""
        self._is_continued = True
        return None if self._saved is None else self._saved.path / MODEL

    def augment(self, **look: Any) -> T.PopulationBasedAugment:
        """Return the augmentation to train with; `interpolation` and `fill` as it takes them."""
        self._is_augmented = True
        here = self._place.root / self._run / f"member-{self._number:03}"
        here.mkdir(exist_ok=True)
        path = here / "augment.json"
        constant = as_content(History().then(0, self._ops), self._epochs, self._counts)
        write_whole(path, json.dumps(constant))
        return T.PopulationBasedAugment(path, **look)

    def report(self, score: float, save: Save) -> None:
        """Tell how good the model is after an epoch, on held-out images; larger is better.

        `save(folder)` writes all that another training needs to go on from here.
        """
        score = float(score)
        if not math.isfinite(score):
            raise SearchError(
                f"Trial.report: the score after epoch {self._epoch} is {score}, which cannot be "
                "compared. For a training that diverged, report the worst score there is."
            )
        if not self._is_augmented:
            raise SearchError(
                "Trial.report: nobody called augment(), so the training does not depend on what is "
                "searched. Put trial.augment() among the transforms."
            )
        if self._saved is not None and not self._is_continued:
            raise SearchError(
                f"Trial.report: the training goes on from epoch {self._saved.epoch}, but nobody "
                "looked at trial.folder. Load what save() wrote there, if it is not None."
            )
        if self._epoch >= self._epochs:
            raise SearchError(f"Trial.report: all {self._epochs} epochs were reported already.")
        self._epoch += 1
        trained = (self._epoch, score, self._history)
        saved = self._place.save(self._run, self._number, self._after, trained, save)
        self._tell(saved)

    def run(self, train: Callable[[Trial], None]) -> None:
        """Have the function train; first tell what an interrupted search did not hear of."""
        if self._saved is not None and self._is_news:
            self._tell(self._saved)
        if self._epoch < self._epochs:
            train(self)
        if self._epoch < self._epochs:
            raise SearchError(
                f"search_schedule: the training function ended after {self._epoch} of "
                f"{self._epochs} epochs. Report after each of range(trial.start, trial.epochs)."
            )
