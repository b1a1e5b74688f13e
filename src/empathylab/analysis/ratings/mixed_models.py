"""Mixed models as JSON and as tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from empathylab.analysis.json_values import json_value, picked
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, p_value, signed, with_ends
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
AT_BOUNDARY = ("sd_at_boundary", "lmm_sd_at_boundary")
"""Notes that do not limit a conclusion: a variance of 0 changes nothing."""
_CHECKS = ("converged", "boundary", "problems", "notes", "seconds")
_WIDE = 10.0
"""A standard error on the latent scale, above which odds span more than any ratings can show."""


def holm_by_term(model: Model, tests: Mapping[str, Any] | None = None) -> dict[str, float]:
    """The p value of each coefficient, Holm-corrected over the coefficients of its term.

    `tests` are the coefficients' tests, where they are not those of the model itself.

    Of a factor without interactions these are the contrasts of its levels with the reference.
    """
    adjusted: dict[str, float] = {}
    for names in coefficients_by_term(model).values():
        corrected = holm([(tests or model.coefficients)[name].p for name in names])
        adjusted |= dict(zip(names, map(float, corrected), strict=True))
    return adjusted


def doubtful(model: Model) -> tuple[str, ...]:
    """The coefficients whose test and interval cannot be used."""
    return tuple(name for name, item in model.coefficients.items() if _doubtful(model, name, item))


def undetermined(model: Model) -> tuple[str, ...]:
    """The thresholds and coefficients without an estimate, as ratings separate the arms.

    Where the search stopped on its way to infinity depends on the order of the ratings.
    """
    parameters: dict[str, Any] = {**model.coefficients}
    if isinstance(model, Clmm):
        parameters |= model.thresholds
    return tuple(name for name, item in parameters.items() if _undetermined(model, item))


def _undetermined(model: Model, item: Any) -> bool:
    return not math.isfinite(item.se) or (isinstance(model, Clmm) and item.se > _WIDE)


def _doubtful(model: Model, name: str, item: Any) -> bool:
    if _undetermined(model, item):
        return True
    problems = {problem.code: problem.values for problem in model.problems}
    if "separation" in problems:
        # Separation alone leaves the other coefficients as they would be without those ratings.
        separated = problems["separation"]["columns"]
        return "not_converged" in problems or (isinstance(separated, tuple) and name in separated)
    return not model.converged


def problem_sentences(model: Model) -> list[str]:
    """What speaks against the model; a variance at its boundary does not."""
    return [note_text(problem) for problem in model.problems if problem.code not in AT_BOUNDARY]


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
    row = json_value(row)
    row["dropped"] = {missing_value(name): n for name, n in model.dropped.items()}
    corrected = holm_by_term(model)
    for name, cells in row["coefficients"].items():
        cells["p_holm"] = json_value(corrected[name])
    row["doubtful"] = list(doubtful(model))
    if means:
        row["means"] = {factor: mean_rows(model, factor) for factor in means}
        row["contrasts"] = {factor: contrast_rows(model, factor, correction) for factor in means}
        row["contrast_correction"] = correction
    document: dict[str, Any] = json_value(row)
    return document


def missing_value(column: str) -> str:
    """Why a row without a value in this column was left out."""
    return f"{column!r} is missing"


def mean_rows(model: Model, factor: str) -> list[dict[str, Any]]:
    """The factor's means: of an ordinal model as probabilities and as mean category.

    Over all raters and situations; with random slopes those of a typical rater and situation.
    """
    if isinstance(model, Lmm):
        return [picked(mean, "level estimate se df low high") for mean in lmm_means(model, factor)]
    averaged = not model.has_slopes
    return [
        {
            "level": margin.levels[factor],
            "scale": scale,
            "category": margin.category or None,
            **picked(margin, "estimate se low high"),
        }
        for scale in ("probability", "expected")
        for margin in marginal_means(model, factor, scale=scale, averaged=averaged).margins
    ]


def contrast_rows(model: Model, factor: str, correction: str) -> list[dict[str, Any]]:
    """Each level of the factor minus each other: on the latent scale of an ordinal model."""
    names = "estimate se p p_corrected low high"
    if isinstance(model, Lmm):
        return [
            picked(contrast, f"level other {names}")
            for contrast in lmm_contrasts(model, factor, correction=correction)
        ]
    return [
        {"level": pair.first[factor], "other": pair.second[factor], **picked(pair, names)}
        for pair in contrasts(marginal_means(model, factor), correction=correction)
    ]


def coefficient_table(model: Model) -> list[dict[str, str]]:
    """Thresholds and coefficients as a paper prints them; no test where it means nothing."""
    statistic = "z" if isinstance(model, Clmm) else "t"
    unsure, corrected = doubtful(model), holm_by_term(model)
    several = any(len(places) > 1 for places in model.design.terms.values())
    rows = []
    if isinstance(model, Clmm):
        for name, threshold in model.thresholds.items():
            cells = _cells(name, threshold, statistic)
            rows.append(cells | ({"p Holm": ""} if several else {}))
    for name, effect in model.coefficients.items():
        cells = _cells(name, effect, statistic)
        if several:
            cells["p Holm"] = p_value(corrected[name])
        if name in unsure:
            cells |= {head: "–" for head in cells if head not in ("term", "estimate", "s.e.")}
        rows.append(cells)
    unknown = undetermined(model)
    return [
        dict.fromkeys(row, "–") | {"term": row["term"]} if row["term"] in unknown else row
        for row in rows
    ]


def _cells(name: str, item: Any, statistic: str) -> dict[str, str]:
    cells = {
        "term": name,
        "estimate": signed(item.estimate, 3),
        "s.e.": number(item.se, 3),
        "interval": f"[{signed(item.low, 3)}, {signed(item.high, 3)}]",
        statistic: number(getattr(item, statistic), 2),
    }
    if statistic == "t":
        cells["df"] = number(item.df)
    return cells | {"p": p_value(item.p)}


def random_table(model: Model) -> list[dict[str, str]]:
    """The random effects' standard deviations, and the residual's."""
    rows = [
        {
            "group": name,
            "sd": number(effect.sd, 4) + (" (at the boundary)" if effect.boundary else ""),
            "variance": number(effect.variance, 4),
            "levels": number(effect.levels, 0),
        }
        for name, effect in model.random_effects.items()
    ]
    rows += [
        {
            "group": f"{correlation.group}: {correlation.first} with {correlation.second}",
            "sd": f"correlation {number(correlation.estimate, 3)}",
            "variance": "–",
            "levels": "–",
        }
        for correlation in model.correlations
    ]
    if isinstance(model, Lmm):
        sizes = number(model.residual_sd, 4), number(model.residual_variance, 4)
        rows.append({"group": "residual", "sd": sizes[0], "variance": sizes[1], "levels": "–"})
    return rows


def mean_table(model: Model, factor: str) -> list[dict[str, str]]:
    """The factor's means as people read them."""
    if isinstance(model, Lmm):
        return [_mean_cells(row) for row in mean_rows(model, factor)]
    levels: dict[str, dict[str, str]] = {}
    for row in mean_rows(model, factor):
        cells = levels.setdefault(row["level"], {"level": row["level"]})
        head = f"P({row['category']})" if row["category"] else "mean category"
        cells[head] = with_ends(row["estimate"], row["low"], row["high"], digits=3)
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
            "estimate": signed(row["estimate"], 3),
            "s.e.": number(row["se"], 3),
            "interval": f"[{signed(row['low'], 3)}, {signed(row['high'], 3)}]",
            "p": p_value(row["p_corrected"]),
        }
        for row in contrast_rows(model, factor, correction)
    ]


def coefficients_by_term(model: Model) -> dict[str, list[str]]:
    """The coefficients of each term."""
    names = model.design.names
    terms = model.design.terms
    return {term: [names[place] for place in places] for term, places in terms.items()}


def dimension_model_row(model: DimensionModel) -> dict[str, Any]:
    """The model of a dimension as JSON holds it, with its tests and checks."""
    row = {"dimension": model.dimension, "by_valence": model.by_valence, "problem": model.problem}
    if model.model is None:
        return row
    row |= mixed_model_row(model.model, means=["arm"])
    row |= {
        "tests": json_value(model.tests),
        "simplified": list(model.simplified),
        "left_out": list(model.dropped),
        "proportional_odds": _odds_row(model),
        "sd_intervals": {name: model.spread[name]._asdict() for name in model.spread},
        "bootstrap": model.bootstrap
        and {
            "replications": model.bootstrap.replications,
            "failed": model.bootstrap.failed,
            "intervals": {name: end._asdict() for name, end in model.bootstrap.intervals.items()},
        },
    }
    document: dict[str, Any] = json_value(row)
    return document


def _odds_row(model: DimensionModel) -> dict[str, Any] | None:
    if model.odds is None:
        return None
    test = model.odds.test
    names = ("statistic", "df", "p", "f", "df_residual", "p_clustered", "clusters", "n")
    return {
        **{name: getattr(test, name) for name in names},
        "clustered_by": model.odds.clusters,
        "rejected": model.odds.rejected,
        "effects": [effect._asdict() for effect in test.effects],
    }
