"""Mixed models as JSON, as tables, and as paragraphs on methods and results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from empathylab import __version__
from empathylab.analysis.json_values import json_value
from empathylab.analysis.text.apa import counted, listed, p_text
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.notes import note_text
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
from empathylab.stats.mixed.coding import INTERCEPT

Model = Clmm | Lmm
_SHARED = (
    *("coefficients", "random_effects", "correlations", "singular", "method", "log_likelihood"),
    *("aic", "bic", "n", "dropped"),
)
AT_BOUNDARY = ("sd_at_boundary", "lmm_sd_at_boundary")
"""Notes that do not limit a conclusion: a variance of 0 changes nothing."""
_CHECKS = ("converged", "boundary", "problems", "notes", "seconds")
_MOST_LOG_ODDS = math.log(1000)
_WIDE = 10.0
"""A standard error on the latent scale, above which odds span more than any ratings can show."""


def holm_by_term(model: Model) -> dict[str, float]:
    """The p value of each coefficient, Holm-corrected over the coefficients of its term.

    Of a factor without interactions these are the contrasts of its levels with the reference.
    """
    found: dict[str, float] = {}
    for names in _families(model).values():
        corrected = holm([model.coefficients[name].p for name in names])
        found |= dict(zip(names, map(float, corrected), strict=True))
    return found


def doubtful(model: Model) -> tuple[str, ...]:
    """The coefficients whose test and interval cannot be used."""
    return tuple(name for name, one in model.coefficients.items() if _doubtful(model, name, one))


def _doubtful(model: Model, name: str, item: Any) -> bool:
    if not math.isfinite(item.se) or (isinstance(model, Clmm) and item.se > _WIDE):
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
    found: dict[str, Any] = json_value(row)
    return found


def missing_value(column: str) -> str:
    """Why a row without a value in this column was left out."""
    return f"{column!r} is missing"


def mean_rows(model: Model, factor: str) -> list[dict[str, Any]]:
    """The factor's means: of an ordinal model as probabilities and as mean category.

    Over all raters and situations; with random slopes those of a typical rater and situation.
    """
    if isinstance(model, Lmm):
        return [
            {"level": lmm_mean.level, **_numbers(lmm_mean, "estimate", "se", "df", "low", "high")}
            for lmm_mean in lmm_means(model, factor)
        ]
    averaged = not model.has_slopes
    return [
        {
            "level": margin.levels[factor],
            "scale": means.scale,
            "category": margin.category or None,
            **_numbers(margin, "estimate", "se", "low", "high"),
        }
        for means in (
            marginal_means(model, factor, scale="probability", averaged=averaged),
            marginal_means(model, factor, scale="expected", averaged=averaged),
        )
        for margin in means.margins
    ]


def contrast_rows(model: Model, factor: str, correction: str) -> list[dict[str, Any]]:
    """Each level of the factor minus each other: on the latent scale of an ordinal model."""
    names = ("estimate", "se", "p", "p_corrected", "low", "high")
    if isinstance(model, Lmm):
        return [
            {
                "level": lmm_contrast.level,
                "other": lmm_contrast.other,
                **_numbers(lmm_contrast, *names),
            }
            for lmm_contrast in lmm_contrasts(model, factor, correction=correction)
        ]
    return [
        {
            "level": contrast.first[factor],
            "other": contrast.second[factor],
            **_numbers(contrast, *names),
        }
        for contrast in contrasts(marginal_means(model, factor), correction=correction)
    ]


def _numbers(item: Any, *names: str) -> dict[str, Any]:
    return {name: json_value(getattr(item, name)) for name in names}


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
            "sd": number(one.sd, 4) + (" (at the boundary)" if one.boundary else ""),
            "variance": number(one.variance, 4),
            "levels": number(one.levels, 0),
        }
        for name, one in model.random_effects.items()
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
            "estimate": signed(row["estimate"], 3),
            "s.e.": number(row["se"], 3),
            "interval": f"[{signed(row['low'], 3)}, {signed(row['high'], 3)}]",
            "p": p_value(row["p_corrected"]),
        }
        for row in contrast_rows(model, factor, correction)
    ]


def model_methods(model: Model, *, of: str = "") -> str:
    """How the model was fitted, ready for a paper's methods section; `of` names the dimension."""
    ratings = f"Ratings of {of}" if of else "Ratings"
    groups = [
        f"{name} ({counted(one.levels, 'level')})" for name, one in model.random_effects.items()
    ]
    random = f" with random intercepts of {listed(groups)}" if groups else " without random effects"
    if isinstance(model, Clmm):
        categories = counted(len(model.levels), "ordered category", "ordered categories")
        latent = "logistic" if model.link == "logit" else "normal"
        said = [
            (
                f"{ratings} ({categories}) were analysed with a cumulative link mixed model "
                f"({model.link} link){random}, flexible thresholds and the formula {model.formula}."
            ),
            (
                "It was fitted by maximum likelihood with the Laplace approximation; standard "
                "errors come from the observed information, tests and intervals are Wald's. "
                f"A coefficient is a shift of the {latent} latent scale."
            ),
        ]
    else:
        likelihood = "restricted maximum likelihood" if model.reml else "maximum likelihood"
        said = [
            (
                f"{ratings} were analysed with a linear mixed model{random} and the formula "
                f"{model.formula}, fitted by {likelihood}; tests and intervals take "
                "Satterthwaite's degrees of freedom."
            )
        ]
    used = f"{counted(model.n, 'rating')} entered the model"
    dropped = sum(model.dropped.values())
    used += f" ({number(dropped, 0)} excluded for missing values)." if dropped else "."
    return " ".join([*said, used, f"Software: EmpathyLab {__version__}."])


def model_results(model: Model) -> str:
    """What the model found, ready for a paper's results section; what speaks against it first.

    Where a term has several coefficients (an arm each), their p values are Holm-corrected over
    the term. A coefficient without a finite estimate gets no test, interval or odds ratio.
    """
    unsure, corrected = doubtful(model), holm_by_term(model)
    # Variances at the boundary are spoken of below.
    said = problem_sentences(model)
    if not model.converged and not said:
        said.append("The fit did not converge, so its numbers cannot be trusted.")
    reported = [name for name in model.coefficients if name != INTERCEPT]
    unusable = [readable(model, name) for name in reported if name in unsure]
    if unusable:
        said.append(f"No estimate or test can be given for {listed(unusable)}.")
    sizes = {name: len(names) for names in _families(model).values() for name in names}
    for name in reported:
        if name not in unsure:
            p = corrected[name] if sizes.get(name, 1) > 1 else None
            said.append(_effect(model, readable(model, name), model.coefficients[name], p))
    said += _reading(model, [name for name in reported if name not in unsure])
    said += [_spread(name, one) for name, one in model.random_effects.items()]
    if isinstance(model, Lmm):
        said.append(f"The residual standard deviation was {number(model.residual_sd, 3)}.")
    return " ".join(said)


def readable(model: Model, name: str) -> str:
    """A coefficient's name as one would say it: `gpt-4 against people (arm)`."""
    coding = model.design.coding
    column = next((column for column in coding.columns if column.name == name), None)
    if column is None or not column.parts:
        return name
    said = []
    for label, level in column.parts:
        predictor = coding.predictors[label]
        if level < 0:
            said.append(label)
            continue
        # Where the first level has a column of its own, none is compared with it.
        own = any(item.term == column.term and (label, 0) in item.parts for item in coding.columns)
        against = "" if own else f" against {name_of(predictor.levels[0])}"
        said.append(f"{name_of(predictor.levels[level])}{against} ({predictor.variable.name})")
    return " × ".join(said)


def odds(log_odds: float) -> str:
    """The odds ratio of a log odds; beyond a thousand either way only that it is."""
    if log_odds > _MOST_LOG_ODDS:
        return "> 1,000"
    if log_odds < -_MOST_LOG_ODDS:
        return "< 0.001"
    ratio = math.exp(log_odds)
    return number(ratio, 2 if ratio >= 0.1 else 3)


def _families(model: Model) -> dict[str, list[str]]:
    """The coefficients of each term."""
    names = model.design.names
    terms = model.design.terms
    return {term: [names[place] for place in places] for term, places in terms.items()}


def _reading(model: Model, reported: list[str]) -> list[str]:
    """How to read the p values and coefficients, where several contrasts or factors need it."""
    said = []
    families = [
        f"{term} ({len(names)} contrasts)"
        for term, names in _families(model).items()
        if len(names) > 1 and any(name in reported for name in names)
    ]
    if families:
        said.append(
            f"p is Holm-corrected over the contrasts of each term: {listed(families)}; intervals "
            "are of each contrast alone."
        )
    crossed = [column for column in model.design.coding.columns if len(column.parts) > 1]
    factors = dict.fromkeys(
        label
        for column in crossed
        for label, level in column.parts
        if level >= 0 and column.name in reported
    )
    baseline = [
        f"{name_of(model.design.coding.predictors[factor].levels[0])} ({factor})"
        for factor in factors
    ]
    if baseline:
        said.append(
            "Besides its interactions, a coefficient holds where the other factors are at their "
            f"reference: {listed(baseline)}."
        )
    return said


def _effect(model: Model, name: str, item: Any, p_corrected: float | None) -> str:
    level = number(100 * model.confidence, 0)
    span = f"{level}% CI [{number(item.low, 3)}, {number(item.high, 3)}]"
    p = p_text(item.p) if p_corrected is None else p_text(p_corrected, "Holm-corrected p")
    if isinstance(model, Clmm):
        ratio = ""
        if model.link == "logit":
            ratio = f"; odds ratio {odds(item.estimate)} [{odds(item.low)}, {odds(item.high)}]"
        return (
            f"{name}: b = {number(item.estimate, 3)}, {span}, z = {number(item.z, 2)}, {p}{ratio}."
        )
    return (
        f"{name}: b = {number(item.estimate, 3)}, {span}, t({number(item.df)}) = "
        f"{number(item.t, 2)}, {p}."
    )


def _spread(name: str, item: Any) -> str:
    if item.boundary:
        return (
            f"The variance of {name} was estimated at its boundary, zero: beyond the other terms, "
            f"the ratings show no differences between levels of {name} beyond chance."
        )
    return f"The standard deviation of {name} was {number(item.sd, 3)}."
