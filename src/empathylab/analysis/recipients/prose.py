"""The sentences on what recipients say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from empathylab.analysis.json_values import picked
from empathylab.analysis.recipients.agreement import ONLOOKERS, RECIPIENTS, Agreement
from empathylab.analysis.recipients.columns import LABEL, RESPONSE
from empathylab.analysis.recipients.estimates import Cell, Effect, OutcomeResult
from empathylab.analysis.recipients.outcome_designs import INTERACTION
from empathylab.analysis.results import ALPHA, Conclusion, Kind
from empathylab.analysis.text.apa import bounded, counted, listed, p_text
from empathylab.analysis.text.numbers import number, signed

_FEW = 20
_FEW_REPLIERS = 10
_PEOPLE = ("human", "person", "people")
_NO_LABEL = ("none", "no label", "unlabelled", "no_label")


def author(level: str) -> str:
    """`AI` and `people`; other levels as they are."""
    low = level.lower()
    return "AI" if low in ("ai", "model") else "people" if low in _PEOPLE else level


def condition(term: str, level: str) -> str:
    """`replies by AI`, `replies labelled as written by a person`, `replies without a label`."""
    if term == RESPONSE:
        return f"replies by {author(level)}"
    low = level.lower()
    if low in _NO_LABEL:
        return "replies without a label"
    if low in _PEOPLE:
        return "replies labelled as written by a person"
    return f"replies labelled {'as written by AI' if low in ('ai', 'model') else f'“{level}”'}"


def label_name(level: str) -> str:
    """`AI`, `person` and `none`; other levels as they are."""
    low = level.lower()
    return "none" if low in _NO_LABEL else "person" if low in _PEOPLE else author(level)


def cell_name(cell: Cell) -> str:
    """`AI, label person`; what is not known is left out."""
    parts = [] if cell.response is None else [author(cell.response)]
    parts += [] if cell.label is None else [f"label {label_name(cell.label)}"]
    return ", ".join(parts) or "all"


def kind_of(effect: Effect) -> Kind:
    """What the effect shows, by its adjusted p and by the equivalence test."""
    if effect.p_adjusted < ALPHA:
        if effect.term == INTERACTION:
            return "different"
        return "better" if effect.estimate > 0 else "worse"
    same = effect.equivalence is not None and effect.equivalence.equivalent
    return "equivalent" if same else "inconclusive"


def effect_conclusions(outcomes: Sequence[OutcomeResult]) -> Iterator[Conclusion]:
    """Author, label, interaction; of each, outcome by outcome."""
    for term in (RESPONSE, LABEL, INTERACTION):
        tested = [
            (effect, result)
            for result in outcomes
            for effect in result.effects
            if effect.term == term and effect.by is None and math.isfinite(effect.p)
        ]
        pairs = {(effect.level, effect.reference) for effect, _ in tested}
        family = f"{len(tested)} {'outcomes' if len(pairs) == 1 else 'comparisons'}"
        for effect, result in tested:
            yield _effect_conclusion(effect, result, family if len(tested) > 1 else "")


def _effect_conclusion(effect: Effect, result: OutcomeResult, family: str) -> Conclusion:
    kind = kind_of(effect)
    basis = counted(result.participants, "participant")
    if result.n > result.participants:
        basis += f", {counted(result.n, 'reply', 'replies')}"
    return Conclusion(
        kind=kind,
        sentence=f"On {effect.outcome}, {_lead(effect, kind)}: "
        f"{_numbers(effect, kind, result.confidence, family)} ({basis}).",
        subject=effect.level,
        reference=effect.reference,
        dimension=effect.outcome,
        subset=effect.term,
        **picked(effect, "estimate low high"),
        unit="points",
        p=effect.p,
        p_adjusted=effect.p_adjusted,
        n=result.n,
        model=result.formula,
        basis=basis,
    )


def _lead(effect: Effect, kind: Kind) -> str:
    within = ""
    if kind == "equivalent" and effect.equivalence is not None:
        within = f"within ±{effect.equivalence.margin_high:g} points"
    if effect.term == INTERACTION:
        return {
            "different": "the effect of the label depends on who wrote the reply",
            "equivalent": f"the effect of the label is the same for all authors, {within}",
        }.get(kind, "it is unclear whether the effect of the label depends on who wrote the reply")
    first, second = (condition(effect.term, name) for name in (effect.level, effect.reference))
    return {
        "better": f"recipients rated {first} higher than {second}",
        "worse": f"recipients rated {first} lower than {second}",
        "equivalent": f"recipients rated {first} and {second} about the same, {within}",
    }.get(kind, f"it is unclear whether recipients rate {first} differently from {second}")


def _numbers(effect: Effect, kind: Kind, confidence: float, family: str) -> str:
    what = "interaction" if effect.term == INTERACTION else "difference"
    holm = f" after Holm's correction over {family}" if family else ""
    text = (
        f"{what} {signed(effect.estimate, 2)} points, {number(100 * confidence, 0)}% CI "
        f"{signed(effect.low, 2)} to {signed(effect.high, 2)}, t({_df(effect.df)}) = "
        f"{number(effect.t, 2)}, {p_text(effect.p_adjusted)}{holm}"
    )
    if effect.equivalence is not None and kind in ("equivalent", "inconclusive"):
        tested = effect.equivalence
        width = number(100 * (1 - 2 * tested.alpha), 0)
        text += (
            f"; TOST against ±{tested.margin_high:g}: {width}% CI {signed(tested.low, 2)} to "
            f"{signed(tested.high, 2)}, {p_text(tested.p)}"
        )
    return text


def _df(df: float) -> str:
    return number(df, 0 if float(df).is_integer() or df > 100 else 1)


def change_conclusions(outcomes: Sequence[OutcomeResult]) -> Iterator[Conclusion]:
    """How much each outcome changed from before to after the reply, over all conditions."""
    for result in outcomes:
        if result.changes:
            yield _change_conclusion(result.changes[0], result)


def _change_conclusion(change: Cell, result: OutcomeResult) -> Conclusion:
    known = math.isfinite(change.low)
    clear = known and (change.low > 0 or change.high < 0)
    verb = ("rose" if change.mean > 0 else "fell") if clear else "did not clearly change"
    ends = (
        f"{number(100 * result.confidence, 0)}% CI {signed(change.low, 2)} to "
        f"{signed(change.high, 2)}"
        if known
        else "no interval"
    )
    basis = counted(change.participants, "participant")
    return Conclusion(
        kind="different" if clear else "inconclusive",
        sentence=f"From before to after the reply, {change.outcome} {verb}: "
        f"{signed(change.mean, 2)} points, {ends} ({basis}). Without a group that got no reply, "
        "this is not the effect of the reply.",
        subject="after",
        reference="before",
        dimension=change.outcome,
        subset="change",
        estimate=change.mean,
        low=change.low,
        high=change.high,
        unit="points",
        n=change.n,
        model="t interval, participants as clusters",
        basis=basis,
    )


def agreement_conclusions(agreements: Sequence[Agreement]) -> Iterator[Conclusion]:
    """One per pair of raters and outcome: with the dimension of the same name, or with each."""
    for agreement in agreements:
        same = any(
            (other.first, other.second) == (agreement.first, agreement.second)
            and other.outcome == other.dimension == agreement.outcome
            for other in agreements
        )
        if same and agreement.outcome != agreement.dimension:
            continue
        yield _agreement_conclusion(agreement)


def _agreement_conclusion(agreement: Agreement) -> Conclusion:
    who = {RECIPIENTS: "recipients'", ONLOOKERS: "onlookers'"}
    second = who.get(agreement.second, f"the judge {agreement.second}'s")
    basis = (
        f"{counted(agreement.n, 'reply', 'replies')} to "
        f"{counted(agreement.participants, 'recipient')}"
    )
    if not math.isfinite(agreement.correlation):
        text = (
            f"{second} {agreement.dimension} cannot be compared: too few replies, or all the same"
        )
    else:
        ends = "no interval"
        if math.isfinite(agreement.low):
            ends = f"95% CI [{bounded(agreement.low)}, {bounded(agreement.high)}]"
        text = (
            f"{second} {agreement.dimension} correlates with {who[agreement.first]} "
            f"{agreement.outcome} at {bounded(agreement.correlation)}, {ends}"
        )
    return Conclusion(
        kind="descriptive",
        sentence=f"On the same replies, {text} ({basis}).",
        subject=agreement.second,
        reference=agreement.first,
        dimension=agreement.outcome,
        subset=agreement.dimension,
        estimate=agreement.correlation,
        low=agreement.low,
        high=agreement.high,
        unit="correlation",
        n=agreement.n,
        model="Pearson, bootstrap over recipients",
        basis=basis,
    )


_OPEN = "it is unclear"
_ELSEWHERE: dict[bool, dict[Kind, str]] = {
    False: {
        "better": "they rated them higher",
        "worse": "they rated them lower",
        "equivalent": "they rated them about the same",
    },
    True: {"different": "it does", "equivalent": "it is the same for all authors"},
}
"""How a headline ends for the outcomes that differ from its first; of an interaction, or not."""


def headlines(conclusions: Sequence[Conclusion]) -> Iterator[Conclusion]:
    """One sentence for each of author, label and interaction, over all outcomes."""
    for term in (RESPONSE, LABEL, INTERACTION):
        mine = [conclusion for conclusion in conclusions if conclusion.subset == term]
        for pair in dict.fromkeys((item.subject, item.reference) for item in mine):
            yield _headline([item for item in mine if (item.subject, item.reference) == pair])


def _headline(conclusions: Sequence[Conclusion]) -> Conclusion:
    """The first outcome's conclusion in short, and which other outcomes show the same."""
    first = conclusions[0]
    lead = first.sentence.removeprefix(f"On {first.dimension}, ").partition(": ")[0]
    same = [str(other.dimension) for other in conclusions[1:] if other.kind == first.kind]
    also = f", also on {listed(same)}" if same else ""
    for kind in dict.fromkeys(other.kind for other in conclusions[1:] if other.kind != first.kind):
        names = [str(other.dimension) for other in conclusions if other.kind == kind]
        also += f"; on {listed(names)} {_ELSEWHERE[first.subset == INTERACTION].get(kind, _OPEN)}"
    low, high = (signed(end if end is not None else math.nan, 2) for end in (first.low, first.high))
    estimate = signed(first.estimate if first.estimate is not None else math.nan, 2)
    on, label = f" on {first.dimension}", "the effect of the label"
    lead = lead.replace(label, f"{label}{on}") if label in lead else f"{lead}{on}"
    return replace(
        first,
        sentence=f"{lead[:1].upper()}{lead[1:]} ({estimate} points, 95% CI {low} to {high}; "
        f"{first.basis}){also}.",
    )


def replaced_caveat(count: int) -> Iterator[str]:
    """What a fallback means for the comparison of authors."""
    if count:
        replies = counted(count, "reply of a model was", "replies of models were")
        them = "it" if count == 1 else "them"
        yield (
            f"{replies} replaced by the study's fallback. The analysis counts {them} in the "
            "condition that was assigned."
        )


def caveats(
    outcomes: Sequence[OutcomeResult], columns: Mapping[str, str], design: Mapping[str, Any]
) -> Iterator[str]:
    """What limits the conclusions, the most important first."""
    for result in outcomes:
        if result.problem is not None:
            yield f"{result.outcome} is not tested: {result.problem}."
    first = outcomes[0]
    both = RESPONSE in columns and LABEL in columns
    if both and not first.crossed and len(design["responses"]) > 1 and len(design["labels"]) > 1:
        pairs = {(cell.response, cell.label) for cell in first.cells}
        if len(pairs) == max(len(design["responses"]), len(design["labels"])):
            yield (
                "Author and label always go together, so the difference between authors can be "
                "the effect of the label alone."
            )
        else:
            yield (
                "Not every combination of author and label occurs, so their interaction cannot be "
                "tested, and their effects cannot be fully separated."
            )
    smallest = min((cell.participants for result in outcomes for cell in result.cells), default=0)
    if smallest < _FEW:
        yield f"The smallest condition has {counted(smallest, 'participant')}: intervals are rough."
    if RESPONSE in columns and "replier" not in columns:
        yield (
            "The data do not say who wrote each reply. Replies by the same author are treated as "
            "independent, so intervals may be too narrow, and the result applies to these authors."
        )
    for level, count in first.repliers.items():
        if count == 1:
            yield (
                f"All {condition(RESPONSE, level)} come from one source, so the result applies to "
                "this source."
            )
        elif count < _FEW_REPLIERS:
            yield (
                f"All {condition(RESPONSE, level)} come from {count} sources: how much sources "
                "vary is uncertain, so intervals are rough."
            )
    dropped = {result.outcome: result.dropped for result in outcomes if result.dropped}
    if dropped:
        named = listed([f"{number(count, 0)} for {name}" for name, count in dropped.items()])
        yield f"Rows with a missing value were excluded: {named}."
