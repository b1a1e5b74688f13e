"""Mixed models as paragraphs on methods and results, ready for a paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from empathylab import __version__
from empathylab.analysis.ratings.mixed_models import (
    Model,
    coefficients_by_term,
    doubtful,
    holm_by_term,
    problem_sentences,
)
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.sentences import findings
from empathylab.analysis.results import Conclusion, ModelChoice
from empathylab.analysis.text.apa import bounded, counted, listed, p_text
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number
from empathylab.stats.mixed import Clmm, Lmm
from empathylab.stats.mixed.coding import INTERCEPT, Column

_MOST_LOG_ODDS = math.log(1000)
_WALD = "standard errors come from the observed information, tests and intervals are Wald's."
_FEW_LEVELS = (
    "tests and intervals use the t distribution, with standard errors and Satterthwaite's "
    "degrees of freedom that are valid with few raters and replies."
)
_NO_TESTS: Mapping[str, Any] = {}
_NO_FINDINGS: Mapping[str, str] = {}


def models_paragraph(
    models: Sequence[DimensionModel], choice: ModelChoice | None, *, named: bool
) -> str:
    """How the models of the arms were fitted and why; alike models of several dimensions once."""
    fitted = [item for item in models if not item.by_valence]
    alike: dict[str, list[DimensionModel]] = {}
    for item in fitted:
        if item.model is not None:
            alike.setdefault(model_methods(item.model, tests=item.tests), []).append(item)
    sentences = [
        model_methods(same[0].model, of=[item.dimension for item in same], tests=same[0].tests)
        if named and same[0].model is not None
        else text
        for text, same in alike.items()
    ]
    if alike and choice is not None:
        reason = f"{choice.reason[:1].lower()}{choice.reason[1:]}"
        sentences.append(f"The model follows from the design: {reason}")
    simplified = dict.fromkeys(text for item in fitted for text in item.simplified)
    sentences += [f"{text.rstrip('.')}." for text in simplified]
    return " ".join(sentences)


def model_paragraph(
    fitted: DimensionModel, conclusions: Sequence[Conclusion], *, named: bool
) -> str:
    """What a dimension's model found; by name where `named`."""
    of = f" of {fitted.dimension}" if named else ""
    if fitted.model is None:
        return f"No mixed model{of} could be fitted: {fitted.problem}"
    said = {} if fitted.by_valence else findings(conclusions, fitted)
    results = model_results(fitted.model, fitted.tests, said=said)
    return results if said else f"In the model{of} {fitted.model.formula}: {results}"


def model_methods(
    model: Model, *, of: Sequence[str] = (), tests: Mapping[str, Any] = _NO_TESTS
) -> str:
    """How the model was fitted, ready for a paper's methods section.

    `of` names the dimensions that have such a model each, where there are several. `tests` are the
    coefficients' t tests, where these are reported in place of Wald's.
    """
    ratings = f"Ratings of {listed(of)}" if of else "Ratings"
    each = "each " if len(of) > 1 else ""
    if isinstance(model, Clmm):
        categories = counted(len(model.levels), "ordered category", "ordered categories")
        latent = "logistic" if model.link == "logit" else "normal"
        sentences = [
            (
                f"{ratings} ({categories}) were {each}analysed with a cumulative link mixed model "
                f"({model.link} link), {model.formula}, with flexible thresholds"
                f"{_random_effects(model)}."
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
                f"{ratings} were {each}analysed with a linear mixed model, "
                f"{model.formula}{_random_effects(model)}, fitted by {likelihood}; tests and "
                "intervals use Satterthwaite's degrees of freedom."
            )
        ]
    families = [
        f"{term} ({len(names)} contrasts)"
        for term, names in coefficients_by_term(model).items()
        if len(names) > 1
    ]
    if families:
        sentences.append(
            f"p is Holm-corrected over the contrasts of each term: {listed(families)}; intervals "
            "are of each contrast alone."
        )
    used = f"{counted(model.n, 'rating')} entered {'each' if each else 'the'} model"
    dropped = sum(model.dropped.values())
    used += f" ({number(dropped, 0)} excluded for missing values)." if dropped else "."
    return " ".join([*sentences, used, f"Software: EmpathyLab {__version__}."])


def model_results(
    model: Model,
    tests: Mapping[str, Any] = _NO_TESTS,
    *,
    said: Mapping[str, str] = _NO_FINDINGS,
) -> str:
    """What the model found, ready for a paper's results section; what speaks against it first.

    `tests` replace the model's own tests of coefficients; `said` is what a
    coefficient shows in words, in place of its name.
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
            lead = f"{said[name]}," if name in said else f"{readable(model, name)}:"
            sentences.append(_effect(model, lead, effects[name], p))
    sentences += _reading(model, [name for name in reported if name not in unsure])
    sentences += _spread_sentences(model)
    return " ".join(sentences)


def readable(model: Model, name: str) -> str:
    """A coefficient's name as one would say it: `gpt-4 against people (arm)`."""
    coding = model.design.coding
    column = _column(model, name)
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
    """How to read coefficients beside their interactions."""
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
    if not baseline:
        return []
    return [
        (
            "A coefficient of a factor that interacts with others applies where those are at "
            f"their reference level: {listed(baseline)}."
        )
    ]


def _effect(model: Model, lead: str, item: Any, p_corrected: float | None) -> str:
    level = number(100 * model.confidence, 0)
    span = f"{level}% CI [{number(item.low, 3)}, {number(item.high, 3)}]"
    p = p_text(item.p) if p_corrected is None else p_text(p_corrected, "Holm-corrected p")
    df = getattr(item, "df", math.inf)
    value = number(item.t if hasattr(item, "t") else item.z, 2)
    test = f"t({number(df)}) = {value}" if math.isfinite(df) else f"z = {value}"
    ratio = ""
    if isinstance(model, Clmm) and model.link == "logit":
        ratio = f"; odds ratio {odds(item.estimate)} [{odds(item.low)}, {odds(item.high)}]"
    return f"{lead} b = {number(item.estimate, 3)}, {span}, {test}, {p}{ratio}."


def _random_effects(model: Model) -> str:
    """The random effects in words: intercepts by group with their levels, slopes by group."""
    intercepts = [
        f"{_group(name)} ({counted(effect.levels, 'level')})"
        for name, effect in model.random_effects.items()
        if "|" not in name
    ]
    slopes = dict.fromkeys(
        f"{' × '.join(_variables(model, name))} by {_group(name.partition('|')[2])}"
        for name in model.random_effects
        if "|" in name
    )
    parts = [f"random intercepts of {listed(intercepts)}"] if intercepts else []
    parts += [f"random slopes of {listed(list(slopes))}"] if slopes else []
    return f" and {' and '.join(parts)}" if parts else " and without random effects"


def _group(name: str) -> str:
    """`arm by situation` for `arm:situation`."""
    return name.replace(":", " by ")


def _variables(model: Model, slope: str) -> list[str]:
    """The predictors of a random slope, `arm` for `armgpt|rater`."""
    column = _column(model, slope.partition("|")[0])
    if column is None:
        return [slope.partition("|")[0]]
    predictors = model.design.coding.predictors
    return [predictors[label].variable.name for label, _ in column.parts]


def _spread_sentences(model: Model) -> list[str]:
    """How random effects vary and correlate; those without variance together."""
    sizes = [
        f"{number(effect.sd, 3)} ({_effect_name(model, name)})"
        for name, effect in model.random_effects.items()
        if not effect.boundary
    ]
    zero = [
        _effect_name(model, name)
        for name, effect in model.random_effects.items()
        if effect.boundary
    ]
    sentences = []
    if sizes:
        are = "deviation of the random effect was"
        if len(sizes) > 1:
            are = "deviations of the random effects were"
        sentences.append(f"The standard {are} {listed(sizes)}.")
    if isinstance(model, Lmm):
        sentences.append(f"The residual standard deviation was {number(model.residual_sd, 3)}.")
    if zero:
        are = "variance of {} was" if len(zero) == 1 else "variances of {} were"
        sentences.append(f"The {are.format(listed(zero))} estimated as zero.")
    for group in dict.fromkeys(item.group for item in model.correlations):
        correlations = [
            f"{bounded(item.estimate)} ({_slope(model, item.first)} with "
            f"{_slope(model, item.second)})"
            for item in model.correlations
            if item.group == group and math.isfinite(item.estimate)
        ]
        if correlations:
            sentences.append(
                f"Random effects of {_group(group)} correlated at {listed(correlations)}."
            )
    return sentences


def _effect_name(model: Model, name: str) -> str:
    """`rater`, or `slope of gpt against people by rater`."""
    slope, _, group = name.partition("|")
    return f"{_slope(model, slope)} by {_group(group)}" if group else _group(name)


def _slope(model: Model, name: str) -> str:
    if name == INTERCEPT:
        return "intercept"
    said, column = readable(model, name), _column(model, name)
    if column is not None and len(column.parts) == 1:
        said = said.rpartition(" (")[0] or said
    return f"slope of {said}"


def _column(model: Model, name: str) -> Column | None:
    """The column of the fixed effects with this name."""
    return next((item for item in model.design.coding.columns if item.name == name), None)
