"""The sentences about scores by the rubric."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.scores.estimates import Comparison, RespondentScores, RunReplies
from empathylab.analysis.text.apa import p_text
from empathylab.analysis.text.numbers import number, percent, signed
from empathylab.judging.rubric.acceptance import REQUIRED, FaultCheck, JudgeAcceptance
from empathylab.store.judgements import JudgeRun

HIDDEN_SCORES = (
    "Judges' scores of replies that an open study shows are left out until it is closed."
)
_QUOTED = 60
"""The most characters of an answer that a sentence quotes."""


def score_sentence(
    scored: RespondentScores, judge: str, *, fit: bool | None, several: bool = False
) -> str:
    """The composite of one respondent; with the run's number where it has `several`."""
    name = f"{scored.respondent} (run {scored.run})" if several else scored.respondent
    score = scored.scores[0]
    interval = (
        ""
        if score.low != score.low
        else f" (95% CI {number(score.low, 2)} to {number(score.high, 2)})"
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


def unfit_sentence(
    judge: str,
    acceptance: JudgeAcceptance | None,
    tried: int | None,
    asked: JudgeRun | None = None,
) -> str:
    """Why the judge cannot be relied on."""
    if tried is None:
        return (
            f"The judge {judge} has not scored the planted replies, so it is not known whether it "
            f"can distinguish good replies from bad ones."
        )
    if asked is not None and asked.answered < asked.planned:
        return (
            f"It is not known whether the judge {judge} can distinguish good replies from bad "
            f"ones: {judging_sentence(asked)} on the planted replies."
        )
    if acceptance is None:
        why = "" if asked is None else f": {judging_sentence(asked)}"
        return (
            f"The judge {judge} is not fit: it gave no usable scores of the "
            f"{tried} planted replies{why}. Do not use its scores."
        )
    reasons = [*_incomplete(acceptance, asked), *_misjudged(acceptance)]
    return f"The judge {judge} is not fit: {', and '.join(reasons)}. Do not use its scores."


def _incomplete(acceptance: JudgeAcceptance, asked: JudgeRun | None) -> list[str]:
    """That planted replies have no scores, which says nothing about the judge's judgement."""
    if not acceptance.incomplete:
        return []
    why = "" if asked is None else f" ({judging_sentence(asked)})"
    where = f"in {acceptance.incomplete} of {acceptance.compared} situations"
    return [f"{where} a planted reply has no full score{why}"]


def _misjudged(acceptance: JudgeAcceptance) -> list[str]:
    """How often the right reply is not the best, and which faults the judge does not see."""
    reasons = []
    complete = acceptance.compared - acceptance.incomplete
    if complete and acceptance.right_above < REQUIRED:
        right = acceptance.right_above * acceptance.compared / complete
        if right < REQUIRED:
            which = " with full scores" if acceptance.incomplete else ""
            reasons.append(
                f"of the planted replies, it scored the right one highest in {percent(right)} of "
                f"{complete} situations{which} ({percent(REQUIRED)} are needed)"
            )
    missed = [_missed(check) for check in acceptance.faults if check.mean >= check.lowest_other]
    if missed:
        reasons.append(f"it does not detect these faults: {', '.join(missed)}")
    return reasons


def _missed(check: FaultCheck) -> str:
    """What the replies with a fault must score lowest on, and what they scored."""
    return (
        f"{check.fault} ({check.dimension} must be lowest: mean {number(check.mean, 2)}, another "
        f"kind {number(check.lowest_other, 2)})"
    )


def judging_sentence(asked: JudgeRun) -> str:
    """How many of a judge's requests gave no score, and the first such answer."""
    if asked.answered < asked.planned:
        return f"it answered {asked.answered} of {asked.planned} requests"
    unusable = asked.answered - asked.usable
    if not unusable:
        return f"all {asked.answered} answers could be used"
    text = " ".join((asked.first_unusable or "").split())
    first = f"'{text if len(text) <= _QUOTED else text[: _QUOTED - 1] + '…'}'" if text else "empty"
    return f"{unusable} of {asked.answered} answers could not be used, the first was {first}"


def unscored_sentence(replies: RunReplies, judge: str) -> str:
    """How many replies of a run have no full score by the judge that may be shown, and why."""
    of = f"of {replies.usable} replies of {replies.respondent}"
    hidden = f"{replies.hidden} {of} have hidden scores. {HIDDEN_SCORES}"
    missing = replies.unscored - replies.hidden
    if not missing:
        return hidden
    why = "" if replies.judging is None else f": {judging_sentence(replies.judging)}"
    unscored = f"{missing} {of} have no full score by the judge {judge}{why}."
    return f"{unscored} {hidden}" if replies.hidden else unscored


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
    """Whether a run is worse than the baseline, is not, or whether that is undecided."""
    baseline, margin = comparison.reference, number(comparison.margin, 2)
    difference = signed(comparison.difference, 2)
    tested = comparison.p == comparison.p
    over = f"over {comparison.situations} shared situations"
    low = f", with 95% confidence above {signed(comparison.low, 2)}" if tested else ""
    p = f", {p_text(comparison.p)}" if tested else ""
    if comparison.worse:
        most = f", with 95% confidence by at most {number(-comparison.low, 2)}" if tested else ""
        return (
            f"Run {comparison.run} is worse than {baseline} by {number(-comparison.difference, 2)}"
            f"{most}; {margin} is allowed ({over})."
        )
    if comparison.passed:
        return (
            f"Run {comparison.run} is not worse than {baseline} by {margin} or more: difference "
            f"{difference}{low} ({over}{p})."
        )
    return (
        f"It is unclear whether run {comparison.run} is worse than {baseline} by {margin} or "
        f"more: difference {difference}{low} ({over}{p})."
    )


def loss_sentence(comparison: Comparison) -> str:
    """What a run lost against the baseline: by dimension, and in which situations."""
    dimensions = sorted(comparison.dimensions[1:], key=lambda change: change.difference)
    parts = [f"{change.dimension} {signed(change.difference, 2)}" for change in dimensions]
    by_dimension = (
        f"Run {comparison.run} minus {comparison.reference}, by dimension: {', '.join(parts)}."
    )
    lost = [
        f"{loss.situation} ({number(loss.baseline, 2)} to {number(loss.score, 2)})"
        for loss in comparison.losses
    ]
    return f"{by_dimension} Largest losses: {', '.join(lost)}." if lost else by_dimension
