"""A scale at baseline and after situations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from empathylab.api.run_options import Mode, RunKeywords, RunOptions, require_at_least
from empathylab.api.workspace import Workspace

if TYPE_CHECKING:
    from empathylab.api.run_results import RunResult
    from empathylab.models import Model
    from empathylab.runs import Plan
    from empathylab.store import Lab


def appraise(
    workspace: Workspace,
    *models: str | Model,
    scale: str = "panas",
    situation_set: str = "appraisal",
    language: str | None = None,
    emotion: str | None = None,
    factor: str | None = None,
    situations: int = 3,
    per_factor: int | None = None,
    mode: Mode = "structured",
    default_orders: int = 4,
    orders: int = 1,
    repeats: int = 1,
    counterparts: bool = False,
    stable: bool = False,
    template: str | Path | None = None,
    report: bool = False,
    **options: Unpack[RunKeywords],
) -> RunResult:
    """Gives models a scale at baseline and after they imagine situations.

    `situations` is their number for each emotion, `per_factor` for each factor instead.
    `default_orders` baseline administrations, each in a different item order, are compared with
    `orders` item orders after each situation.
    """
    from empathylab.store import lab_scale

    require_at_least(1, situations=situations, per_factor=per_factor, repeats=repeats)
    require_at_least(1, default_orders=default_orders, orders=orders)
    run = RunOptions.of(options)

    def plans(lab: Lab, model: str) -> list[Plan]:
        from empathylab.protocols import Appraisal, plan_appraisal, read_appraisal_template
        from empathylab.protocols.translations import (
            questionnaire_in_language,
            scale_in_language,
            set_in_language,
        )
        from empathylab.store import lab_situation_set

        whole = lab_situation_set(lab, set_in_language(lab, situation_set, language))
        fitting = whole.only(emotion=emotion, factor=factor)
        appraisal = Appraisal(
            scale=scale_in_language(lab, scale, language),
            situation_set=whole,
            situations=(
                fitting.first_per_group(situations)
                if per_factor is None
                else fitting.first_per_factor(per_factor)
            ),
            mode=mode,
            default_orders=default_orders,
            orders=orders,
            repeats=repeats,
            temperature=0.0 if run.temperature is None else run.temperature,
            seed=run.seed,
            counterparts=counterparts,
            stable=stable,
            template=questionnaire_in_language(language)
            if template is None
            else read_appraisal_template(Path(template)),
        )
        return [plan_appraisal(lab, model, appraisal)]

    lab_scale(workspace.store(create=True), scale)  # a misspelt name, before weights or a key
    return workspace.ask(models, plans, run, report=report)
