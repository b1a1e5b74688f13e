"""Exclusion rules: which apply, whom they exclude, and whether the results hold without them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from empathylab.analysis.ratings.mixed_model_prose import readable
from empathylab.analysis.ratings.mixed_models import doubtful, holm_by_term
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.raters import known_columns
from empathylab.analysis.results import ALPHA
from empathylab.analysis.text.apa import contingency_text, counted, listed, p_text
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number, signed
from empathylab.errors import InputError, UnknownName, UserError
from empathylab.stats.arms import ArmComparison, ArmTest
from empathylab.stats.arms.means import MeanComparison, MeanDifference
from empathylab.stats.questionnaires.inconsistency import Inconsistencies
from empathylab.stats.raters.exclusions import (
    AutomationSigns,
    Exclusions,
    FailedAttention,
    Inconsistent,
    Rule,
    TooFast,
    WithAndWithout,
    rules_from,
)
from empathylab.store.ratings import Study


def declared_rules(
    study: Study, raters: pl.DataFrame, contradictions: Inconsistencies | None
) -> tuple[list[Rule], tuple[str, ...]]:
    """The study's own rules, and those of them that cannot be applied."""
    applied: list[Rule] = []
    unmet: list[str] = []
    for rule in rules_from(study.exclusions):
        try:
            check_rules([rule], raters, contradictions, study)
        except UserError:
            unmet.append(rule_text(rule))
        else:
            applied.append(rule)
    return applied, tuple(unmet)


def rule_text(rule: Rule) -> str:
    """What the raters did whom the rule excludes: `took less than 120 seconds`."""
    if isinstance(rule, FailedAttention):
        most = f"more than {counted(rule.most, 'attention check')}"
        return f"failed {most if rule.most else 'an attention check'}"
    if isinstance(rule, TooFast):
        if rule.seconds is None:
            return f"took less than {rule.fraction_of_median:.3g} of the median time"
        return f"took less than {rule.seconds:g} {'second' if rule.seconds == 1 else 'seconds'}"
    if isinstance(rule, Inconsistent):
        return f"contradicted their own answers more than {counted(rule.most, 'time')}"
    if isinstance(rule, AutomationSigns):
        return f"showed a sign of AI assistance or of a bot ({', '.join(rule.signs)})"
    sentences = []
    if rule.share == 1:
        sentences.append("always gave the same rating")
    elif rule.share is not None:
        sentences.append(f"gave the same rating in {rule.share:.0%} of cases or more")
    if rule.longest is not None:
        sentences.append(f"gave the same rating {rule.longest} or more times in a row")
    return " or ".join(sentences)


def check_rules(
    rules: Sequence[Rule],
    raters: pl.DataFrame,
    contradictions: Inconsistencies | None,
    study: Study,
) -> None:
    """Raises where a rule needs what the study does not know about its raters."""
    columns = known_columns(raters)
    for rule in rules:
        if isinstance(rule, Inconsistent) and contradictions is None:
            raise InputError(
                "no rater answered a questionnaire with reversed items, so contradictions cannot "
                "be counted",
                where=f"study {study.name}",
                remedy="Import the raters' answers, for example to the TEQ, or omit "
                "--inconsistent.",
            )
        needed = [rule.column] if isinstance(rule, FailedAttention) else []
        if isinstance(rule, AutomationSigns):
            needed = [rule.columns[sign] for sign in rule.signs]
        for column in needed:
            if column not in columns:
                where = f"study {study.name}"
                raise UnknownName("column about raters", column, columns, where=where)


def kept_ratings(excluded: Exclusions, ratings: pl.DataFrame, reference: str) -> pl.DataFrame:
    """The ratings without those of the excluded raters; the reference arm must have some left."""
    kept = excluded.keep(ratings)
    for name in ratings["dimension"].unique().to_list():
        if not (kept.filter(dimension=name)["arm"] == reference).any():
            raise InputError(
                f"the exclusion rules leave no rating of {name} in the reference arm {reference!r}",
                remedy="Relax them, choose another --reference, or use --everybody.",
            )
    return kept


def exclusions_paragraph(exclusions: Exclusions) -> str:
    """Which raters each rule excludes, and whether the arms lose similar numbers."""
    if not exclusions.rules:
        return "No exclusion rule was declared; all raters were kept."
    rules = " or ".join(rule_text(rule) for rule in exclusions.rules)
    sentences = [f"Raters who {rules} were excluded."]
    lost = [
        f"{before - exclusions.kept[arm]} of {counted(before, 'rater')} of {name_of(arm)}"
        for arm, before in exclusions.raters.items()
    ]
    sentences.append(f"This excluded {listed(lost)}.")
    test = exclusions.alike
    if test.method != "none":
        if test.p < ALPHA:
            sentences.append(
                f"The arms lost unequal numbers of raters ({contingency_text(test)}): the "
                "remaining raters are no longer a random sample of those assigned, so prefer the "
                "results of all raters."
            )
        else:
            sentences.append(f"The arms lost similar numbers of raters ({contingency_text(test)}).")
    unknown = sum(count.unknown for count in exclusions.counts)
    if unknown:
        sentences.append(
            f"In {counted(unknown, 'case')} a rule could not be applied because a value was "
            "missing; these raters were kept."
        )
    return " ".join(sentences)


def robustness_paragraph(
    analyses: WithAndWithout[ArmComparison], dimensions: Collection[str] | None = None
) -> str:
    """Whether the results hold without the excluded raters, arm by arm, on these dimensions or all.

    By the cluster-robust test; by the chi-square test where there is none.
    """
    kept = {(test.dimension, test.arm): test for test in analyses.kept.tests if test.kind == "all"}
    said, ways = [], []
    for item in analyses.everybody.tests:
        other = kept.get((item.dimension, item.arm))
        if item.kind != "all" or other is None:
            continue
        if dimensions is not None and item.dimension not in dimensions:
            continue
        clustered = not (math.isnan(item.clustered.p) or math.isnan(other.clustered.p))
        (p, text), (p_kept, text_kept) = (_judged(test, clustered) for test in (item, other))
        if math.isnan(p) or math.isnan(p_kept):
            continue
        ways.append(clustered)
        gaps = [test.risk_difference.estimate for test in (item, other)]
        dimension = f" on {item.dimension}" if len(analyses.everybody.scales) > 1 else ""
        said.append(
            f"Without the excluded raters, the difference of {name_of(item.arm)} from "
            f"{name_of(item.reference)}"
            f"{dimension} is {signed(100 * gaps[1])} percentage points ({text_kept}), with them "
            f"{signed(100 * gaps[0])} ({text}): {_conclusion(p, p_kept, gaps)}."
        )
    if all(ways) and ways:
        said.append("These comparisons use the cluster-robust test.")
    elif ways:
        said.append(
            "Where there is no cluster-robust test, they use the chi-square test, which treats "
            "ratings as independent."
        )
    return " ".join(said)


def mean_robustness(everybody: Sequence[MeanComparison], kept: Sequence[MeanComparison]) -> str:
    """Whether the differences of means hold without the excluded raters, arm by arm."""
    others = {
        (item.dimension, gap.arm): gap
        for item in kept
        for gap in item.differences
        if gap.kind == "all"
    }
    sentences = []
    for item in everybody:
        for gap in item.differences:
            other = others.get((item.dimension, gap.arm))
            if gap.kind != "all" or other is None or math.isnan(gap.p) or math.isnan(other.p):
                continue
            gaps = [gap.difference.estimate, other.difference.estimate]
            sentences.append(
                f"Without the excluded raters, the mean {item.dimension} of {name_of(gap.arm)} "
                f"differs from that of {name_of(gap.reference)} by {signed(gaps[1], 2)} "
                f"({_mean_test(other)}), with them by {signed(gaps[0], 2)} ({_mean_test(gap)}): "
                f"{_conclusion(gap.p_holm, other.p_holm, gaps)}."
            )
    return " ".join(sentences)


def model_robustness(everybody: Sequence[DimensionModel], kept: Sequence[DimensionModel]) -> str:
    """The arms' coefficients of the mixed models with and without the excluded raters."""
    others = {item.dimension: item for item in kept if not item.by_valence}
    sentences = []
    for item in everybody:
        other = others.get(item.dimension)
        if item.by_valence or item.model is None or other is None or other.model is None:
            continue
        several = f" of {item.dimension}" if len(others) > 1 else ""
        parts = [
            f"{readable(item.model, name)} is {_coefficient(other, name)} without the excluded "
            f"raters and {_coefficient(item, name)} with them"
            for name in item.model.coefficients
            if name.startswith("arm")
        ]
        sentences.append(f"In the mixed model{several}, {'; '.join(parts)}.")
    return " ".join(sentences)


def _coefficient(dimension_model: DimensionModel, name: str) -> str:
    model = dimension_model.model
    if model is None or name not in model.coefficients or name in doubtful(model):
        return "not estimable"
    effects: dict[str, Any] = {**model.coefficients, **dimension_model.tests}
    p, several = holm_by_term(model, effects)[name], len(model.design.factors["arm"]) > 2
    test = p_text(p, "Holm-corrected p" if several else "p")
    return f"b = {number(effects[name].estimate, 3)} ({test})"


def _judged(test: ArmTest, clustered: bool) -> tuple[float, str]:
    """The p value that decides, and the test it comes from."""
    if not clustered:
        return test.p, contingency_text(test.test)
    clustered_test = test.clustered
    statistic = f"t({number(clustered_test.df)}) = {number(clustered_test.t, 2)}"
    if test.family_size > 1:
        p = test.clustered_p_holm
        return p, f"{statistic}, {p_text(p, 'Holm-corrected p')}"
    return clustered_test.p, f"{statistic}, {p_text(clustered_test.p)}"


def _mean_test(gap: MeanDifference) -> str:
    several = gap.family_size > 1
    p = p_text(gap.p_holm, "Holm-corrected p") if several else p_text(gap.p)
    return f"t({number(gap.df)}) = {number(gap.t, 2)}, {p}"


def _conclusion(p: float, p_kept: float, gaps: Sequence[float]) -> str:
    same = (p < ALPHA) == (p_kept < ALPHA) and (gaps[0] * gaps[1] > 0 or p >= ALPHA)
    return f"the conclusion {'holds' if same else 'changes'}"
