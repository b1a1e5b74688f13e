"""What limits the results of an appraisal, a sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterable

from empathylab.analysis.appraisal.self_reports import SelfReport, validity_sentences
from empathylab.analysis.text.names import listed_some
from empathylab.stats.questionnaires.appraisal import ScaleChange

_FEW = 10


def doubts(reports: Iterable[SelfReport]) -> list[str]:
    """A sentence for self-reports that are not usable, with the reasons."""
    return validity_sentences([report for report in reports if report.validity.verdict != "usable"])


def few_scores(changes: Iterable[ScaleChange]) -> list[str]:
    """That some emotions have few scores, if so."""
    if all(change.n >= _FEW for change in changes if change.level == "emotion"):
        return []
    sentence = (
        f"With fewer than {_FEW} scores per emotion, results by emotion are a first look, not a "
        "test: the dots show every single score."
    )
    return [sentence]


def order_caveats(changes: Iterable[ScaleChange]) -> list[str]:
    """What the item orders of each respondent leave open, a sentence each."""
    names: dict[str, list[str]] = {}
    for change in changes:
        if change.level == "overall" and (sentence := order_caveat(change)):
            named = names.setdefault(sentence, [])
            named += [change.respondent] if change.respondent not in named else []
    return [f"{listed_some(named)}: {sentence}" for sentence, named in names.items()]


def no_interval(change: ScaleChange) -> str:
    """Why a change has no interval."""
    untested = math.isnan(change.cluster_se) and change.clusters > 1
    if change.baseline_orders == 1 and untested:
        return "one item order at baseline, so the change cannot be tested"
    if untested and change.default_n < 2:
        return "too few scores at baseline"
    return "the scores do not vary"


def order_caveat(change: ScaleChange) -> str:
    if change.baseline_orders == 0 or change.test == "paired":
        return ""
    remedy = "Run `empathylab appraise` with the same number in --default-orders and --orders"
    if change.baseline_orders == 1 and math.isnan(change.cluster_se):
        return (
            "with one item order at baseline, a change cannot be separated from a difference "
            f"between prompts, so it is not tested. {remedy}, two or more."
        )
    if change.baseline_orders == 1:
        return "the change was measured in one item order and applies to that order only."
    if change.shared_orders < 2:
        return (
            f"the baseline has {change.baseline_orders} item orders and shares "
            f"{change.shared_orders} with the answers after situations, so the interval allows "
            f"for any difference between orders. {remedy} for a narrower one."
        )
    return ""
