"""The judges of a study, or of a table, validated against human ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from empathylab.analysis.cache import cached_when_closed
from empathylab.analysis.judges.calibration import CalibrationPlan, calibrate
from empathylab.analysis.judges.frames import JudgedRatings, judged_from_lab, judged_from_table
from empathylab.analysis.judges.prose import several_setups
from empathylab.analysis.judges.result import JudgesResult
from empathylab.analysis.judges.style_judge import STYLE_JUDGE, style_judgements
from empathylab.analysis.ratings.scales import labels_by_value
from empathylab.errors import InputError, UnknownName, UserError
from empathylab.store import Lab
from empathylab.store.ratings import lab_study
from empathylab.study.admin.embargo import require_closed

PANEL = "panel"
"""The name of all judges together."""


def from_lab(
    lab: Lab,
    study: str | None = None,
    *,
    people: Sequence[str] = (),
    plan: CalibrationPlan | None = None,
    style: bool = True,
    panel: bool = False,
    peek: str | None = None,
    who: str = "researcher",
) -> JudgesResult:
    """The cards of the judges of a study of the lab; without a name, of the only one.

    A study that this lab runs must be closed, unless there is a reason to `peek`, which the audit
    log records with `who` gave it. `people` limits human ratings to these raters.
    """
    chosen = lab_study(lab, study)
    require_closed(lab, chosen, peek=peek, who=who)
    judged = judged_from_lab(lab, chosen.name)
    options = {"people": list(people), "plan": plan, "style": style, "panel": panel}

    def analyse() -> JudgesResult:
        return analyse_judged(judged, people=people, plan=plan, style=style, panel=panel)

    result = cached_when_closed(lab, chosen, "judges", [judged, options], analyse)
    return replace(result, labels=labels_by_value(chosen.dimensions))


def from_table(
    frame: pl.DataFrame,
    *,
    where: str = "ratings",
    levels: Sequence[str | float] | None = None,
    people: Sequence[str] = (),
    plan: CalibrationPlan | None = None,
    style: bool = True,
    panel: bool = False,
) -> JudgesResult:
    """The cards of the judges in a long table of ratings; `judged_from_table` says its columns."""
    judged = judged_from_table(frame, where=where, levels=levels)
    return analyse_judged(judged, people=people, plan=plan, style=style, panel=panel)


def analyse_judged(
    judged: JudgedRatings,
    *,
    people: Sequence[str] = (),
    plan: CalibrationPlan | None = None,
    style: bool = True,
    panel: bool = False,
) -> JudgesResult:
    """The cards of those judges; with `panel`, of all of them together; with `style`, of the
    style judge too, where the replies' texts are known."""
    plan = plan or CalibrationPlan()
    if people:
        judged = judged.by(people)
    _check_families(plan, judged, panel=panel)
    notes = [f"Rows that could not be used: {judged.dropped}."] if judged.dropped else []
    notes += [several_setups(name, count) for name, count in judged.setups.items()]
    if panel:
        members = tuple(dict.fromkeys(judged.judges["judge"]))
        judged, plan = _with_panel(judged), replace(plan, panels={PANEL: members})
    if style:
        judged, note = _with_style(judged, plan)
        notes += [note] if note else []
    # Models first, then all of them together, then the baseline.
    last = {PANEL: 1, STYLE_JUDGE: 2}
    cards = sorted(calibrate(judged, plan), key=lambda card: last.get(card.judge, 0))
    return JudgesResult(judged.study, tuple(cards), tuple(notes))


def _check_families(plan: CalibrationPlan, judged: JudgedRatings, *, panel: bool) -> None:
    """Raises UnknownName for a family of an unknown judge or with an unknown respondent."""
    judges = [*judged.judge_names, *([PANEL] if panel else [])]
    respondents = judged.responses["respondent"].drop_nulls().unique().to_list()
    for judge, names in plan.families.items():
        if judge not in judges:
            raise UnknownName("judge", judge, judges)
        for name in names:
            if name not in respondents:
                raise UnknownName("respondent", name, respondents)


def _with_panel(judged: JudgedRatings) -> JudgedRatings:
    """With all judges together as one more, each counting once: the median of their ratings, and
    the mean of what they expect."""
    if judged.judges["judge"].n_unique() < 2:
        raise InputError(
            "a panel needs two judges or more",
            got=", ".join(judged.judge_names),
            remedy="Remove --panel, or let another model judge.",
        )
    each = judged.judges.group_by("judge", "response", "dimension", maintain_order=True).agg(
        pl.col("rating").median(), pl.coalesce("expected", "rating").mean().alias("expected")
    )
    together = each.group_by("response", "dimension", maintain_order=True).agg(
        pl.col("rating").median(), pl.col("expected").mean()
    )
    return judged.with_judge(PANEL, together)


def _with_style(judged: JudgedRatings, plan: CalibrationPlan) -> tuple[JudgedRatings, str]:
    """With the style judge, or a sentence that says why it is missing."""
    if judged.responses["text"].drop_nulls().is_empty():
        return judged, "The style judge is skipped: the replies' texts are not known."
    known = judged.people.join(judged.responses, on="response", how="left", maintain_order="left")
    judgements = []
    try:
        for (dimension,), rows in known.group_by("dimension", maintain_order=True):
            predicted = style_judgements(rows, seed=plan.seed)
            judgements.append(predicted.with_columns(dimension=pl.lit(dimension)))
        return judged.with_judge(STYLE_JUDGE, pl.concat(judgements)), ""
    except InputError as error:
        return judged, f"The style judge is skipped: {_lowered(error)}"


def _lowered(error: UserError) -> str:
    return str(error)[:1].lower() + str(error)[1:]
