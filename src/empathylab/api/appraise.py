"""A scale at baseline and after situations: from the caller's options to the runner's plans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from empathylab.api.run_options import Mode, RunOptions, require_at_least

if TYPE_CHECKING:
    from empathylab.runs import Plan
    from empathylab.store import Lab


@dataclass(frozen=True, slots=True)
class AppraisalOptions:
    """Which scale is given after which situations, and how often."""

    scale: str = "panas"
    situation_set: str = "appraisal"
    language: str | None = None
    emotion: str | None = None
    factor: str | None = None
    situations: int = 3
    per_factor: int | None = None
    mode: Mode = "structured"
    default_orders: int = 4
    orders: int = 1
    repeats: int = 1
    counterparts: bool = False
    stable: bool = False
    template: str | Path | None = None

    def __post_init__(self) -> None:
        require_at_least(
            1,
            situations=self.situations,
            per_factor=self.per_factor,
            default_orders=self.default_orders,
            orders=self.orders,
            repeats=self.repeats,
        )

    def plans(self, lab: Lab, model: str, options: RunOptions) -> list[Plan]:
        """The requests to one model."""
        from empathylab.protocols import Appraisal, plan_appraisal, read_appraisal_template
        from empathylab.protocols.translations import (
            questionnaire_in_language,
            scale_in_language,
            set_in_language,
        )
        from empathylab.store import lab_situation_set

        whole = lab_situation_set(lab, set_in_language(lab, self.situation_set, self.language))
        fitting = whole.only(emotion=self.emotion, factor=self.factor)
        appraisal = Appraisal(
            scale=scale_in_language(lab, self.scale, self.language),
            situation_set=whole,
            situations=(
                fitting.first_per_group(self.situations)
                if self.per_factor is None
                else fitting.first_per_factor(self.per_factor)
            ),
            mode=self.mode,
            default_orders=self.default_orders,
            orders=self.orders,
            repeats=self.repeats,
            temperature=0.0 if options.temperature is None else options.temperature,
            seed=options.seed,
            counterparts=self.counterparts,
            stable=self.stable,
            template=questionnaire_in_language(self.language)
            if self.template is None
            else read_appraisal_template(Path(self.template)),
        )
        return [plan_appraisal(lab, model, appraisal)]
