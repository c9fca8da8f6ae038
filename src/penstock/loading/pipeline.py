"""What a loader does to its samples: the plan, the options, and the runner made of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock._core import Format
from penstock.data.beside import Beside
from penstock.data.remote import RemotePackedSource
from penstock.errors import LoaderError
from penstock.loading.failures import Failures, Ledger
from penstock.loading.library_runner import LibraryRunner
from penstock.loading.native import NativeRunner
from penstock.loading.native_views import ViewRunner
from penstock.loading.options import OutputOptions, RunOptions
from penstock.loading.planning import choose_rules, choose_view_rules, explain, part_costs
from penstock.loading.probe import PlanTask
from penstock.loading.read_ahead import FAR, NEAR, ReadAhead
from penstock.loading.reuse import Reusing
from penstock.loading.runner import PartRunner, RunSetup
from penstock.loading.selection import Selection
from penstock.loading.witness import Witness
from penstock.pillow_order import check_installed_pillow
from penstock.planner.explain import Explanation
from penstock.planner.plan import Plan
from penstock.planner.reuse_forecast import Forecast
from penstock.planner.rules.rule import Rule
from penstock.reference.libraries.library import ImageLibrary
from penstock.sources import Source
from penstock.transforms.values import FinalSpec, Layout

_MASKS_APART = (
    "masks follow the images, as written and as planned alike; what that takes is not in these "
    "costs, and may be more than the images take."
)


MakeRunner = Callable[[RunSetup, list[Format]], PartRunner]


@dataclass(frozen=True, slots=True)
class ChosenRules:
    """The rules that a plan is run with; those of views count from what they share on."""

    rules: tuple[Rule, ...]
    of_views: tuple[tuple[Rule, ...], ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """From samples to images in their place: everything but their order and their batches."""

    beside: Beside  # the source, and what is delivered beside its images
    plan: Plan
    seed: int
    options: RunOptions
    output: OutputOptions
    selection: Selection
    reusing: Reusing | None
    library: ImageLibrary[Any] | None  # that does the work instead of the core
    elsewhere: MakeRunner | None = None  # makes a runner that has the work done by others

    @property
    def source(self) -> Source:
        """The data set."""
        return self.beside.source

    @property
    def read_ahead(self) -> ReadAhead:
        """How much is read before it can be computed."""
        is_far = isinstance(self.source, RemotePackedSource) and self.library is None
        # With `reuse`, a part may wait for what a later one computes, which must not be held then.
        return FAR if is_far and self.reusing is None else NEAR

    @property
    def length(self) -> int:
        """Images in an epoch, of all ranks together."""
        length = len(self.selection)
        return length if self.reusing is None else self.reusing.length(length)

    def anew(self, plan: Plan, options: RunOptions) -> Pipeline:
        """The same with another plan and other options, and with nothing kept of what was done."""
        return replace(
            self,
            plan=plan,
            options=options,
            output=replace(self.output, views=len(plan.views)),
            reusing=None if self.reusing is None else self.reusing.anew(),
        )

    def explain(self, samples: int, part_images: float) -> Explanation:
        """What is done to images as written and as planned; for the rest, see `forecast`."""
        if self.library is not None:
            raise LoaderError(
                f"Loader.explain: backend={self.options.backend!r} does what was written; only "
                "the native backend is planned."
            )
        explained, forecast = explain(self._task()), self.forecast(samples, part_images)
        if isinstance(self.source, RemotePackedSource):
            notes = self.source.describe_reading()
            explained = replace(explained, notes=(*explained.notes, *notes))
        if self.beside.masks is not None:
            explained = replace(explained, notes=(*explained.notes, _MASKS_APART))
        return explained if forecast is None else replace(explained, reuse=tuple(forecast.lines()))

    def forecast(self, samples: int, part_images: float) -> Forecast | None:
        """What `reuse` brings for so many samples of this rank, so many of which are run together.

        None without it.
        """
        reusing = self.reusing
        if reusing is None:
            return None
        costs, image_bytes = part_costs(self._task(), reusing.plain)
        return Forecast(reusing.asked, reusing.cut, samples, image_bytes, costs, part_images)

    @property
    def rules_change_no_byte(self) -> bool:
        """Whether batches are the same whichever rules are chosen."""
        options = self.options
        return options.fidelity == "exact" and not options.allow

    def no_rules(self) -> ChosenRules:
        """Do what was written; nothing is looked at for that."""
        return ChosenRules((), ((),) * len(self.plan.views))

    def choose_rules(self) -> ChosenRules:
        """Plan: look at some samples, and choose the rules that pay."""
        if self.library is not None:
            return ChosenRules((), ())
        task = self._task()
        return ChosenRules(choose_rules(task), choose_view_rules(task))

    def make_runner(
        self, chosen: ChosenRules, ledger: Ledger, witness: Witness | None = None
    ) -> PartRunner:
        """Start the threads that run parts of batches; a witness is told what is drawn.

        With a witness, the work is done here.
        """
        options = self.options
        failures = Failures(options.on_error, self.source, ledger, self.selection.allowed())
        setup = RunSetup(
            self.beside,
            self.plan,
            options,
            failures,
            rules=chosen.rules,
            view_rules=chosen.of_views,
            reusing=self.reusing,
            witness=witness,
        )
        layout = self.output.layout
        if self.library is not None:
            return LibraryRunner(setup, self.library, layout)
        check_installed_pillow()
        finals = [view.final for view in self.plan.views or (self.plan,)]
        formats = [_format_of(final, layout) for final in finals]
        if self.elsewhere is not None and witness is None:
            return self.elsewhere(setup, formats)
        runner = ViewRunner if self.plan.views else NativeRunner
        return runner(setup, formats)

    def _task(self) -> PlanTask:
        return PlanTask(
            self.source,
            self.beside.targets,
            self.plan,
            self.options,
            self.seed,
            self.output.layout,
        )


def _format_of(final: FinalSpec, layout: Layout) -> Format:
    return Format(
        final.element,
        layout,
        final.scale,
        list(final.mean),
        list(final.std),
        final.divisor,
        list(final.gain),
    )
