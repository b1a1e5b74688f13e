"""The comparison of rated arms as plain rows: the shape that `analyze ratings --json` promises."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from empathylab.analysis.json_values import json_value
from empathylab.analysis.ratings.exclusions import rule_text
from empathylab.analysis.results import Conclusion
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, p_value, signed
from empathylab.stats.arms import ArmComparison, ArmCount, ArmTest, Estimate
from empathylab.stats.arms.means import MeanComparison, MeanDifference
from empathylab.stats.arms.within import PairedArmsTest, PairedComparison, PairedTest
from empathylab.stats.raters.comparability import RaterComparison
from empathylab.stats.raters.exclusions import Exclusions

_COUNT_HEADS = ("dimension", "arm", "situations", "n")


def arm_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per arm and dimension: all its ratings."""
    return [
        {
            "arm": one.arm,
            "dimension": one.dimension,
            "n": one.n,
            "raters": one.raters,
            "counts": dict(one.counts),
            "percent": dict(one.percent),
            "good": one.good,
            "good_share": json_value(one.good_share),
            "mean": json_value(one.mean),
            "sd": json_value(one.sd),
        }
        for one in comparison.counts
        if one.kind == "all"
    ]


def subset_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per arm, dimension and subset, the counts by category."""
    return [json_value(one) for one in comparison.counts]


def comparison_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per arm, dimension and subset against the reference, the contract's names first."""
    return [_test_row(one) for one in comparison.tests]


def overall_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per dimension and subset: all arms at once."""
    return [json_value(one) for one in comparison.overall]


def mean_rows(means: Sequence[MeanComparison]) -> list[dict[str, Any]]:
    """One row per dimension compared by means: the arms' means, and the differences of them."""
    return [json_value(one) for one in means]


def mean_arm_rows(means: Sequence[MeanComparison]) -> list[dict[str, Any]]:
    """One row per arm and dimension compared by means, in the shape of `arm_rows`."""
    return [
        {
            "arm": one.arm,
            "dimension": found.dimension,
            "n": one.n,
            "raters": one.raters,
            "counts": {},
            "percent": {},
            "mean": json_value(one.mean.estimate),
            "mean_low": json_value(one.mean.low),
            "mean_high": json_value(one.mean.high),
            "sd": json_value(one.sd),
        }
        for found in means
        for one in found.means
        if one.kind == "all"
    ]


def conclusion_table(conclusions: Sequence[Conclusion]) -> list[dict[str, str]]:
    """The conclusions as a paper prints them."""
    return [
        {
            "dimension": one.dimension or "",
            "arm": one.subject,
            "reference": one.reference or "–",
            "situations": _subset(one.subset or ""),
            "estimate": _with_interval(Estimate(*map(_or_nan, (one.estimate, one.low, one.high)))),
            "unit": one.unit,
            "p": p_value(_or_nan(one.p)),
            "p adjusted": p_value(_or_nan(one.p_adjusted)),
            "conclusion": one.kind,
            "model": one.model or "–",
        }
        for one in conclusions
    ]


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def count_table(
    comparison: ArmComparison, kind: str = "all", *, named: bool = False
) -> list[dict[str, str]]:
    """The counts with percentages as a paper prints them; kind is all, valence or emotion.

    Every row has the same columns; of several dimensions, or where `named`, each names its own.
    """
    named = named or len(comparison.scales) > 1
    labels = dict.fromkeys(label for one in comparison.counts for label in one.counts)
    rows = []
    for one in comparison.counts:
        if one.kind == kind:
            cells = _named(one.dimension, named=named)
            cells |= {"arm": one.arm, "situations": _subset(one.subset), "n": number(one.n, 0)}
            for label in labels:
                head = f"rated {label}" if label in _COUNT_HEADS else label
                cells[head] = _share_cell(one, label)
            rows.append(cells)
    return rows


def comparison_table(
    comparison: ArmComparison, kind: str = "all", *, named: bool = False
) -> list[dict[str, str]]:
    """The tests as a paper prints them; kind is all, valence or emotion."""
    named = named or len(comparison.scales) > 1
    return [
        _named(one.dimension, named=named) | _test_cells(one)
        for one in comparison.tests
        if one.kind == kind
    ]


def mean_table(means: Sequence[MeanComparison], kind: str = "all") -> list[dict[str, str]]:
    """Means and their differences from the reference as a paper prints them."""
    rows = []
    for found in means:
        gaps = {(one.arm, one.subset): one for one in found.differences}
        for one in found.means:
            if one.kind == kind:
                cells = {
                    "dimension": found.dimension,
                    "arm": one.arm,
                    "situations": _subset(one.subset),
                    "n": number(one.n, 0),
                    "mean": _with_interval(one.mean),
                    "SD": number(one.sd, 2),
                }
                rows.append(cells | _gap_cells(gaps.get((one.arm, one.subset))))
    return rows


def _gap_cells(gap: MeanDifference | None) -> dict[str, str]:
    if gap is None:
        return dict.fromkeys(("difference of means", "g", "p", "p Holm"), "")
    return {
        "difference of means": _with_interval(gap.difference),
        "g": number(gap.g.estimate, 2),
        "p": p_value(gap.p),
        "p Holm": p_value(gap.p_holm),
    }


def _with_interval(found: Estimate) -> str:
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return number(found.estimate, 2)
    return f"{number(found.estimate, 2)} [{number(found.low, 2)}, {number(found.high, 2)}]"


def _named(dimension: str, *, named: bool) -> dict[str, str]:
    return {"dimension": dimension} if named else {}


def of_arm(arm: str) -> str:
    """The heading of an arm's column, which no other column can have, however arms are named."""
    return f"of {arm}"


def rater_table(comparison: RaterComparison) -> list[dict[str, str]]:
    """What is known of the arms' raters, a row per number and per level of a property."""
    rows = []
    for one in comparison.numeric:
        cells = {"variable": one.variable, "level": ""}
        cells |= {of_arm(arm.arm): f"{number(arm.mean)} ({number(arm.sd)})" for arm in one.arms}
        worst = max((pair.equivalence.p for pair in one.differences), default=math.nan)
        test = f"F({one.welch.df}, {number(one.welch.df_denominator)}) = {number(one.welch.f, 2)}"
        rows.append(cells | _p_cells(test, one.p, one.p_holm, worst))
    for two in comparison.categorical:
        for place, level in enumerate(two.levels):
            cells = {"variable": two.variable if place == 0 else "", "level": level}
            for arm, counts in zip(two.arms, two.counts, strict=True):
                share = 100 * counts[place] / sum(counts) if sum(counts) else math.nan
                cells[of_arm(arm)] = f"{counts[place]} ({number(share)}%)"
            test = f"χ²({two.test.df}) = {number(two.test.chi2, 2)}"
            made = _p_cells(test, two.p, two.p_holm, math.nan)
            rows.append(cells | (made if place == 0 else dict.fromkeys(made, "")))
    return rows


def exclusion_table(exclusions: Exclusions) -> list[dict[str, str]]:
    """How many raters each rule leaves out, by arm, and how many are left."""
    rows: dict[str, dict[str, str]] = {}
    for one in exclusions.counts:
        rule = rule_text(one.rule)
        rows.setdefault(rule, {"rule": rule})[of_arm(one.arm)] = number(one.excluded, 0)
    kept = {of_arm(arm): f"{n} of {exclusions.raters[arm]}" for arm, n in exclusions.kept.items()}
    return [*rows.values(), {"rule": "kept", **kept}]


def _p_cells(test: str, p: float, p_holm: float, p_tost: float) -> dict[str, str]:
    return {
        "test": "–" if math.isnan(p) else test,
        "p": p_value(p),
        "p Holm": p_value(p_holm),
        "p TOST": p_value(p_tost),
    }


def _test_row(one: ArmTest) -> dict[str, Any]:
    row: dict[str, Any] = {
        "arm": one.arm,
        "reference": one.reference,
        "dimension": one.dimension,
        "subset": one.subset,
        "n": one.n,
        "n_reference": one.n_reference,
        "good": one.good,
        "good_reference": one.good_reference,
    }
    for name in ("relative_gain_percent", "risk_difference", "odds_ratio"):
        found: Estimate = getattr(one, name)
        row |= {name: found.estimate, f"{name}_low": found.low, f"{name}_high": found.high}
    row |= {
        "chi2": one.test.chi2,
        "df": one.test.df,
        "p": one.p,
        "p_holm": one.p_holm,
        "p_bh": one.p_bh,
        "p_bonferroni": one.p_bonferroni,
        "correction": one.test.correction,
        "method": one.test.method,
        "p_chi2": one.test.p_chi2,
        "family": one.family,
        "family_size": one.family_size,
        "smallest_expected": one.test.smallest_expected,
        "cramers_v": one.test.cramers_v,
        "cohens_w": one.test.cohens_w,
        "categories": one.categories,
        "ranks": one.ranks,
        "clustered": one.clustered,
        "clustered_p_holm": one.clustered_p_holm,
        "clustered_p_bh": one.clustered_p_bh,
        "note": note_text(one.test.note),
    }
    return {name: json_value(value) for name, value in row.items()}


def _share_cell(one: ArmCount, label: str) -> str:
    if label not in one.counts:
        return ""
    return f"{number(one.counts[label], 0)} ({number(one.percent[label])}%)"


def _test_cells(one: ArmTest) -> dict[str, str]:
    difference = one.risk_difference
    return {
        "arm": one.arm,
        "situations": _subset(one.subset),
        "good": f"{one.good}/{one.n}",
        "good (reference)": f"{one.good_reference}/{one.n_reference}",
        "gain": _gain(one.relative_gain_percent.estimate),
        "difference (Newcombe)": (
            f"{signed(100 * difference.estimate, 2)} "
            f"[{signed(100 * difference.low, 2)}, {signed(100 * difference.high, 2)}]"
        ),
        "χ²": number(one.test.chi2, 2),
        "p": p_value(one.p),
        "p Holm": p_value(one.p_holm),
        "p BH": p_value(one.p_bh),
        "p clustered": p_value(one.clustered.p),
    }


def _gain(percent: float) -> str:
    return "–" if math.isnan(percent) else f"{signed(percent)}%"


def _subset(name: str) -> str:
    return name.removeprefix("emotion:")


def paired_values(one: PairedTest) -> dict[str, Any]:
    """One test as plain numbers; what belongs to McNemar, to ranks and to categories by name."""
    return _flat(one)


def all_arms_values(one: PairedArmsTest) -> dict[str, Any]:
    """The test of all arms at once as plain numbers."""
    return _flat(one) | {"arms": ", ".join(one.arms)}


def paired_table(comparison: PairedComparison) -> list[dict[str, str]]:
    """A row for each arm against the reference, by dimension and subset."""
    return [
        {
            "dimension": one.dimension,
            "arm": one.arm,
            "situations": one.subset.removeprefix("emotion:"),
            "pairs": number(one.n, 0),
            "good": _count(one.good),
            "good (reference)": _count(one.good_reference),
            "McNemar χ²": number(one.mcnemar.chi2 if one.mcnemar else None, 2),
            "Wilcoxon V": number(one.ranks.v, 1),
            "p": p_value(one.p),
            "p Holm": p_value(one.p_holm),
        }
        for one in comparison.tests
    ]


def all_arms_table(comparison: PairedComparison) -> list[dict[str, str]]:
    """A row for each dimension and subset: Cochran's Q of good ratings, Friedman's of ranks."""
    return [
        {
            "dimension": one.dimension,
            "situations": one.subset.removeprefix("emotion:"),
            "arms": number(len(one.arms), 0),
            "units": number(one.n, 0),
            "Cochran Q": number(one.cochran.statistic if one.cochran else None, 2),
            "p (Cochran)": p_value(one.cochran.p if one.cochran else float("nan")),
            "Friedman χ²": number(one.friedman.statistic, 2),
            "p (Friedman)": p_value(one.friedman.p),
        }
        for one in comparison.overall
    ]


def _count(value: int | None) -> str:
    return "–" if value is None else number(value, 0)


def _flat(one: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in dataclasses.fields(one):
        value = getattr(one, field.name)
        if hasattr(value, "estimate"):
            found[field.name] = value.estimate
            found[f"{field.name}_low"], found[f"{field.name}_high"] = value.low, value.high
        elif dataclasses.is_dataclass(value):
            found |= {f"{field.name}_{name}": part for name, part in _flat(value).items()}
        elif value is None or isinstance(value, str | int | float):
            found[field.name] = value
    return found
