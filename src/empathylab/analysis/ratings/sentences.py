"""The sentence and the caveats of a conclusion about rated arms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from empathylab.analysis.ratings.design import RatingsDesign
from empathylab.analysis.ratings.differences import Comparison
from empathylab.analysis.ratings.looks import Look
from empathylab.analysis.ratings.mixed_models import problem_sentences
from empathylab.analysis.ratings.model import FEW_RATERS, FEWEST_FREE, DimensionModel
from empathylab.analysis.ratings.scales import StudyScales
from empathylab.analysis.results import Conclusion, Kind, Unit
from empathylab.analysis.text.apa import counted, interval, listed, p_text
from empathylab.analysis.text.names import differs, first_capital, name_of, names_of, was
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import signed, with_ends
from empathylab.stats.arms import Estimate
from empathylab.stats.equivalence import Equivalence
from empathylab.stats.mixed import Lmm

_DIRECTION = {"better": "higher", "worse": "lower"}
_SMALL = 0.2
_LOGISTIC_SD = math.pi / math.sqrt(3)
_REMEDIES = {
    "arm_with_one_rater": "collect ratings from more raters",
    "arm_with_one_situation": "collect ratings of replies to more situations",
    "arm_without_rating": "collect ratings of both arms",
    "constant_between_raters": "collect more ratings",
}


def conclusion_sentence(
    comparison: Comparison,
    kind: Kind,
    estimate: Estimate,
    unit: Unit,
    p: float,
    p_adjusted: float,
    equivalence: Equivalence | None,
    by: str,
    look: Look | None = None,
) -> str:
    where = "" if comparison.subset == "all" else f" in {comparison.subset} situations"
    on = f"on {comparison.dimension}{where}"
    if not math.isfinite(p):
        names = f"{name_of(comparison.arm)} and {name_of(comparison.reference)}"
        return first_capital(f"{names} cannot be {_obstacle(comparison, on)}.")
    digits = 2 if unit == "points" else 3 if unit == "log-odds" else 1
    size = signed(estimate.estimate, digits)
    what = (
        f"log-odds {size}"
        if unit == "log-odds"
        else f"difference in {comparison.what} {size} {unit}"
    )
    adjusted = f", {p_text(p_adjusted, 'adjusted p')}" if p_adjusted != p else ""
    span = interval(estimate, digits)
    if look is not None:
        percent = f"{100 * (1 - look.alpha):.4g}%"
        span = span.replace("95%", percent, 1)
    numbers = f"{what}, {span}, {p_text(p)}{adjusted} ({by})"
    if kind in ("better", "worse"):
        text = f"{was(comparison.arm)} rated {_DIRECTION[kind]} than "
        text += f"{name_of(comparison.reference)} {on}: {numbers}."
        if equivalence is not None and equivalence.equivalent:
            text += (
                f" The difference is smaller than the margin of {_margin(comparison, equivalence)}."
            )
        return first_capital(text)
    if kind == "equivalent" and equivalence is not None:
        return first_capital(
            f"{name_of(comparison.arm)} and {name_of(comparison.reference)} are equivalent {on}: "
            f"the difference in {comparison.what} is within the margin of "
            f"{_margin(comparison, equivalence)} ({_narrow(equivalence, comparison.unit)}, "
            f"{p_text(equivalence.p, 'TOST p')}); {numbers}."
        )
    why = "no margin for equivalence was declared"
    if equivalence is not None:
        why = (
            f"the data neither show a difference nor exclude one larger than "
            f"{_margin(comparison, equivalence)} ({p_text(equivalence.p, 'TOST p')})"
        )
    return (
        f"Inconclusive whether {differs(comparison.arm)} from {name_of(comparison.reference)} "
        f"{on}: {numbers}; {why}."
    )


def _obstacle(comparison: Comparison, on: str) -> str:
    """Why there is no test, and what helps."""
    problem = comparison.problem
    if problem is None:
        return f"compared {on}: there is no test"
    remedy, why = _REMEDIES.get(problem.code), f"compared {on}: {note_text(problem)}"
    if problem.code == "constant_between_raters":
        estimate = comparison.difference.estimate
        if comparison.unit == "percentage points":
            remedy = f"{remedy}, or compare at another threshold with --good-from"
        if abs(estimate) > 0:
            digits = 2 if comparison.unit == "points" else 1
            why = (
                f"tested {on}, although they differ: the difference in {comparison.what} is "
                f"{signed(estimate, digits)} {comparison.unit}, but within an arm raters do not "
                "vary, so there is no interval"
            )
    return "; ".join(filter(None, [why, remedy]))


def _margin(comparison: Comparison, equivalence: Equivalence) -> str:
    return f"±{equivalence.margin_high:g} {comparison.unit}"


def _narrow(equivalence: Equivalence, unit: Unit) -> str:
    digits = 2 if unit == "points" else 1
    low, high = signed(equivalence.low, digits), signed(equivalence.high, digits)
    return f"90% CI [{low}, {high}]"


def few_raters(comparison: Comparison, design: RatingsDesign) -> list[str]:
    """Which of the two arms has few raters, in a few words."""
    counts = {
        arm: design.raters_per_arm.get(arm, FEW_RATERS)
        for arm in (comparison.arm, comparison.reference)
    }
    few = [
        f"{counted(n, 'rater')} for replies by {name_of(arm)}"
        for arm, n in counts.items()
        if n < FEW_RATERS
    ]
    return [f"only {' and '.join(few)}"] if few else []


def small_sample(comparison: Comparison, design: RatingsDesign) -> tuple[str, ...]:
    if not few_raters(comparison, design):
        return ()
    return (
        (
            "Few raters: the test allows for this, but with fewer than "
            f"{FEW_RATERS} per arm the result depends on who they are."
        ),
    )


def few_replies(design: RatingsDesign) -> str:
    """Why the model is not tested where replies have several ratings; empty where it is.

    A variance that is estimated as 0 from so few replies is not known to be small.
    """
    if design.second_cluster is None or design.freedom_of_replies >= FEWEST_FREE:
        return ""
    return (
        f"replies to {counted(design.situations, 'situation')} are too few for the mixed model to "
        "estimate how much replies vary"
    )


def unequal_effects(fitted: DimensionModel, arm: str, scales: StudyScales) -> tuple[str, ...]:
    """The arm's effect at each threshold, where it is not the same at all of them."""
    odds = fitted.odds
    if odds is None or not odds.rejected:
        return ()
    effects = [effect for effect in odds.test.effects if effect.column == f"arm{arm}"]
    if not effects:
        return ()
    around = scales.around(fitted.dimension, [effect.threshold for effect in effects])
    sentences = [
        with_ends(effect.estimate, effect.low, effect.high, digits=2, written=signed)
        + f" between {' and '.join(around.get(effect.threshold, effect.threshold.split('|')))}"
        for effect in effects
    ]
    opposite = min(effect.high for effect in effects) < 0 < max(effect.low for effect in effects)
    reading = (
        "the arm is rated higher at some thresholds and lower at others, so the single log-odds "
        "does not describe the difference"
        if opposite
        else "the single log-odds is their average"
    )
    return (
        (
            f"The effect differs between thresholds of the rating ({p_text(odds.p)}, proportional "
            f"odds): log-odds {', '.join(sentences)}; {reading}."
        ),
    )


def model_caveats(fitted: DimensionModel, design: RatingsDesign) -> tuple[str, ...]:
    caveats = [] if fitted.model is None else problem_sentences(fitted.model)
    caveats += [f"Not in the model: {item}" for item in fitted.dropped]
    formula = fitted.model.formula if fitted.model is not None else ""
    # With one rating of each arm, a rater's preference is part of the residual.
    several = design.kind in ("within", "mixed") and design.ratings_per_rater_and_arm > 1
    if several and not any(term in formula for term in ("(1|arm:rater)", "(1 + arm|rater)")):
        caveats.append(
            "The model assumes that the arms differ by the same amount for all raters; where "
            "raters differ in this, p values are too small."
        )
    return tuple(caveats)


def small_effect(fitted: DimensionModel, estimate: float, kind: Kind) -> tuple[str, ...]:
    """That a difference without a margin is smaller than what Cohen calls small.

    In standard deviations of the latent scale, or of the residual of a linear model.

    Chinn, S. (2000). Statistics in Medicine 19, 3127–3131.
    """
    model = fitted.model
    if kind not in _DIRECTION or model is None:
        return ()
    d = estimate / (model.residual_sd if isinstance(model, Lmm) else _LOGISTIC_SD)
    if abs(d) >= _SMALL:
        return ()
    return (
        (
            f"The difference is significant but small: d = {signed(d, 2)}, where 0.2 counts as "
            "small. Whether it matters is not tested, as no margin was declared."
        ),
    )


def findings(conclusions: Sequence[Conclusion], fitted: DimensionModel) -> dict[str, str]:
    """What each arm's coefficient of the model shows, by the coefficient's name."""
    said = {}
    for conclusion in _main(conclusions, fitted.dimension):
        if fitted.model is None or not (conclusion.model or "").endswith(fitted.model.formula):
            continue
        arm, reference = conclusion.subject, name_of(conclusion.reference or "")
        if conclusion.kind in ("better", "worse"):
            text = f"{was(arm)} rated {_DIRECTION[conclusion.kind]} than {reference}"
        else:
            text = f"{name_of(arm)} did not differ detectably from {reference}"
        said[f"arm{arm}"] = first_capital(f"{text} on {conclusion.dimension}")
    return said


def equivalence_sentences(comparisons: Sequence[Comparison], margin: float | None) -> list[str]:
    """Whether arms differ by less than the margin, a sentence per arm."""
    sentences = []
    for comparison in comparisons:
        equivalence = comparison.equivalence(margin)
        if equivalence is None:
            continue
        were = "were" if equivalence.equivalent else "were not shown to be"
        digits = 2 if comparison.unit == "points" else 1
        sentences.append(
            first_capital(
                f"{name_of(comparison.arm)} and {name_of(comparison.reference)} {were} equivalent "
                f"within {_margin(comparison, equivalence)}: difference in {comparison.what} "
                f"{signed(equivalence.estimate, digits)}, {_narrow(equivalence, comparison.unit)}, "
                f"{p_text(equivalence.p, 'TOST p')}."
            )
        )
    return sentences


def disagreement_sentence(conclusions: Sequence[Conclusion], dimension: str) -> str:
    """Which test decides where the model and the cluster-robust test disagree."""
    kinds: dict[str, list[str | None]] = {}
    for conclusion in _main(conclusions, dimension):
        kinds.setdefault(conclusion.subject, []).append(_DIRECTION.get(conclusion.kind))
    arms = [name_of(arm) for arm, different in kinds.items() if len(set(different)) > 1]
    if not arms:
        return ""
    return (
        f"The model and the cluster-robust test disagree about {listed(arms)} at α = .05. The "
        "model, which follows from the design, is the main analysis."
    )


def assumption_sentences(
    conclusions: Sequence[Conclusion], fitted: DimensionModel, said: str
) -> list[str]:
    """Which assumptions of the model hold or fail; without what was `said` already."""
    caveats: dict[str, list[str]] = {}
    own = _main(conclusions, fitted.dimension)
    for conclusion in own:
        for caveat in conclusion.caveats:
            arms = caveats.setdefault(caveat, [])
            if conclusion.subject not in arms:
                arms.append(conclusion.subject)
    subjects = {conclusion.subject for conclusion in own}
    sentences = [
        caveat if len(arms) == len(subjects) else f"{listed(names_of(arms))}: {caveat}"
        for caveat, arms in caveats.items()
        if caveat not in said
    ]
    odds = fitted.odds
    if odds is not None and not odds.rejected:
        sentences.append(
            f"The test of proportional odds, clustered by {odds.clusters}, did not reject "
            f"({p_text(odds.p)})."
        )
    return sentences


def _main(conclusions: Sequence[Conclusion], dimension: str) -> list[Conclusion]:
    """The conclusions over all situations: of each arm the model's, then the test's."""
    return [item for item in conclusions if (item.dimension, item.subset) == (dimension, "all")]


def with_caveats(conclusions: Sequence[Conclusion]) -> tuple[list[str], list[str]]:
    """The caveats that several conclusions share, and every sentence with its others."""
    shared = [
        caveat
        for caveat in (conclusions[0].caveats if len(conclusions) > 2 else ())
        if all(caveat in conclusion.caveats for conclusion in conclusions)
    ]
    return shared, [
        " ".join([str(conclusion), *(c for c in conclusion.caveats if c not in shared)])
        for conclusion in conclusions
    ]
