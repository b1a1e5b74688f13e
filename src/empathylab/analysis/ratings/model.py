"""The mixed models of a rated study: which one follows from the design, and its fit.

`random_terms` is the one place that decides which random effects a design needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.ratings.design import RatingsDesign
from empathylab.analysis.results import ModelChoice
from empathylab.errors import InputError
from empathylab.stats.mixed import Clmm, Lmm, clmm, lmm

FEW_RATERS = 20
"""Per arm; below it Wald tests reject a true null hypothesis too often."""
_NAMES = {"clmm": "cumulative link mixed model", "lmm": "linear mixed model"}


@dataclass(frozen=True, slots=True)
class DimensionModel:
    """A mixed model of one dimension's ratings."""

    dimension: str
    kind: str
    """`clmm` for ordered categories, `lmm` for a continuous scale."""
    by_valence: bool
    """Whether the arms' effect may depend on the valence of the situation."""
    model: Clmm | Lmm | None
    problem: str | None = None
    """Why there is no model."""
    dropped: tuple[str, ...] = ()
    """Random effects that were tried and could not be estimated, with the reason."""

    @property
    def name(self) -> str:
        return _NAMES[self.kind]


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """A random effect, and why the design needs it."""

    term: str
    reason: str
    required: bool = True
    """Whether the model makes no sense without it."""


def random_terms(design: RatingsDesign) -> tuple[RandomTerm, ...]:
    """The random effects that this design needs."""
    found = [
        RandomTerm("(1|rater)", "a rater's ratings are alike"),
        RandomTerm("(1|situation)", "ratings of one situation are alike"),
    ]
    if design.raters_vary_by_arm:
        # Random slopes with equal variances: they can be fitted to small studies, too.
        reason = "a rater may prefer one arm, and raters saw several arms"
        found.append(RandomTerm("(1|arm:rater)", reason, required=False))
    if design.replies_vary:
        several = f"{100 * design.shared_replies:.0f}% of the replies have two or more ratings"
        reason = f"replies are a sample of what an arm can write, and {several}"
        found.append(RandomTerm("(1|arm:situation)", reason, required=False))
    return tuple(found)


def dimension_models(
    ratings: pl.DataFrame,
    continuous: Iterable[tuple[str, bool]],
    reference: str,
    terms: tuple[RandomTerm, ...],
) -> tuple[DimensionModel, ...]:
    """The models of each dimension: of the arms, and of arms by valence where both occur.

    `continuous` says of each dimension whether its scale has no points.
    """
    found = []
    for name, linear in continuous:
        frame = ratings.filter(dimension=name)
        if frame["arm"].n_unique() < 2:
            continue
        if frame["rating"].n_unique() < 2:
            value = f"{frame['rating'][0]:g}"
            problem = f"every rating of {name} is {value}, so there is nothing to model."
            found.append(DimensionModel(name, "lmm" if linear else "clmm", False, None, problem))
            continue
        kinds = {False: frame}
        if "valence" in frame.columns:
            # Mixed situations cannot inform the difference between the two valences.
            clear = frame.filter(pl.col("valence").is_in(["positive", "negative"]))
            if clear["valence"].n_unique() == 2:
                kinds[True] = clear
        for by_valence, rows in kinds.items():
            model = DimensionModel(name, "lmm" if linear else "clmm", by_valence, None)
            found.append(_fitted(model, rows, reference, terms))
    return tuple(found)


def _fitted(
    planned: DimensionModel, frame: pl.DataFrame, reference: str, terms: tuple[RandomTerm, ...]
) -> DimensionModel:
    """The model; where it cannot be fitted, without the last random effect it can do without."""
    fixed = "arm * valence" if planned.by_valence else "arm"
    levels = {"arm": reference} | ({"valence": "negative"} if planned.by_valence else {})
    dropped: tuple[str, ...] = ()
    while True:
        formula = " + ".join([f"rating ~ {fixed}", *(one.term for one in terms)])
        fit = lmm if planned.kind == "lmm" else clmm
        try:
            model = fit(frame, formula, reference=levels)
        except InputError as error:
            if terms and not terms[-1].required:
                dropped = (*dropped, f"{terms[-1].term}: {error}")
                terms = terms[:-1]
                continue
            return _with(planned, None, str(error), dropped)
        return _with(planned, model, None, dropped)


def _with(
    planned: DimensionModel, model: Clmm | Lmm | None, problem: str | None, dropped: tuple[str, ...]
) -> DimensionModel:
    return DimensionModel(
        planned.dimension, planned.kind, planned.by_valence, model, problem, dropped
    )


def model_choice(
    models: tuple[DimensionModel, ...], terms: tuple[RandomTerm, ...]
) -> ModelChoice | None:
    """The model behind the main conclusions; None with a single arm or nothing to compare."""
    main = [one for one in models if not one.by_valence]
    if not main:
        return None
    first = next((one for one in main if one.model is not None), main[0])
    if first.model is None:
        return ModelChoice(
            name="cluster-robust t test",
            reason=f"No mixed model could be fitted: {first.problem}",
        )
    scale = "ratings are ordered categories" if first.kind == "clmm" else "the scale is continuous"
    fitted = [one for one in terms if one.term in first.model.formula]
    reasons = [scale, *(f"{one.term} because {one.reason}" for one in fitted)]
    return ModelChoice(
        name=first.name,
        formula=first.model.formula,
        reason=f"{'; '.join(reasons).capitalize()}.",
        dropped=first.dropped,
    )
