"""One sentence per simulator, on how conversations ended."""

from __future__ import annotations

import math
from collections.abc import Iterator

from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.analysis.conversations.estimates import RespondentResult
from empathylab.analysis.conversations.frames import PEOPLE
from empathylab.analysis.conversations.prose import moved_by_simulators, simulator_conclusions
from empathylab.analysis.conversations.simulator_cards import SimulatorCard
from empathylab.analysis.results import Conclusion
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.names import listed_some
from empathylab.analysis.text.numbers import number


def conversation_headlines(talks: ConversationsAnalysis | None) -> Iterator[Conclusion]:
    """One conclusion for each simulator, those with several respondents first, and how much the
    simulator decides. A simulator that cannot simulate a person gets its verdict, not a score.
    """
    if talks is None:
        return
    groups: dict[str, list[RespondentResult]] = {}
    for result in talks.respondents:
        if result.n:
            groups.setdefault(result.simulator, []).append(result)
    conclusions = [
        _cannot_simulate(card)
        if (card := talks.failed_simulators.get(simulator))
        else _talked(talks, simulator, results)
        for simulator, results in sorted(groups.items(), key=lambda group: -len(group[1]))
    ]
    yield from conclusions[:1]
    yield from moved_by_simulators(talks.comparisons)
    yield from conclusions[1:]
    yield from simulator_conclusions(talks.simulators)


def unscored_conclusion(talks: ConversationsAnalysis) -> Conclusion:
    """That no conversation has a feeling at its end, for labs without anything else."""
    names = listed_some(list(dict.fromkeys(item.respondent for item in talks.respondents)), 2)
    n = talks.conversations.height
    return Conclusion(
        kind="descriptive",
        sentence=f"{counted(n, 'conversation')} with {names}: how the person felt at the end is "
        "not known, so nothing shows whether it helped.",
        subject=talks.respondents[0].respondent if talks.respondents else "all",
        n=n,
    )


def _cannot_simulate(card: SimulatorCard) -> Conclusion:
    return Conclusion(
        kind="descriptive",
        sentence=card.sentence,
        subject=card.simulator,
        subset=card.simulator,
        n=card.conversations,
    )


def _talked(
    talks: ConversationsAnalysis, simulator: str, results: list[RespondentResult]
) -> Conclusion:
    order = sorted(results, key=lambda item: -item.mean_final)
    best, last = order[0], order[-1]
    who = "With real people" if simulator == PEOPLE else f"With {simulator} playing the person"
    total = counted(sum(item.n for item in order), "conversation")
    if len(order) == 1:
        sentence = (
            f"{who}, conversations with {best.respondent} ended at {_feeling(best)}, {total}."
        )
    else:
        sentence = (
            f"{who}, conversations ended best with {best.respondent} ({_feeling(best)}) and worst "
            f"with {last.respondent} ({_feeling(last)})"
            f"{_talk_difference(talks, simulator, best, last)}; {total}."
        )
    return Conclusion(
        kind="descriptive",
        sentence=sentence,
        subject=best.respondent,
        reference=None if best is last else last.respondent,
        subset=simulator,
        estimate=best.mean_final,
        low=best.low,
        high=best.high,
        unit="points",
        n=sum(item.n for item in order),
        basis=total,
    )


def _feeling(result: RespondentResult) -> str:
    ends = "no interval"
    if math.isfinite(result.low):
        ends = f"95% CI {number(max(0, result.low))} to {number(min(100, result.high))}"
    return f"mean feeling {number(result.mean_final)} of 100, {ends}"


def _talk_difference(
    talks: ConversationsAnalysis, simulator: str, best: RespondentResult, last: RespondentResult
) -> str:
    names = {best.respondent, last.respondent}
    difference = next(
        (
            pair.difference
            for pair in talks.comparisons
            if pair.simulator == pair.reference_simulator == simulator
            and {pair.respondent, pair.reference} == names
        ),
        None,
    )
    if difference is None or not math.isfinite(difference.low):
        return ""
    if difference.low <= 0 <= difference.high:
        return ": the difference could be chance"
    ends = sorted(abs(end) for end in (difference.low, difference.high))
    return (
        f": difference {number(abs(difference.estimate))} points, "
        f"95% CI {number(ends[0])} to {number(ends[1])}"
    )
