"""The comparison of rated arms as plain rows: the shape that `analyze ratings --json` promises."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from empathylab.report.formats import number, p_value, signed
from empathylab.stats.arms import ArmComparison, ArmCount, ArmTest, Estimate
from empathylab.stats.comparability import RaterComparison
from empathylab.stats.exclusions import Exclusions


def plain(value: Any) -> Any:
    """A result as JSON can hold it: dataclasses as objects, NaN and infinity as null."""
    if isinstance(value, Estimate):
        return {name: plain(part) for name, part in value._asdict().items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


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
            "good_share": plain(one.good_share),
            "mean": plain(one.mean),
            "sd": plain(one.sd),
        }
        for one in comparison.counts
        if one.kind == "all"
    ]


def subset_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per arm, dimension and subset, the counts by category."""
    return [plain(one) for one in comparison.counts]


def comparison_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per arm, dimension and subset against the reference, the contract's names first."""
    return [_test_row(one) for one in comparison.tests]


def overall_rows(comparison: ArmComparison) -> list[dict[str, Any]]:
    """One row per dimension and subset: all arms at once."""
    return [plain(one) for one in comparison.overall]


def count_table(comparison: ArmComparison, kind: str = "all") -> list[dict[str, str]]:
    """The counts with percentages as a paper prints them; kind is all, valence or emotion."""
    return [_count_cells(one) for one in comparison.counts if one.kind == kind]


def comparison_table(comparison: ArmComparison, kind: str = "all") -> list[dict[str, str]]:
    """The tests as a paper prints them; kind is all, valence or emotion."""
    return [_test_cells(one) for one in comparison.tests if one.kind == kind]


def rater_table(comparison: RaterComparison) -> list[dict[str, str]]:
    """What is known of the arms' raters, a row per number and per level of a property."""
    rows = []
    for one in comparison.numeric:
        cells = {"variable": one.variable, "level": ""}
        cells |= {arm.arm: f"{number(arm.mean)} ({number(arm.sd)})" for arm in one.arms}
        worst = max((pair.equivalence.p for pair in one.differences), default=math.nan)
        test = f"F({one.welch.df}, {number(one.welch.df_denominator)}) = {number(one.welch.f, 2)}"
        rows.append(cells | _p_cells(test, one.p, one.p_holm, worst))
    for two in comparison.categorical:
        for place, level in enumerate(two.levels):
            cells = {"variable": two.variable if place == 0 else "", "level": level}
            for arm, counts in zip(two.arms, two.counts, strict=True):
                share = 100 * counts[place] / sum(counts) if sum(counts) else math.nan
                cells[arm] = f"{counts[place]} ({number(share)}%)"
            test = f"χ²({two.test.df}) = {number(two.test.chi2, 2)}"
            made = _p_cells(test, two.p, two.p_holm, math.nan)
            rows.append(cells | (made if place == 0 else dict.fromkeys(made, "")))
    return rows


def exclusion_table(exclusions: Exclusions) -> list[dict[str, str]]:
    """How many raters each rule leaves out, by arm, and how many are left."""
    rows: dict[str, dict[str, str]] = {}
    for one in exclusions.counts:
        rows.setdefault(one.rule, {"rule": one.rule})[one.arm] = number(one.excluded, 0)
    kept = {arm: f"{n} of {exclusions.raters[arm]}" for arm, n in exclusions.kept.items()}
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
        "note": one.test.note,
    }
    return {name: plain(value) for name, value in row.items()}


def _count_cells(one: ArmCount) -> dict[str, str]:
    cells = {"arm": one.arm, "situations": _subset(one.subset), "n": number(one.n, 0)}
    for label, count in one.counts.items():
        cells[label] = f"{number(count, 0)} ({number(one.percent[label])}%)"
    return cells


def _test_cells(one: ArmTest) -> dict[str, str]:
    difference = one.risk_difference
    return {
        "arm": one.arm,
        "situations": _subset(one.subset),
        "good": f"{one.good}/{one.n}",
        one.reference: f"{one.good_reference}/{one.n_reference}",
        "gain": f"{signed(one.relative_gain_percent.estimate)}%",
        "difference": (
            f"{signed(100 * difference.estimate, 2)} "
            f"[{signed(100 * difference.low, 2)}, {signed(100 * difference.high, 2)}]"
        ),
        "χ²": number(one.test.chi2, 2),
        "p": p_value(one.p),
        "p Holm": p_value(one.p_holm),
        "p BH": p_value(one.p_bh),
        "p clustered": p_value(one.clustered.p),
    }


def _subset(name: str) -> str:
    return name.removeprefix("emotion:")
