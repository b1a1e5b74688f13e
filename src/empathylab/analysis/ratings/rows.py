"""The comparison of rated arms as plain rows: the shape that `analyze ratings --json` promises."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from empathylab.analysis.json_values import interval_columns, picked
from empathylab.analysis.results import Conclusion
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, p_value, signed, with_ends
from empathylab.stats.arms import ArmComparison, ArmCount, ArmTest, Estimate
from empathylab.stats.arms.means import MeanComparison, MeanDifference
from empathylab.stats.arms.within import PairedComparison
from empathylab.stats.raters.comparability import RaterComparison

_COUNT_HEADS = ("dimension", "arm", "situations", "n")


def arm_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per arm and dimension: all its ratings."""
    return [
        picked(count, "arm dimension n raters counts percent good good_share mean sd")
        for count in comparison.counts
        if count.kind == "all"
    ]


def comparison_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per arm, dimension and subset against the reference, the contract's names first."""
    return [_test_row(test) for test in comparison.tests]


def mean_arm_rows(means: Sequence[MeanComparison]) -> list[dict[str, Any]]:
    """One row per arm and dimension compared by means, in the shape of `arm_rows`."""
    return [
        {
            "arm": mean.arm,
            "dimension": comparison.dimension,
            **picked(mean, "n raters"),
            "counts": {},
            "percent": {},
            **interval_columns("mean", mean.mean),
            **picked(mean, "sd"),
        }
        for comparison in means
        for mean in comparison.means
        if mean.kind == "all"
    ]


def conclusion_table(conclusions: Sequence[Conclusion]) -> list[dict[str, str]]:
    """The conclusions as a paper prints them."""
    return [
        {
            "dimension": conclusion.dimension or "",
            "arm": conclusion.subject,
            "reference": conclusion.reference or "–",
            "situations": _subset(conclusion.subset or ""),
            "estimate": _with_interval(conclusion),
            "unit": conclusion.unit,
            "p": p_value(conclusion.p),
            "p adjusted": p_value(conclusion.p_adjusted),
            "conclusion": conclusion.kind,
            "model": conclusion.model or "–",
        }
        for conclusion in conclusions
    ]


def count_table(
    comparison: ArmComparison, kind: str = "all", *, named: bool = False
) -> list[dict[str, str]]:
    """The counts with percentages as a paper prints them; kind is all, valence or emotion.

    Every row has the same columns; of several dimensions, or where `named`, each names its own.
    """
    named = named or len(comparison.scales) > 1
    labels = dict.fromkeys(label for count in comparison.counts for label in count.counts)
    rows = []
    for count in comparison.counts:
        if count.kind == kind:
            cells = _named(count.dimension, named=named)
            cells |= {
                "arm": count.arm,
                "situations": _subset(count.subset),
                "n": number(count.n, 0),
            }
            for label in labels:
                head = f"rated {label}" if label in _COUNT_HEADS else label
                cells[head] = _share_cell(count, label)
            rows.append(cells)
    return rows


def comparison_table(
    comparison: ArmComparison, kind: str = "all", *, named: bool = False
) -> list[dict[str, str]]:
    """The tests as a paper prints them; kind is all, valence or emotion."""
    named = named or len(comparison.scales) > 1
    return [
        _named(test.dimension, named=named) | _test_cells(test)
        for test in comparison.tests
        if test.kind == kind
    ]


def mean_table(
    means: Sequence[MeanComparison], kind: str = "all", *, named: bool = True
) -> list[dict[str, str]]:
    """Means and their differences from the reference as a paper prints them.

    Rows name their dimension, unless `named` is False.
    """
    rows = []
    for comparison in means:
        gaps = {(gap.arm, gap.subset): gap for gap in comparison.differences}
        for mean in comparison.means:
            if mean.kind == kind:
                cells = _named(comparison.dimension, named=named) | {
                    "arm": mean.arm,
                    "situations": _subset(mean.subset),
                    "n": number(mean.n, 0),
                    "mean": _with_interval(mean.mean),
                    "SD": number(mean.sd, 2),
                }
                rows.append(cells | _gap_cells(gaps.get((mean.arm, mean.subset))))
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


def _with_interval(item: Estimate | Conclusion) -> str:
    return with_ends(item.estimate, item.low, item.high, digits=2)


def _named(dimension: str, *, named: bool) -> dict[str, str]:
    return {"dimension": dimension} if named else {}


def of_arm(arm: str) -> str:
    """The heading of an arm's column, which no other column can have, however arms are named."""
    return f"of {arm}"


def rater_table(comparison: RaterComparison) -> list[dict[str, str]]:
    """What is known of the arms' raters, a row per number and per level of a property."""
    rows = []
    for item in comparison.numeric:
        cells = {"variable": item.variable, "level": ""}
        cells |= {of_arm(arm.arm): f"{number(arm.mean)} ({number(arm.sd)})" for arm in item.arms}
        worst = max((pair.equivalence.p for pair in item.differences), default=math.nan)
        test = (
            f"F({item.welch.df}, {number(item.welch.df_denominator)}) = {number(item.welch.f, 2)}"
        )
        rows.append(cells | _p_cells(test, item.p, item.p_holm, worst))
    for two in comparison.categorical:
        for place, level in enumerate(two.levels):
            cells = {"variable": two.variable if place == 0 else "", "level": level}
            for arm, counts in zip(two.arms, two.counts, strict=True):
                share = 100 * counts[place] / sum(counts) if sum(counts) else math.nan
                cells[of_arm(arm)] = f"{counts[place]} ({number(share)}%)"
            test = f"χ²({two.test.df}) = {number(two.test.chi2, 2)}"
            tests = _p_cells(test, two.p, two.p_holm, math.nan)
            rows.append(cells | (tests if place == 0 else dict.fromkeys(tests, "")))
    return rows


def _p_cells(test: str, p: float, p_holm: float, p_tost: float) -> dict[str, str]:
    return {
        "test": "–" if math.isnan(p) else test,
        "p": p_value(p),
        "p Holm": p_value(p_holm),
        "p TOST": p_value(p_tost),
    }


def _test_row(test: ArmTest) -> dict[str, Any]:
    row = picked(test, "arm reference dimension subset n n_reference good good_reference")
    for name in ("relative_gain_percent", "risk_difference", "odds_ratio"):
        row |= interval_columns(name, getattr(test, name))
    row |= picked(test.test, "chi2 df")
    row |= picked(test, "p p_holm p_bh p_bonferroni")
    row |= picked(test.test, "correction method p_chi2")
    row |= picked(test, "family family_size")
    row |= picked(test.test, "smallest_expected cramers_v cohens_w")
    row |= picked(test, "categories ranks clustered clustered_p_holm clustered_p_bh")
    return row | {"note": note_text(test.test.note)}


def _share_cell(count: ArmCount, label: str) -> str:
    if label not in count.counts:
        return ""
    return f"{number(count.counts[label], 0)} ({number(count.percent[label])}%)"


def _test_cells(test: ArmTest) -> dict[str, str]:
    difference = test.risk_difference
    return {
        "arm": test.arm,
        "situations": _subset(test.subset),
        "good": f"{test.good}/{test.n}",
        "good (reference)": f"{test.good_reference}/{test.n_reference}",
        "gain": _gain(test.relative_gain_percent.estimate),
        "difference (Newcombe)": (
            f"{signed(100 * difference.estimate, 2)} "
            f"[{signed(100 * difference.low, 2)}, {signed(100 * difference.high, 2)}]"
        ),
        "χ²": number(test.test.chi2, 2),
        "p": p_value(test.p),
        "p Holm": p_value(test.p_holm),
        "p BH": p_value(test.p_bh),
        "p clustered": p_value(test.clustered.p),
    }


def _gain(percent: float) -> str:
    return "–" if math.isnan(percent) else f"{signed(percent)}%"


def _subset(name: str) -> str:
    return name.removeprefix("emotion:")


def paired_table(comparison: PairedComparison) -> list[dict[str, str]]:
    """A row for each arm against the reference, by dimension and subset."""
    return [
        {
            "dimension": test.dimension,
            "arm": test.arm,
            "situations": _subset(test.subset),
            "pairs": number(test.n, 0),
            "good": number(test.good, 0),
            "good (reference)": number(test.good_reference, 0),
            "McNemar χ²": number(test.mcnemar.chi2 if test.mcnemar else None, 2),
            "Wilcoxon V": number(test.ranks.v, 1),
            "p": p_value(test.p),
            "p Holm": p_value(test.p_holm),
        }
        for test in comparison.tests
    ]


def all_arms_table(comparison: PairedComparison) -> list[dict[str, str]]:
    """A row for each dimension and subset: Cochran's Q of good ratings, Friedman's of ranks."""
    return [
        {
            "dimension": item.dimension,
            "situations": _subset(item.subset),
            "arms": number(len(item.arms), 0),
            "units": number(item.n, 0),
            "Cochran Q": number(item.cochran.statistic if item.cochran else None, 2),
            "p (Cochran)": p_value(item.cochran.p if item.cochran else None),
            "Friedman χ²": number(item.friedman.statistic, 2),
            "p (Friedman)": p_value(item.friedman.p),
        }
        for item in comparison.overall
    ]


def row_scalars(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with an estimate's interval as columns, without other nested values."""
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            if {"estimate", "low", "high"} <= set(value):
                columns[name] = value["estimate"]
                columns |= {f"{name}_{end}": value[end] for end in ("low", "high")}
            elif name == "clustered":
                columns |= {"clustered_t": value["t"], "clustered_p": value["p"]}
            elif name in ("counts", "percent"):
                columns |= {f"{name} {label}": part for label, part in value.items()}
        elif not isinstance(value, list):
            columns[name] = value
    return columns
