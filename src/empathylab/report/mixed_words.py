"""Mixed models in words: a methods and a results paragraph, with the numbers filled in."""

from __future__ import annotations

import math
from typing import Any

from empathylab import __version__
from empathylab.report.apa import counted, listed, p_text
from empathylab.report.formats import number
from empathylab.stats.mixed import Clmm, Lmm

Model = Clmm | Lmm


def model_methods(model: Model) -> str:
    """How the model was fitted, ready for a paper's methods section."""
    groups = [
        f"{name} ({counted(one.levels, 'level')})" for name, one in model.random_effects.items()
    ]
    random = f" with random intercepts of {listed(groups)}" if groups else " without random effects"
    if isinstance(model, Clmm):
        latent = "logistic" if model.link == "logit" else "normal"
        said = [
            (
                f"Ratings ({counted(len(model.levels), 'ordered category', 'ordered categories')}) "
                f"were analysed with a cumulative link mixed model ({model.link} link){random}, "
                f"flexible thresholds and the formula {model.formula}."
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
                f"Ratings were analysed with a linear mixed model{random} and the formula "
                f"{model.formula}, fitted by {likelihood}; tests and intervals take "
                "Satterthwaite's degrees of freedom."
            )
        ]
    used = f"{counted(model.n, 'rating')} entered the model"
    dropped = sum(model.dropped.values())
    used += f" ({number(dropped, 0)} left out for missing values)." if dropped else "."
    return " ".join([*said, used, f"Software: EmpathyLab {__version__}."])


def model_results(model: Model) -> str:
    """What the model found, ready for a paper's results section."""
    said = [
        _effect(model, readable(model, name), one)
        for name, one in model.coefficients.items()
        if name != "(Intercept)"
    ]
    said += [_spread(name, one) for name, one in model.random_effects.items()]
    if isinstance(model, Lmm):
        said.append(f"The residual standard deviation was {number(model.residual_sd, 3)}.")
    if not model.converged:
        said.append("The fit did not converge, so these numbers cannot be trusted.")
    # Variances at the boundary were spoken of above.
    said += [sentence for sentence in model.problems if "boundary" not in sentence]
    return " ".join(said)


def readable(model: Model, name: str) -> str:
    """A coefficient's name as one would say it: `gpt-4 against human (arm)`."""
    parts = []
    for part in name.split(":"):
        said = part
        for factor, levels in model.design.factors.items():
            level = part.removeprefix(factor)
            if part.startswith(factor) and level in levels:
                said = f"{level} against {levels[0]} ({factor})"
        parts.append(said)
    return " × ".join(parts)


def _effect(model: Model, name: str, one: Any) -> str:
    if not math.isfinite(one.se):
        return f"{name} could be estimated ({number(one.estimate, 3)}) but not its uncertainty."
    level = number(100 * model.confidence, 0)
    span = f"{level}% CI [{number(one.low, 3)}, {number(one.high, 3)}]"
    if isinstance(model, Clmm):
        test = f"z = {number(one.z, 2)}, {p_text(one.p)}"
        ratio = ""
        if model.link == "logit":
            low, high = math.exp(min(one.low, 700)), math.exp(min(one.high, 700))
            ratio = (
                f"; odds ratio {number(math.exp(min(one.estimate, 700)), 2)} "
                f"[{number(low, 2)}, {number(high, 2)}]"
            )
        return f"{name}: b = {number(one.estimate, 3)}, {span}, {test}{ratio}."
    test = f"t({number(one.df)}) = {number(one.t, 2)}, {p_text(one.p)}"
    return f"{name}: b = {number(one.estimate, 3)}, {span}, {test}."


def _spread(name: str, one: Any) -> str:
    if one.boundary:
        return (
            f"The variance of {name} was estimated at its boundary, zero: beyond the other terms, "
            f"no differences between levels of {name} could be told from chance."
        )
    return f"The standard deviation of {name} was {number(one.sd, 3)}."
