"""What a measurement against a study rests on, in plain words and as rows."""

from __future__ import annotations

from typing import Any

from empathylab.analysis.benchmark.frames import FEWEST_RATINGS
from empathylab.analysis.benchmark.measurements import Against, Estimate, Outcome
from empathylab.analysis.judges.families import own_respondents
from empathylab.analysis.text.numbers import number, signed

_MOST_NAMED = 6


def rests_on(found: Against) -> tuple[str, ...]:
    """Sentences on what the figures rest on, and by how much they could be off."""
    head = found.headline
    if head.basis == "people":
        by_people = f"{found.respondent} was measured by people: {head.n_ratings:,} ratings."
        return (by_people, *found.notes)
    said = list(_beside_people(found, head) if head.basis != "judge" else _judge_alone(found, head))
    said += _kin(found)
    return (*said, *found.notes)


def _kin(found: Against) -> list[str]:
    """Which of the judges is of the respondent's own family."""
    judges = found.members or ((found.judge,) if found.judge else ())
    among = f" {found.judge} counts it as one of {len(judges)}." if len(judges) > 1 else ""
    return [
        f"{judge} is {found.respondent} itself or of its family: models tend to favour their own, "
        f"and nothing here shows by how much.{among}"
        for judge in judges
        if own_respondents(judge, [found.respondent])
    ]


def _beside_people(found: Against, head: Estimate) -> list[str]:
    said = [
        (
            f"This rests on {head.n_ratings:,} ratings of {found.respondent} by people; the judge "
            f"{found.judge}, which rated {head.n_judged:,} more replies, sharpens them "
            f"(λ = {number(head.trust, 2)})."
        )
    ]
    alone, width = head.people_high - head.people_low, head.high - head.low
    if alone > 0:
        said.append(
            f"The interval is {number(width / alone, 2)} times as wide as from these ratings alone."
        )
    said.append("It holds if the replies that people rated are a random part of all.")
    if head.unjudged:
        said.append(
            f"The judge has not rated {head.unjudged:,} of the replies; people's ratings of them "
            "are used like the others."
        )
    return [*said, _sentence(head.note)] if head.note else said


def _judge_alone(found: Against, head: Estimate) -> list[str]:
    said = [
        (
            f"No person's rating of {found.respondent} is used: the result rests on how the judge "
            f"{found.judge} was calibrated on other respondents, by {found.calibration_ratings:,} "
            f"ratings of {_listed(found.calibrated_on)} by {found.calibration_people:,} people in "
            f"the study {found.study}."
        )
    ]
    if found.few:
        said.append(
            f"The {found.few} ratings of {found.respondent} by people are too few to be used: "
            f"{FEWEST_RATINGS} are needed."
        )
    said += _missed(found, head)
    if head.errors:
        missed = ", ".join(
            f"{one.respondent} by {_apart(one.error, head.outcome)}"
            for one in head.errors[:_MOST_NAMED]
        )
        said.append(
            f"Tried on respondents it was not calibrated on, it missed {missed} "
            f"(typically {_size(head.typical_error, head.outcome)})."
        )
        said.append(_holding(found, head))
        said.append(_if_like(found, head))
    else:
        said.append(
            "People rated a single other respondent, so how far the judge misses somebody new "
            "cannot be tried and there is no interval. If it erred on "
            f"{found.respondent} just as on {_listed(found.calibrated_on)}, it would be "
            f"{_alike(head)}."
        )
    if "tells nothing" in head.note:
        said.append("The judge's ratings do not rise with people's: it tells nothing here.")
    if head.beyond:
        said.append(
            f"The judge puts {found.respondent} outside all respondents it was calibrated on: this "
            "is beyond what was calibrated, where nothing was tried."
        )
    said.append("Ratings by people would make it firm: see --human-sample.")
    return said


def _holding(found: Against, head: Estimate) -> str:
    """What the interval allows for, or why there is none to speak of."""
    if head.rules_out:
        return (
            f"The interval allows for a judge that leans toward some respondents by so much, and "
            f"holds also where {found.respondent} is far better or worse than the others, if what "
            "the judge says goes up with what people say along one straight line."
        )
    if not head.fits:
        return (
            f"No point of the scale goes with what the judge says of {found.respondent}, by the "
            "line of the others: the line does not hold here, and nothing is ruled out."
        )
    if head.transferred is not None and head.transferred.rules_out:
        return (
            "The interval allows for a judge that leans toward some respondents by so much, and is "
            "wider than the scale: no point of it is ruled out."
        )
    if len(head.errors) == 2 and head.beyond:
        return (
            "Two others cannot show how the judge's ratings go with people's beyond them: no point "
            "of the scale is ruled out."
        )
    return (
        "What the judge says of these respondents is not shown to go up with what people say by "
        "more than it leans toward some of them: no point of the scale is ruled out."
    )


def _if_like(found: Against, head: Estimate) -> str:
    """What would hold for somebody like the others."""
    if head.like_low != head.like_low:
        return (
            f"If {found.respondent} were a draw like the others, it would lie beyond the end of "
            "the scale: it is none, or the line does not hold that far."
        )
    return (
        f"Only if {found.respondent} were a draw like the others would {_like(head)} hold, and "
        f"only if the judge erred on it just as on them {_alike(head)}."
    )


def _missed(found: Against, head: Estimate) -> list[str]:
    """What the judge alone says too little of."""
    said = []
    if head.unjudged:
        said.append(
            f"The judge has not rated {head.unjudged:,} of the {head.n_judged + head.unjudged:,} "
            "replies; the figures are those of the rest, and off if it refuses the better or the "
            "worse ones."
        )
    if found.calibration_missed:
        said.append(
            f"{found.calibration_missed:,} ratings of the others by people are not used, because "
            "the judge has not rated these replies."
        )
    if head.n_judged < FEWEST_RATINGS:
        said.append(
            f"It has rated {head.n_judged} of the replies, fewer than {FEWEST_RATINGS}: too few to "
            "go by."
        )
    return said


def shown(value: float, outcome: Outcome) -> str:
    """A share in percent, a mean to two digits."""
    return f"{number(100 * value)}%" if outcome.kind == "share" else number(value, 2)


def interval(one: Estimate) -> str:
    """The ends of the interval; says where there is none."""
    return "not known" if one.low != one.low else _ends(one.low, one.high, one.outcome)


def _like(one: Estimate) -> str:
    known = one.like_low == one.like_low
    return _ends(one.like_low, one.like_high, one.outcome) if known else "not known"


def _alike(one: Estimate) -> str:
    known = one.alike_low == one.alike_low
    return _ends(one.alike_low, one.alike_high, one.outcome) if known else "beyond the scale's end"


def what(outcome: Outcome) -> str:
    """What the figure is, such as `share of Good`."""
    return f"share of {outcome.label}" if outcome.kind == "share" else f"mean {outcome.label}"


def estimate_rows(
    found: Against, levels: tuple[str, ...] = ("all", "valence")
) -> list[dict[str, Any]]:
    """The estimates as printed, of these levels."""
    alone = found.basis == "judge"
    return [
        {
            "what": what(one.outcome),
            "situations": one.group.name or "all",
            "estimate": shown(one.estimate, one.outcome),
            "95% interval": interval(one),
            **(
                {"if like the others": _like(one), "beyond": "yes" if one.beyond else "no"}
                if alone
                else {}
            ),
            "rated by people": f"{one.n_ratings:,}",
            "judged only": f"{one.n_judged:,}",
        }
        for one in found.estimates
        if one.group.level in levels
    ]


def difference_rows(found: Against, levels: tuple[str, ...] = ("all",)) -> list[dict[str, Any]]:
    """The differences from the study's respondents as printed, of these levels."""
    return [
        {
            "what": what(one.outcome),
            "situations": one.group.name or "all",
            "less": one.other,
            "difference": _apart(one.difference, one.outcome),
            "95% interval": _apart_ends(one.low, one.high, one.outcome),
            **(
                {"if it errs alike": _apart_ends(one.alike_low, one.alike_high, one.outcome)}
                if found.basis == "judge"
                else {}
            ),
        }
        for one in found.differences
        if one.group.level in levels
    ]


def _ends(low: float, high: float, outcome: Outcome) -> str:
    return f"{shown(low, outcome)} to {shown(high, outcome)}"


def _apart(value: float, outcome: Outcome) -> str:
    if outcome.kind == "share":
        return f"{signed(100 * value)} points"
    return signed(value, 2)


def _apart_ends(low: float, high: float, outcome: Outcome) -> str:
    if low != low:
        return "not known"
    if outcome.kind == "share":
        return f"{signed(100 * low)} to {signed(100 * high)}"
    return f"{signed(low, 2)} to {signed(high, 2)}"


def _size(value: float, outcome: Outcome) -> str:
    return f"{number(100 * value)} points" if outcome.kind == "share" else number(value, 2)


def _listed(names: tuple[str, ...]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{len(names)} respondents"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
