"""Mixed models as plain rows: the shape that `--json` promises, and tables for people."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from empathylab.analysis.ratings.rows import plain
from empathylab.analysis.text.numbers import number, p_value, signed
from empathylab.stats.corrections import holm
from empathylab.stats.mixed import (
    Clmm,
    Lmm,
    contrasts,
    lmm_contrasts,
    lmm_means,
    marginal_means,
    term_tests,
    variance_shares,
)

Model = Clmm | Lmm
_SHARED = (
    *("coefficients", "random_effects", "correlations", "singular", "method", "log_likelihood"),
    *("aic", "bic", "n", "dropped"),
)
_CHECKS = ("converged", "boundary", "problems", "notes", "seconds")
_SEPARATION = "Perfect separation"
_WIDE = 10.0
"""A standard error on the latent scale, above which odds span more than any ratings can show."""


def holm_by_term(model: Model) -> dict[str, float]:
    """The p value of each coefficient, Holm-corrected over the coefficients of its term.

    Of a factor without interactions these are the contrasts of its levels with the reference.
    """
    names = model.design.names
    found: dict[str, float] = {}
    for places in model.design.terms.values():
        of_term = [names[place] for place in places]
        corrected = holm([model.coefficients[name].p for name in of_term])
        found |= dict(zip(of_term, map(float, corrected), strict=True))
    return found


def doubtful(model: Model) -> tuple[str, ...]:
    """The coefficients that must not be told with a test or an interval."""
    return tuple(name for name, one in model.coefficients.items() if _doubtful(model, name, one))


def _doubtful(model: Model, name: str, one: Any) -> bool:
    if not math.isfinite(one.se) or (isinstance(model, Clmm) and one.se > _WIDE):
        return True
    if any(problem.startswith(_SEPARATION) for problem in model.problems):
        # Separation alone leaves the other coefficients as they would be without those ratings.
        named = re.compile(rf"(?<!\S){re.escape(name)}(?=,| sorts )")
        unfinished = any("did not converge" in problem for problem in model.problems)
        return unfinished or any(named.search(problem) for problem in model.problems)
    return not model.converged


def mixed_model_row(
    model: Model, *, means: Sequence[str] = (), correction: str = "holm"
) -> dict[str, Any]:
    """The model as JSON holds it; `means` names factors whose means and contrasts come along."""
    row: dict[str, Any] = {"formula": model.formula}
    if isinstance(model, Clmm):
        row |= {"model": "clmm", "link": model.link, "thresholds": model.thresholds}
    else:
        row |= {
            "model": "lmm",
            "reml": model.reml,
            "residual_sd": model.residual_sd,
            "criterion": model.criterion,
            "terms": term_tests(model),
            "variance_shares": variance_shares(model),
        }
    row |= {name: getattr(model, name) for name in (*_SHARED, *_CHECKS)}
    row = plain(row)
    corrected = holm_by_term(model)
    for name, cells in row["coefficients"].items():
        cells["p_holm"] = plain(corrected[name])
    row["doubtful"] = list(doubtful(model))
    if means:
        row["means"] = {factor: mean_rows(model, factor) for factor in means}
        row["contrasts"] = {factor: contrast_rows(model, factor, correction) for factor in means}
        row["contrast_correction"] = correction
    found: dict[str, Any] = plain(row)
    return found


def mean_rows(model: Model, factor: str) -> list[dict[str, Any]]:
    """The factor's means: of an ordinal model as probabilities and as mean category."""
    if isinstance(model, Lmm):
        return [
            {"level": one.level, **_numbers(one, "estimate", "se", "df", "low", "high")}
            for one in lmm_means(model, factor)
        ]
    return [
        {
            "level": one.levels[factor],
            "scale": means.scale,
            "category": one.category or None,
            **_numbers(one, "estimate", "se", "low", "high"),
        }
        for means in (
            marginal_means(model, factor, scale="probability", averaged=True),
            marginal_means(model, factor, scale="expected", averaged=True),
        )
        for one in means.margins
    ]


def contrast_rows(model: Model, factor: str, correction: str) -> list[dict[str, Any]]:
    """Each level of the factor less each other: on the latent scale of an ordinal model."""
    names = ("estimate", "se", "p", "p_corrected", "low", "high")
    if isinstance(model, Lmm):
        return [
            {"level": one.level, "other": one.other, **_numbers(one, *names)}
            for one in lmm_contrasts(model, factor, correction=correction)
        ]
    return [
        {"level": one.first[factor], "other": one.second[factor], **_numbers(one, *names)}
        for one in contrasts(marginal_means(model, factor), correction=correction)
    ]


def _numbers(one: Any, *names: str) -> dict[str, Any]:
    return {name: plain(getattr(one, name)) for name in names}


def coefficient_table(model: Model) -> list[dict[str, str]]:
    """Thresholds and coefficients as a paper prints them; no test where it means nothing."""
    statistic = "z" if isinstance(model, Clmm) else "t"
    unsure, corrected = doubtful(model), holm_by_term(model)
    several = any(len(places) > 1 for places in model.design.terms.values())
    rows = []
    if isinstance(model, Clmm):
        for name, one in model.thresholds.items():
            cells = _cells(name, one, statistic)
            rows.append(cells | ({"p Holm": ""} if several else {}))
    for name, effect in model.coefficients.items():
        cells = _cells(name, effect, statistic)
        if several:
            cells["p Holm"] = p_value(corrected[name])
        if name in unsure:
            cells |= {head: "–" for head in cells if head not in ("term", "estimate", "s.e.")}
        rows.append(cells)
    return rows


def _cells(name: str, one: Any, statistic: str) -> dict[str, str]:
    cells = {
        "term": name,
        "estimate": signed(one.estimate, 3),
        "s.e.": number(one.se, 3),
        "interval": f"[{signed(one.low, 3)}, {signed(one.high, 3)}]",
        statistic: number(getattr(one, statistic), 2),
    }
    if statistic == "t":
        cells["df"] = number(one.df)
    return cells | {"p": p_value(one.p)}


def random_table(model: Model) -> list[dict[str, str]]:
    """The random effects' standard deviations, and the residual's."""
    rows = [
        {
            "group": name,
            "sd": number(one.sd, 4) + (" (at the boundary)" if one.boundary else ""),
            "variance": number(one.variance, 4),
            "levels": number(one.levels, 0),
        }
        for name, one in model.random_effects.items()
    ]
    rows += [
        {
            "group": f"{one.group}: {one.first} with {one.second}",
            "sd": f"correlation {number(one.estimate, 3)}",
            "variance": "–",
            "levels": "–",
        }
        for one in model.correlations
    ]
    if isinstance(model, Lmm):
        residual = {"sd": number(model.residual_sd, 4)}
        rows.append(
            {
                "group": "residual",
                **residual,
                "variance": number(model.residual_variance, 4),
                "levels": "–",
            }
        )
    return rows


def mean_table(model: Model, factor: str) -> list[dict[str, str]]:
    """The factor's means as people read them."""
    if isinstance(model, Lmm):
        return [_mean_cells(row) for row in mean_rows(model, factor)]
    levels: dict[str, dict[str, str]] = {}
    for row in mean_rows(model, factor):
        cells = levels.setdefault(row["level"], {"level": row["level"]})
        head = f"P({row['category']})" if row["category"] else "mean category"
        cells[head] = (
            f"{number(row['estimate'], 3)} [{number(row['low'], 3)}, {number(row['high'], 3)}]"
        )
    return list(levels.values())


def _mean_cells(row: dict[str, Any]) -> dict[str, str]:
    return {
        "level": row["level"],
        "mean": number(row["estimate"], 3),
        "s.e.": number(row["se"], 3),
        "interval": f"[{number(row['low'], 3)}, {number(row['high'], 3)}]",
    }


def contrast_table(model: Model, factor: str, correction: str) -> list[dict[str, str]]:
    """The contrasts as people read them."""
    return [
        {
            "contrast": f"{row['level']} − {row['other']}",
            "estimate": signed(_or_nan(row["estimate"]), 3),
            "s.e.": number(row["se"], 3),
            "interval": f"[{signed(_or_nan(row['low']), 3)}, {signed(_or_nan(row['high']), 3)}]",
            "p": p_value(_or_nan(row["p_corrected"])),
        }
        for row in contrast_rows(model, factor, correction)
    ]


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
