"""Paired comparisons of arms as rows: numbers, and cells as people read them."""

from __future__ import annotations

import dataclasses
from typing import Any

from empathylab.analysis.text.numbers import number, p_value
from empathylab.stats.arms.within import PairedArmsTest, PairedComparison, PairedTest


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
