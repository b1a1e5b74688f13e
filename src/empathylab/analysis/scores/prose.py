"""The sentences about scores by the rubric."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.scores.estimates import Comparison, RespondentScores
from empathylab.analysis.text.apa import p_text
from empathylab.analysis.text.numbers import number, percent, signed
from empathylab.judging.rubric.acceptance import REQUIRED, JudgeAcceptance


def score_sentence(
    found: RespondentScores, judge: str, *, fit: bool | None, several: bool = False
) -> str:
    """The composite of one respondent; with the run's number where it has `several`."""
    name = f"{found.respondent} (run {found.run})" if several else found.respondent
    score = found.scores[0]
    interval = (
        "" if score.low != score.low else f" [{number(score.low, 2)}, {number(score.high, 2)}]"
    )
    unsafe = f"; {found.capped} not safe" if found.capped else ""
    doubt = {
        True: "",
        False: ", which is not fit to judge",
        None: ", which has not been checked",
    }[fit]
    return (
        f"{name}: empathy {number(score.mean, 2)} of 5{interval}, the mean of "
        f"{found.n} replies to {found.situations} situations{unsafe}, scored by {judge}{doubt}."
    )


def unfit_sentence(judge: str, found: JudgeAcceptance | None, tried: int | None) -> str:
    """Why the judge cannot be relied on."""
    if tried is None:
        return (
            f"The judge {judge} has not scored the planted replies, so it is not known whether it "
            f"can distinguish good replies from bad ones."
        )
    if found is None:
        return (
            f"The judge {judge} is not fit: it gave no usable scores of the "
            f"{tried} planted replies. Do not use its scores."
        )
    missed = [check.fault for check in found.faults if not check.passed]
    faults = f", and it does not see these faults: {', '.join(missed)}" if missed else ""
    return (
        f"The judge {judge} is not fit: of the planted replies, it scored the right one "
        f"highest in {percent(found.right_above)} of {found.compared} situations "
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


def comparison_sentence(found: Comparison) -> str:
    """Whether a run is shown not to be worse than the baseline."""
    low = "" if found.low != found.low else f", at least {signed(found.low, 2)} with 95% confidence"
    p = "" if found.p != found.p else f" ({p_text(found.p)})"
    verdict = "is not worse" if found.passed else "is not shown to be no worse"
    return (
        f"Run {found.run} {verdict} than run {found.baseline} by {number(found.margin, 2)}: "
        f"difference {signed(found.difference, 2)}{low}{p}."
    )
