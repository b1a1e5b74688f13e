"""A judge's card in sentences."""

from __future__ import annotations

import math

from empathylab.analysis.judges.cards import JudgeBias, JudgeCard
from empathylab.analysis.text.apa import full_sentence, listed, p_text, with_interval
from empathylab.analysis.text.notes import note_text
from empathylab.analysis.text.numbers import number, percent, signed
from empathylab.stats.judges.preference_agreement import Agreeing

_TITLES = {
    "length": "length",
    "self_preference": "own family",
    "position": "position of the reply",
    "scale_order": "direction of the scale",
    "valence": "valence",
}
_FEW = 50
"""With fewer ratings or choices, finding no bias says little."""
_SAMPLE = "with a sample of human ratings, in a prediction-powered estimate"
_LIMITS = {
    "length": "comparing replies of different length",
    "self_preference": "comparing its own family with others",
    "position": "choosing between two replies shown in one order only",
    "scale_order": "ratings on a scale shown in one direction only",
    "valence": "comparing positive with negative situations",
}
_COMPARED = {
    "onlookers": "Compared with onlookers, who read replies to another person.",
    "recipients": "Compared with recipients, who received the replies.",
    "onlookers and recipients": "Compared with onlookers and recipients together, who may see "
    "replies differently.",
}
_OTHERS = {
    "onlookers": "how the people who receive the replies would rate them",
    "recipients": "how onlookers would rate the replies",
}
_SHORTFALLS = {
    "association": "its ratings are not shown to rise with people's",
    "prediction": "it is not shown to predict people's ratings better than base rates do",
    "constant": (
        "it is not shown to be closer to people than a judge that always gives their most "
        "common rating"
    ),
}


def bias_title(bias: JudgeBias) -> str:
    """What the bias is about, in a few words."""
    return bias.about if bias.name == "emotion" else _TITLES[bias.name]


def verdict(card: JudgeCard) -> str:
    """Whether the judge can replace human raters, without a full stop."""
    if card.decision == "cannot tell":
        return f"cannot tell: {card.untested}"
    if card.shortfall is not None and card.alt_test is not None and card.alt_test.passes:
        missing = _SHORTFALLS[card.shortfall]
        return f"not shown: it passes the test at ε = {card.epsilon:g}, but {missing}"
    if card.decision == "not":
        return f"not shown: it fails the alternative annotator test at ε = {card.epsilon:g}"
    limitations = limits(card)
    excepted = f", but not for {' or '.join(limitations)}" if limitations else ""
    return f"can replace human raters here at ε = {card.epsilon:g}{excepted}"


def verdict_sentence(card: JudgeCard) -> str:
    """The verdict with the judge and the dimension."""
    what = f"the judge {card.judge} can replace human raters on {card.dimension}"
    said = verdict(card)
    if card.decision == "cannot tell":
        return f"It is unclear whether {what}: {card.untested}."
    if (reason := said.removeprefix("not shown: ")) != said:
        return f"It is not shown that {what}: {reason}."
    return f"{what[0].upper()}{what[1:]}{said.removeprefix('can replace human raters')}."


def limits(card: JudgeCard) -> tuple[str, ...]:
    """What the judge must not be used for, by the biases found and by what is not shown."""
    limitations = ["comparing replies of one respondent"] if card.knows_only_author else []
    limitations += [_LIMITS[bias.name] for bias in card.biases if bias.found]
    if emotions := [bias.about for bias in card.emotions if bias.found]:
        limitations.append(f"comparing {', '.join(emotions)} with other emotions")
    return tuple(limitations)


def reasons(card: JudgeCard) -> tuple[str, ...]:
    """Why the verdict is as it is, a sentence each."""
    sentences = [
        _test(card),
        _perspective(card),
        _agreement(card),
        _level(card),
        _skill(card),
        *(_found(bias) for bias in (*card.biases, *card.emotions) if bias.found),
        _not_found(card),
        _untested(card),
        _stability(card),
        _orders(card),
        _preferred(card),
        *_panel(card),
    ]
    return tuple(sentence for sentence in sentences if sentence)


def several_setups(judge: str, setups: int) -> str:
    """That a judge was asked with several setups, of which one is used."""
    return (
        f"{judge} was asked with {setups} setups (for example another mode, seed or version of the "
        "question); only the one that covers most of these replies is used."
    )


def good_for(card: JudgeCard) -> tuple[str, ...]:
    """What the judge can be used for."""
    if card.decision == "may":
        return (f"{card.dimension}, for replies like these ({_responses(card)}), on this scale",)
    if card.predicts:
        return (f"{card.dimension}, {_SAMPLE}",)
    return ()


def not_for(card: JudgeCard) -> tuple[str, ...]:
    """What it must not be used for."""
    always = "other dimensions, scales, kinds of situations, and respondents unlike these"
    alone = () if card.decision == "may" else ("replacing human raters without human ratings",)
    others = _OTHERS.get(card.compared_with)
    return (*alone, *limits(card), *([others] if others else []), always)


def _responses(card: JudgeCard) -> str:
    count = f"{number(card.n, 0)} responses to {number(card.n_situations, 0)} situations"
    if not card.respondents:
        return count
    names = ", ".join(card.respondents[:4]) + (" …" if len(card.respondents) > 4 else "")
    return f"{count}, by {names}"


def _perspective(card: JudgeCard) -> str:
    return _COMPARED[card.compared_with] if card.n else ""


def _test(card: JudgeCard) -> str:
    test = card.alt_test
    if test is None or not test.comparisons:
        return ""  # the verdict says why
    wins = sum(person.judge_wins for person in test.comparisons)
    people = len(test.comparisons)
    text = (
        f"Alternative annotator test at ε = {card.epsilon:g} (people treated as "
        f"{'a crowd' if card.people_are == 'crowd' else card.people_are}): it does as well as "
        f"{wins} of {people} people (at least half are needed). In {percent(test.advantage)} "
        f"of {number(test.n, 0)} responses ({percent(test.advantage_low)} to "
        f"{percent(test.advantage_high)}), it is at least as close to the other people as the "
        "person it replaces."
    )
    if not test.passes:
        enough = test.smallest_epsilon
        text += (
            f" It would pass at ε = {number(enough, 2)} or above."
            if not math.isnan(enough)
            else " It would pass at no ε."
        )
    if card.constant_passes:
        text += (
            " A judge that always gives people's most common rating would pass, so passing alone "
            "says little here."
        )
    return f"{text} {full_sentence(note_text(test.note))}".strip()


def _agreement(card: JudgeCard) -> str:
    kappa, rank = card.weighted_kappa, card.spearman
    if not card.n:
        return ""
    text = f"With the median of people: weighted κ {with_interval(kappa)}"
    text += f", Spearman {with_interval(rank)}"
    if not math.isnan(card.spearman_within):
        text += f", among replies of one respondent {number(card.spearman_within, 2)}"
    if not math.isnan(card.people_kappa):
        text += (
            f". Two people agree at κ {number(card.people_kappa, 2)} on average, the judge with "
            f"one person at {number(card.judge_person_kappa, 2)}"
        )
    if rank.high < 0:
        text += ". Its ratings fall where people's rise: check the direction of its scale"
    return text + "."


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
            "It predicts people's ratings of other situations: it removes "
            f"{percent(scores.skill)} of the error of the base rates."
        )
    if scores.gain.high < 0:
        return "Predicting people's ratings from it is worse than from base rates."
    return "It is not shown to predict people's ratings better than base rates do."


def _found(bias: JudgeBias) -> str:
    size = f"{signed(abs(bias.estimate), 2)} points"
    spread = f"{p_text(bias.p_corrected)} after Holm" + (f"; {bias.note}" if bias.note else "")
    more = bias.estimate > 0
    sentences = {
        "length": f"It favours {'long' if more else 'short'} replies more than people do: {size} "
        f"for twice the words" + ("" if more else " the fewer"),
        "self_preference": f"It {'favours' if more else 'disfavours'} its own family "
        f"({bias.about}) beyond people: {signed(bias.estimate, 2)} points",
        "position": f"It prefers the reply shown {'first' if more else 'second'}: in "
        f"{percent(0.5 + abs(bias.estimate))}",
        "scale_order": f"It favours the end of the scale shown {'first' if more else 'last'}: "
        f"{size}",
        "valence": f"Compared with people, it rates {bias.about} situations "
        f"{'higher' if more else 'lower'} than the others: {signed(bias.estimate, 2)} points",
        "emotion": f"Compared with people, it rates {bias.about} "
        f"{'higher' if more else 'lower'} than other emotions: {signed(bias.estimate, 2)} points",
    }
    return f"{sentences[bias.name]} ({spread})."


def _not_found(card: JudgeCard) -> str:
    unfound = [bias for bias in card.biases if not bias.found and not math.isnan(bias.p)]
    clear = [bias_title(bias) for bias in unfound]
    if card.emotions and not any(bias.found for bias in card.emotions):
        clear.append("emotion")
    text = f"No bias was found by {listed(clear, 'or')}" if clear else ""
    if few := [bias_title(bias) for bias in unfound if bias.n < _FEW]:
        which = "" if few == clear else f" by {listed(few, 'or')}"
        text += (
            f"; with fewer than {_FEW} ratings or choices, only a large one would be found{which}"
        )
    return f"{text}." if text else ""


def _untested(card: JudgeCard) -> str:
    missing = [f"{bias_title(bias)} ({bias.note})" for bias in card.biases if math.isnan(bias.p)]
    return f"Not tested: {'; '.join(missing)}." if missing else ""


def _stability(card: JudgeCard) -> str:
    stability = card.stability
    if stability is None:
        return "" if not card.n else "It was asked once about each response."
    alpha = stability.alpha
    again = "Asked again, also with the scale reversed" if stability.turned else "Asked again"
    return (
        f"{again}, it gives the same rating to {percent(stability.same)} of responses "
        f"(Krippendorff's α {with_interval(alpha)} over "
        f"{round(stability.repeats, 1):g} repeats of {number(stability.responses, 0)})."
    )


def _orders(card: JudgeCard) -> str:
    if math.isnan(card.same_over_orders):
        return ""
    return (
        f"With the order of the two replies reversed, it prefers the same reply in "
        f"{percent(card.same_over_orders)}."
    )


def _preferred(card: JudgeCard) -> str:
    preferences = card.preferences
    if preferences is None or not preferences.choices.n:
        return ""
    text = (
        "Of two replies that people do not rate the same, it prefers the one they rate higher in "
        f"{_proportion(preferences.choices)} of {number(preferences.choices.n, 0)} choices"
    )
    if preferences.consistent.n:
        text += (
            f"; in {_proportion(preferences.consistent)} of {number(preferences.consistent.n, 0)} "
            "pairs of which it prefers the same reply in both orders"
        )
    left = {
        "ties": preferences.ties,
        "choices between replies that people rate the same": preferences.even,
        "choices between replies that people did not both rate": preferences.unrated,
    }
    out = [f"{number(count, 0)} {what}" for what, count in left.items() if count]
    return text + (f". Excluded: {', '.join(out)}." if out else ".")


def _proportion(agreeing: Agreeing) -> str:
    if math.isnan(agreeing.low):
        return percent(agreeing.share)
    return f"{percent(agreeing.share)} ({percent(agreeing.low)} to {percent(agreeing.high)})"


def _panel(card: JudgeCard) -> list[str]:
    if not card.members:
        return []
    sentences = [
        (
            f"It combines {listed(card.members)}: κ, the table and the test use the median of "
            "their ratings; Spearman, the biases and the calibration use the mean."
        )
    ]
    return sentences + [
        f"{member} is {listed(names, 'or')} itself or of the same family: models tend to favour "
        f"their own, and it is one of {len(card.members)} here."
        for member, names in card.own_families
    ]
