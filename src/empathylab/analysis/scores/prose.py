"""The sentences about scores by the rubric."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.scores.estimates import Comparison, RespondentScores
from empathylab.analysis.text.apa import p_text
from empathylab.analysis.text.numbers import number, percent, signed
from empathylab.judging.rubric.acceptance import REQUIRED, JudgeAcceptance


def score_sentence(
    scored: RespondentScores, judge: str, *, fit: bool | None, several: bool = False
) -> str:
    """The composite of one respondent; with the run's number where it has `several`."""
    name = f"{scored.respondent} (run {scored.run})" if several else scored.respondent
    score = scored.scores[0]
    interval = (
        "" if score.low != score.low else f" [{number(score.low, 2)}, {number(score.high, 2)}]"
    )
    unsafe = f"; {scored.capped} not safe" if scored.capped else ""
    doubt = {
        True: "",
        False: ", which is not fit to judge",
        None: ", which has not been checked",
    }[fit]
    return (
        f"{name}: empathy {number(score.mean, 2)} of 5{interval}, the mean of "
        f"{scored.n} replies to {scored.situations} situations{unsafe}, scored by {judge}{doubt}."
    )


def unfit_sentence(judge: str, acceptance: JudgeAcceptance | None, tried: int | None) -> str:
    """Why the judge cannot be relied on."""
    if tried is None:
        return (
            f"The judge {judge} has not scored the planted replies, so it is not known whether it "
            f"can distinguish good replies from bad ones."
        )
    if acceptance is None:
        return (
            f"The judge {judge} is not fit: it gave no usable scores of the "
            f"{tried} planted replies. Do not use its scores."
        )
    missed = [check.fault for check in acceptance.faults if not check.passed]
    faults = f", and it does not see these faults: {', '.join(missed)}" if missed else ""
    return (
        f"The judge {judge} is not fit: of the planted replies, it scored the right one "
        f"highest in {percent(acceptance.right_above)} of {acceptance.compared} situations "
        f"({percent(REQUIRED)} are needed){faults}. Do not use its scores."
    )


def card_sentence(judge: str, cards: Sequence[tuple[str, JudgeCard]]) -> str:
    """How the judge compares with people."""
    if not cards:
        return (
            f"The judge {judge} was not compared with people. To compare it, let it judge "
            "a study that people rated: empathylab judge, then empathylab analyze judges."
        )
    parts = []
    for study, card in cards:
        biases = [bias.name.replace("_", " ") for bias in card.biases if bias.found]
        parts.append(
            f"{study or 'a table'}, {card.dimension}: "
            f"Spearman {number(card.spearman.estimate, 2)}, weighted "
            f"kappa {number(card.weighted_kappa.estimate, 2)} with {card.n_people} people "
            f"on {card.n} replies, biases: {', '.join(biases) or 'none found'}"
        )
    return (
        f"The judge {judge} was compared with people on other scales than this rubric: "
        f"{'; '.join(parts)}."
    )


def comparison_sentence(comparison: Comparison) -> str:
    """Whether a run is shown not to be worse than the baseline."""
    low = (
        ""
        if comparison.low != comparison.low
        else f", at least {signed(comparison.low, 2)} with 95% confidence"
    )
    p = "" if comparison.p != comparison.p else f" ({p_text(comparison.p)})"
    verdict = "is not worse" if comparison.passed else "is not shown to be no worse"
    return (
        f"Run {comparison.run} {verdict} than run {comparison.baseline} by "
        f"{number(comparison.margin, 2)}: difference {signed(comparison.difference, 2)}{low}{p}."
    )
