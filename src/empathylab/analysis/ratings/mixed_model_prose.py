"""Mixed models as paragraphs on methods and results, ready for a paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from empathylab import __version__
from empathylab.analysis.ratings.mixed_models import (
    Model,
    coefficients_by_term,
    doubtful,
    holm_by_term,
    problem_sentences,
)
from empathylab.analysis.text.apa import counted, listed, p_text
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number
from empathylab.stats.mixed import Clmm, Lmm
from empathylab.stats.mixed.coding import INTERCEPT

_MOST_LOG_ODDS = math.log(1000)
_WALD = "standard errors come from the observed information, tests and intervals are Wald's."
_FEW_LEVELS = (
    "tests and intervals are those of t, with standard errors and degrees of freedom "
    "(Satterthwaite's) that are valid with few raters and replies."
)
_NO_TESTS: Mapping[str, Any] = {}


def model_methods(model: Model, *, of: str = "", tests: Mapping[str, Any] = _NO_TESTS) -> str:
    """How the model was fitted, ready for a paper's methods section; `of` names the dimension.

    `tests` are the coefficients' t tests, where these are reported in place of Wald's.
    """
    ratings = f"Ratings of {of}" if of else "Ratings"
    groups = [
        f"{name} ({counted(effect.levels, 'level')})"
        for name, effect in model.random_effects.items()
    ]
    random = f" with random intercepts of {listed(groups)}" if groups else " without random effects"
    if isinstance(model, Clmm):
        categories = counted(len(model.levels), "ordered category", "ordered categories")
        latent = "logistic" if model.link == "logit" else "normal"
        sentences = [
            (
                f"{ratings} ({categories}) were analysed with a cumulative link mixed model "
                f"({model.link} link){random}, flexible thresholds and the formula {model.formula}."
            ),
            (
                "It was fitted by maximum likelihood with the Laplace approximation; "
                f"{_FEW_LEVELS if tests else _WALD} "
                f"A coefficient is a shift of the {latent} latent scale."
            ),
        ]
    else:
        likelihood = "restricted maximum likelihood" if model.reml else "maximum likelihood"
        sentences = [
            (
                f"{ratings} were analysed with a linear mixed model{random} and the formula "
                f"{model.formula}, fitted by {likelihood}; tests and intervals take "
                "Satterthwaite's degrees of freedom."
            )
        ]
    used = f"{counted(model.n, 'rating')} entered the model"
    dropped = sum(model.dropped.values())
    used += f" ({number(dropped, 0)} excluded for missing values)." if dropped else "."
    return " ".join([*sentences, used, f"Software: EmpathyLab {__version__}."])


def model_results(model: Model, tests: Mapping[str, Any] = _NO_TESTS) -> str:
    """What the model found, ready for a paper's results section; what speaks against it first.

    `tests` replace the model's own tests of coefficients.
    Where a term has several coefficients (an arm each), their p values are Holm-corrected over
    the term. A coefficient without a finite estimate gets no test, interval or odds ratio.
    """
    effects = {**model.coefficients, **tests}
    unsure, corrected = doubtful(model), holm_by_term(model, effects)
    # Variances at the boundary are spoken of below.
    sentences = problem_sentences(model)
    if not model.converged and not sentences:
        sentences.append("The fit did not converge, so its numbers cannot be trusted.")
    reported = [name for name in model.coefficients if name != INTERCEPT]
    unusable = [readable(model, name) for name in reported if name in unsure]
    if unusable:
        sentences.append(f"No estimate or test can be given for {listed(unusable)}.")
    sizes = {name: len(names) for names in coefficients_by_term(model).values() for name in names}
    for name in reported:
        if name not in unsure:
            p = corrected[name] if sizes.get(name, 1) > 1 else None
            sentences.append(_effect(model, readable(model, name), effects[name], p))
    sentences += _reading(model, [name for name in reported if name not in unsure])
    sentences += [_spread(name, effect) for name, effect in model.random_effects.items()]
    if isinstance(model, Lmm):
        sentences.append(f"The residual standard deviation was {number(model.residual_sd, 3)}.")
    return " ".join(sentences)


def readable(model: Model, name: str) -> str:
    """A coefficient's name as one would say it: `gpt-4 against people (arm)`."""
    coding = model.design.coding
    column = next((column for column in coding.columns if column.name == name), None)
    if column is None or not column.parts:
        return name
    sentences = []
    for label, level in column.parts:
        predictor = coding.predictors[label]
        if level < 0:
            sentences.append(label)
            continue
        # Where the first level has a column of its own, none is compared with it.
        own = any(item.term == column.term and (label, 0) in item.parts for item in coding.columns)
        against = "" if own else f" against {name_of(predictor.levels[0])}"
        sentences.append(f"{name_of(predictor.levels[level])}{against} ({predictor.variable.name})")
    return " × ".join(sentences)


def odds(log_odds: float) -> str:
    """The odds ratio of a log odds; beyond a thousand either way only that it is."""
    if log_odds > _MOST_LOG_ODDS:
        return "> 1,000"
    if log_odds < -_MOST_LOG_ODDS:
        return "< 0.001"
    ratio = math.exp(log_odds)
    return number(ratio, 2 if ratio >= 0.1 else 3)


def _reading(model: Model, reported: list[str]) -> list[str]:
    """How to read the p values and coefficients, where several contrasts or factors need it."""
    sentences = []
    families = [
        f"{term} ({len(names)} contrasts)"
        for term, names in coefficients_by_term(model).items()
        if len(names) > 1 and any(name in reported for name in names)
    ]
    if families:
        sentences.append(
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
        sentences.append(
            "Besides its interactions, a coefficient holds where the other factors are at their "
            f"reference: {listed(baseline)}."
        )
    return sentences


def _effect(model: Model, name: str, item: Any, p_corrected: float | None) -> str:
    level = number(100 * model.confidence, 0)
    span = f"{level}% CI [{number(item.low, 3)}, {number(item.high, 3)}]"
    p = p_text(item.p) if p_corrected is None else p_text(p_corrected, "Holm-corrected p")
    df = getattr(item, "df", math.inf)
    value = number(item.t if hasattr(item, "t") else item.z, 2)
    test = f"t({number(df)}) = {value}" if math.isfinite(df) else f"z = {value}"
    ratio = ""
    if isinstance(model, Clmm) and model.link == "logit":
        ratio = f"; odds ratio {odds(item.estimate)} [{odds(item.low)}, {odds(item.high)}]"
    return f"{name}: b = {number(item.estimate, 3)}, {span}, {test}, {p}{ratio}."


def _spread(name: str, item: Any) -> str:
    if item.boundary:
        return (
            f"The variance of {name} was estimated at its boundary, zero: beyond the other terms, "
            f"the ratings show no differences between levels of {name} beyond chance."
        )
    return f"The standard deviation of {name} was {number(item.sd, 3)}."
