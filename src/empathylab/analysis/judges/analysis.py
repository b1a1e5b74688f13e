"""The judges of a study, or of a table, held against people; with the style judge as the floor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from empathylab.analysis.judges.calibration import CalibrationPlan, calibrate
from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.judges.frames import JudgedRatings, judged_from_lab
from empathylab.analysis.judges.prose import several_ways
from empathylab.analysis.judges.style_judge import STYLE_JUDGE, style_judgements
from empathylab.errors import InputError, UserError
from empathylab.store import Lab
from empathylab.store.ratings import lab_study
from empathylab.study.admin.embargo import require_closed

PANEL = "panel"
"""The name of all judges together."""


@dataclass(frozen=True, slots=True)
class JudgesAnalysis:
    """Everything `analyze judges` gives."""

    study: str
    """Empty for a table."""
    cards: tuple[JudgeCard, ...]
    notes: tuple[str, ...]
    """What was left out, and why; a sentence each."""


def study_judged(
    lab: Lab, study: str | None = None, *, peek: str | None = None, who: str = "researcher"
) -> JudgedRatings:
    """What judges and people said of a study's responses; without a name, of the only study.

    A study that this lab runs must be closed, unless there is a reason to `peek`, which the audit
    log keeps with `who` gave it.
    """
    chosen = lab_study(lab, study)
    require_closed(lab, chosen, peek=peek, who=who)
    return judged_from_lab(lab, chosen.name)


def analyse_judges(
    lab: Lab,
    study: str | None = None,
    *,
    plan: CalibrationPlan | None = None,
    style: bool = True,
    panel: bool = False,
) -> JudgesAnalysis:
    """The cards of the judges of a closed study of the lab; without a name, of the only one."""
    return analyse_judged(study_judged(lab, study), plan=plan, style=style, panel=panel)


def analyse_judged(
    judged: JudgedRatings,
    *,
    plan: CalibrationPlan | None = None,
    style: bool = True,
    panel: bool = False,
) -> JudgesAnalysis:
    """The cards of those judges; with `panel`, of all of them together; with `style`, of the
    style judge too, where the replies' texts are known."""
    notes = [f"Rows that could not be used: {judged.dropped}."] if judged.dropped else []
    notes += [several_ways(name, count) for name, count in judged.ways.items()]
    plan = plan or CalibrationPlan()
    if panel:
        members = tuple(dict.fromkeys(judged.judges["judge"]))
        judged, plan = _with_panel(judged), replace(plan, panels={PANEL: members})
    if style:
        judged, note = _with_style(judged, plan)
        notes += [note] if note else []
    # Models first, then all of them together, then the floor.
    last = {PANEL: 1, STYLE_JUDGE: 2}
    cards = sorted(calibrate(judged, plan), key=lambda card: last.get(card.judge, 0))
    return JudgesAnalysis(judged.study, tuple(cards), tuple(notes))


def _with_panel(judged: JudgedRatings) -> JudgedRatings:
    """With all judges together as one more, each counting once: the median of their ratings, and
    the mean of what they expect."""
    if judged.judges["judge"].n_unique() < 2:
        raise InputError(
            "a panel needs two judges or more",
            got=", ".join(judged.judge_names),
            remedy="Leave out --panel, or let another model judge.",
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
        return judged, "The style judge is left out: the replies' texts are not known."
    known = judged.people.join(judged.responses, on="response", how="left", maintain_order="left")
    found = []
    try:
        for (dimension,), rows in known.group_by("dimension", maintain_order=True):
            told = style_judgements(rows, seed=plan.seed)
            found.append(told.with_columns(dimension=pl.lit(dimension)))
        return judged.with_judge(STYLE_JUDGE, pl.concat(found)), ""
    except InputError as error:
        return judged, f"The style judge is left out: {_said(error)}"


def _said(error: UserError) -> str:
    return str(error)[:1].lower() + str(error)[1:]
