"""A judge's card in sentences."""

from __future__ import annotations

import math

from empathylab.analysis.judges.cards import JudgeBias, JudgeCard
from empathylab.analysis.text.numbers import number, p_value, percent, signed
from empathylab.stats.judges.preference_agreement import Agreeing

_TITLES = {
    "length": "length",
    "self_preference": "own family",
    "position": "place of the reply",
    "scale_order": "direction of the scale",
    "valence": "valence",
}
_FEW = 50
"""Below so many ratings or choices, that no bias was found says little."""
_SAMPLE = "with a sample of people's ratings beside it, in a prediction-powered estimate"


def bias_title(bias: JudgeBias) -> str:
    """What the bias is about, in a few words."""
    return bias.about if bias.name == "emotion" else _TITLES[bias.name]


def reasons(card: JudgeCard) -> tuple[str, ...]:
    """Why the verdict is as it is, a sentence each."""
    said = [
        _test(card),
        _agreement(card),
        _level(card),
        _skill(card),
        *(_found(one) for one in (*card.biases, *card.emotions) if one.found),
        _not_found(card),
        _unlooked(card),
        _steady(card),
        _orders(card),
        _preferred(card),
        *_panel(card),
    ]
    return tuple(one for one in said if one)


def several_ways(judge: str, ways: int) -> str:
    """That a judge was asked in several ways, of which one is used."""
    return (
        f"{judge} was asked in {ways} ways (another mode, seed or version of the question, say); "
        "only the one that holds the most of these replies is used."
    )


def good_for(card: JudgeCard) -> tuple[str, ...]:
    """What the judge may be used for."""
    if card.decision == "may":
        return (f"{card.dimension}, of replies like these ({_whom(card)}), on this scale",)
    if card.foretells:
        return (f"{card.dimension}, {_SAMPLE}",)
    return ()


def not_for(card: JudgeCard) -> tuple[str, ...]:
    """What it must not be used for."""
    always = "other dimensions, scales, kinds of situations, and respondents unlike these"
    alone = () if card.decision == "may" else ("standing in for people without any of their own",)
    return (*alone, *card.not_for, always)


def _whom(card: JudgeCard) -> str:
    count = f"{number(card.n, 0)} responses to {number(card.n_situations, 0)} situations"
    if not card.respondents:
        return count
    names = ", ".join(card.respondents[:4]) + (" …" if len(card.respondents) > 4 else "")
    return f"{count}, by {names}"


def _test(card: JudgeCard) -> str:
    test = card.alt_test
    if test is None or not test.comparisons:
        return ""  # the verdict says why
    wins = sum(one.judge_wins for one in test.comparisons)
    people = len(test.comparisons)
    told = (
        f"Alternative annotator test at ε = {card.epsilon:g} (people taken as "
        f"{'a crowd' if card.people_are == 'crowd' else card.people_are}): it is shown to do as "
        f"well as {wins} of {people} people, and half are needed; over {number(test.n, 0)} "
        "responses it is at least as near to the others as the person in "
        f"{percent(test.advantage)} "
        f"({percent(test.advantage_low)} to {percent(test.advantage_high)})."
    )
    if not test.passes:
        enough = test.smallest_epsilon
        told += (
            f" It would pass from ε = {number(enough, 2)}."
            if not math.isnan(enough)
            else " It would pass at no ε."
        )
    if card.constant_passes:
        told += (
            " A judge that always says people's commonest rating would pass, so passing alone says "
            "little here."
        )
    return f"{told} {_sentence(test.note)}".strip()


def _agreement(card: JudgeCard) -> str:
    kappa, rank = card.weighted_kappa, card.spearman
    if not card.n:
        return ""
    told = f"With the median of people: weighted κ {_ended(kappa.estimate, kappa.low, kappa.high)}"
    told += f", Spearman {_ended(rank.estimate, rank.low, rank.high)}"
    if not math.isnan(card.spearman_within):
        told += f", among replies of one respondent {number(card.spearman_within, 2)}"
    if not math.isnan(card.people_kappa):
        told += (
            f". Two people agree at κ {number(card.people_kappa, 2)} on average, the judge with "
            f"one person at {number(card.judge_person_kappa, 2)}"
        )
    return told + "."


def _level(card: JudgeCard) -> str:
    if card.curve is None or math.isnan(card.curve.bias.low):
        return ""
    bias = card.curve.bias
    if bias.low <= 0 <= bias.high:
        return ""
    side = "above" if bias.estimate > 0 else "below"
    ends = sorted((abs(bias.low), abs(bias.high)))
    return (
        f"On average it rates {number(abs(bias.estimate), 2)} points {side} people "
        f"({number(ends[0], 2)} to {number(ends[1], 2)})."
    )


def _skill(card: JudgeCard) -> str:
    scores = card.scores
    if scores is None or math.isnan(scores.gain.low):
        return ""
    if scores.gain.low > 0:
        return (
            "What it says foretells people's ratings of other situations: it takes away "
            f"{percent(scores.skill)} of the error of the bare shares."
        )
    if scores.gain.high < 0:
        return "Foretelling people's ratings from it is worse than from the bare shares."
    return "It is not shown to foretell people's ratings better than the bare shares do."


def _found(bias: JudgeBias) -> str:
    size = f"{signed(abs(bias.estimate), 2)} points"
    spread = f"p {_p(bias.p_corrected)} after Holm" + (f"; {bias.note}" if bias.note else "")
    more = bias.estimate > 0
    told = {
        "length": f"It favours {'long' if more else 'short'} replies more than people do: {size} "
        f"for twice the words" + ("" if more else " the fewer"),
        "self_preference": f"It {'favours' if more else 'disfavours'} its own family "
        f"({bias.about}) beyond people: {signed(bias.estimate, 2)} points",
        "position": f"It prefers the reply shown {'first' if more else 'second'}: in "
        f"{percent(0.5 + abs(bias.estimate))}",
        "scale_order": f"It leans to the end of the scale shown {'first' if more else 'last'}: "
        f"{size}",
        "valence": f"Against people it rates {bias.about} situations "
        f"{'higher' if more else 'lower'} than the others: {signed(bias.estimate, 2)} points",
        "emotion": f"Against people it rates {bias.about} {'higher' if more else 'lower'} than "
        f"other emotions: {signed(bias.estimate, 2)} points",
    }
    return f"{told[bias.name]} ({spread})."


def _not_found(card: JudgeCard) -> str:
    unfound = [one for one in card.biases if not one.found and not math.isnan(one.p)]
    clear = [bias_title(one) for one in unfound]
    if card.emotions and not any(one.found for one in card.emotions):
        clear.append("emotion")
    told = f"No bias was found by {_listed(clear)}" if clear else ""
    if few := [bias_title(one) for one in unfound if one.n < _FEW]:
        which = "" if few == clear else f" by {_listed(few)}"
        told += (
            f"; with fewer than {_FEW} ratings or choices, only a large one would be found{which}"
        )
    return f"{told}." if told else ""


def _unlooked(card: JudgeCard) -> str:
    missing = [f"{bias_title(one)} ({one.note})" for one in card.biases if math.isnan(one.p)]
    return f"Not looked at: {'; '.join(missing)}." if missing else ""


def _steady(card: JudgeCard) -> str:
    steady = card.stability
    if steady is None:
        return "" if not card.n else "It was asked once about each response."
    again = "Asked again, also with the scale turned" if steady.turned else "Asked again"
    return (
        f"{again}, it says the same of {percent(steady.same)} of responses (Krippendorff's α "
        f"{_ended(steady.alpha.estimate, steady.alpha.low, steady.alpha.high)} over "
        f"{round(steady.repeats, 1):g} repeats of {number(steady.responses, 0)})."
    )


def _orders(card: JudgeCard) -> str:
    if math.isnan(card.same_over_orders):
        return ""
    return (
        f"Shown the other way round, it prefers the same reply in {percent(card.same_over_orders)}."
    )


def _preferred(card: JudgeCard) -> str:
    found = card.preferences
    if found is None or not found.choices.n:
        return ""
    told = (
        "Of two replies that people do not rate the same, it prefers the one they rate higher in "
        f"{_share(found.choices)} of {number(found.choices.n, 0)} choices"
    )
    if found.consistent.n:
        told += (
            f"; in {_share(found.consistent)} of {number(found.consistent.n, 0)} pairs of which it "
            "prefers the same reply in both orders"
        )
    left = {
        "ties": found.ties,
        "choices between replies that people rate the same": found.even,
        "choices between replies that people did not both rate": found.unrated,
    }
    out = [f"{number(count, 0)} {what}" for what, count in left.items() if count]
    return told + (f". Left out: {', '.join(out)}." if out else ".")


def _share(one: Agreeing) -> str:
    if math.isnan(one.low):
        return percent(one.share)
    return f"{percent(one.share)} ({percent(one.low)} to {percent(one.high)})"


def _panel(card: JudgeCard) -> list[str]:
    if not card.members:
        return []
    said = [
        (
            f"It is {_all(list(card.members))} together: κ, the table and the test take the median "
            "of their ratings, Spearman, the biases and the calibration the mean."
        )
    ]
    return said + [
        f"{member} is {_listed(list(names))} itself or of the same family: models tend to favour "
        f"their own, and it is one of {len(card.members)} here."
        for member, names in card.kin
    ]


def _ended(estimate: float, low: float, high: float) -> str:
    text = number(estimate, 2)
    return text if math.isnan(low) else f"{text} ({number(low, 2)} to {number(high, 2)})"


def _p(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}." if note else ""


def _all(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
