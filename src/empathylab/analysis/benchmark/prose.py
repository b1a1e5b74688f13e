"""What a comparison with a study says and rests on, in sentences and as rows."""

from __future__ import annotations

import math
from typing import Any

from empathylab.analysis.benchmark.frames import FEWEST_RATINGS
from empathylab.analysis.benchmark.measurements import Difference, Estimate, Measurement, Outcome
from empathylab.analysis.benchmark.ranking import Compared, Entry, ranks
from empathylab.analysis.judges.families import own_respondents
from empathylab.analysis.text.apa import full_sentence, listed
from empathylab.analysis.text.notes import notes_text
from empathylab.analysis.text.numbers import number, signed

_MOST_NAMED = 6
_UNKNOWN = "not known"


def estimate_sentence(measurement: Measurement) -> str:
    """The headline estimate with its interval."""
    head = measurement.headline
    verb = "is estimated at" if measurement.basis == "judge" else "is"
    return (
        f"{measurement.respondent}, {measurement.study}: the {what(head.outcome)} {verb} "
        f"{shown(head.estimate, head.outcome)} "
        f"(95% interval: {interval(head)}; {basis_name(measurement)})."
    )


def difference_sentence(measurement: Measurement, difference: Difference) -> str:
    """The difference from one of the study's own respondents."""
    if math.isnan(difference.low):
        verdict = "cannot be compared with"
    elif difference.low <= 0 <= difference.high:
        verdict = "is not shown to differ from"
    else:
        verdict = "is rated higher than" if difference.low > 0 else "is rated lower than"
    outcome = difference.outcome
    return (
        f"{measurement.respondent} {verdict} {difference.other}: "
        f"{_difference(difference.difference, outcome)} in {what(outcome)} "
        f"(95% interval: {_difference_ends(difference.low, difference.high, outcome)})."
    )


def rank_sentence(entry: Entry, entries: int) -> str:
    """The ranks that a respondent may have, with the estimate."""
    head = entry.estimate
    plural = "s" if entry.rank_low != entry.rank_high else ""
    return (
        f"{entry.respondent}: rank{plural} {ranks(entry)} of {entries}, {what(head.outcome)} "
        f"{shown(head.estimate, head.outcome)} (95% interval: {interval(head)})."
    )


def pair_sentence(pair: Compared, outcome: Outcome) -> str:
    """The difference of two respondents of a leaderboard."""
    return (
        f"{pair.upper} is rated higher than {pair.lower}: {_difference(pair.difference, outcome)} "
        f"in {what(outcome)} (simultaneous 95% interval: "
        f"{_difference_ends(pair.low, pair.high, outcome)})."
    )


def basis_name(measurement: Measurement) -> str:
    """Who rated, in a few words."""
    if measurement.basis == "judge":
        return (
            f"by the judge {measurement.judge}, calibrated on {_listed(measurement.calibrated_on)}"
        )
    if measurement.basis == "people":
        return f"{measurement.headline.n_ratings:,} human ratings"
    return f"{measurement.headline.n_ratings:,} human ratings and the judge {measurement.judge}"


def rests_on(measurement: Measurement) -> tuple[str, ...]:
    """Sentences on what the figures rest on, and by how much they could be off."""
    head = measurement.headline
    if head.basis == "people":
        by_people = f"{measurement.respondent} was measured by people: {head.n_ratings:,} ratings."
        return (by_people, *measurement.notes)
    sentences = list(
        _beside_people(measurement, head)
        if head.basis != "judge"
        else _judge_alone(measurement, head)
    )
    sentences += _own_family(measurement)
    return (*sentences, *measurement.notes)


def _own_family(measurement: Measurement) -> list[str]:
    """Which of the judges belongs to the respondent's own family."""
    judges = measurement.members or ((measurement.judge,) if measurement.judge else ())
    among = f" {measurement.judge} counts it as one of {len(judges)}." if len(judges) > 1 else ""
    return [
        f"{judge} is {measurement.respondent} itself or a model of the same family. Models "
        f"tend to favour their own family; by how much is not known here.{among}"
        for judge in judges
        if own_respondents(judge, [measurement.respondent])
    ]


def _beside_people(measurement: Measurement, head: Estimate) -> list[str]:
    sentences = [
        (
            f"This rests on {head.n_ratings:,} human ratings of {measurement.respondent}; the "
            f"judge {measurement.judge}, which rated {head.n_judged:,} more replies, adds to them "
            f"(λ = {number(head.trust, 2)})."
        )
    ]
    alone, width = head.people_high - head.people_low, head.high - head.low
    if alone > 0:
        sentences.append(
            f"The interval is {number(width / alone, 2)} times as wide as from these ratings alone."
        )
    sentences.append("It is valid if the replies that people rated are a random sample of all.")
    if head.unjudged:
        sentences.append(
            f"The judge has not rated {head.unjudged:,} of the replies; people's ratings of them "
            "are used like the others."
        )
    return [*sentences, full_sentence(notes_text(head.notes))] if head.notes else sentences


def _judge_alone(measurement: Measurement, head: Estimate) -> list[str]:
    sentences = [
        (
            f"No human rating of {measurement.respondent} is used: the result rests on how the "
            f"judge {measurement.judge} was calibrated on other respondents, by "
            f"{measurement.calibration_ratings:,} ratings of {_listed(measurement.calibrated_on)} "
            f"by {measurement.calibration_people:,} people in the study {measurement.study}."
        )
    ]
    if measurement.few:
        sentences.append(
            f"The {measurement.few} ratings of {measurement.respondent} by people are too few to "
            f"be used: {FEWEST_RATINGS} are needed."
        )
    sentences += _missed(measurement, head)
    if head.errors:
        missed = ", ".join(
            f"{_difference(error.error, head.outcome)} for {error.respondent}"
            for error in head.errors[:_MOST_NAMED]
        )
        sentences.append(
            f"On respondents it was not calibrated on, its error was {missed} "
            f"(typically {_size(head.typical_error, head.outcome)})."
        )
        sentences.append(_holding(measurement, head))
        sentences.append(_if_like(measurement, head))
    else:
        sentences.append(
            "People rated a single other respondent, so the judge's error on a new one cannot be "
            "estimated and there is no interval. Assuming the same judge error as on "
            f"{_listed(measurement.calibrated_on)}, it would be {_same_error(head)}."
        )
    if any(note.code == "judge_unrelated" for note in head.notes):
        sentences.append(
            "The judge's ratings do not rise with people's: they carry no information here."
        )
    if head.beyond:
        sentences.append(
            f"The judge rates {measurement.respondent} outside the range of the respondents it was "
            "calibrated on: this is an untested extrapolation."
        )
    sentences.append("Human ratings would settle it: see --human-sample.")
    return sentences


def _holding(measurement: Measurement, head: Estimate) -> str:
    """What the interval allows for, or why it covers the whole scale."""
    if head.rules_out:
        return (
            "The interval allows for a judge that favours some respondents by this much. It is "
            f"valid even if {measurement.respondent} is far better or worse than the others, as "
            "long as the judge's ratings rise with people's along one straight line."
        )
    if not head.fits:
        return (
            "No point of the scale is consistent with the judge's ratings of "
            f"{measurement.respondent} on the line of the others: the line does not hold here, and "
            "the interval covers the whole scale."
        )
    if head.transferred is not None and head.transferred.rules_out:
        return (
            "The interval allows for a judge that favours some respondents by this much, and "
            "covers the whole scale."
        )
    if len(head.errors) == 2 and head.beyond:
        return (
            "With two other respondents, nothing is known about the judge's ratings outside "
            "their range: the interval covers the whole scale."
        )
    return (
        "The judge's ratings of these respondents do not clearly rise with people's, given "
        "how much it favours some of them: the interval covers the whole scale."
    )


def _if_like(measurement: Measurement, head: Estimate) -> str:
    """The intervals under stronger assumptions."""
    if head.exchangeable_low != head.exchangeable_low:
        return (
            f"Assuming {measurement.respondent} is exchangeable with the others, it would be "
            "beyond the end of the scale: either it is not exchangeable, or the line does not hold "
            "that far."
        )
    return (
        f"Assuming {measurement.respondent} is exchangeable with the others, the interval is "
        f"{_exchangeable(head)}; assuming the same judge error as on them, {_same_error(head)}."
    )


def _missed(measurement: Measurement, head: Estimate) -> list[str]:
    """What the judge alone has not rated."""
    sentences = []
    if head.unjudged:
        sentences.append(
            f"The judge has not rated {head.unjudged:,} of the {head.n_judged + head.unjudged:,} "
            "replies; the figures are those of the rest, and biased if it refuses better or worse "
            "ones."
        )
    if measurement.calibration_missed:
        sentences.append(
            f"{measurement.calibration_missed:,} human ratings of the others are not used, "
            "because the judge has not rated these replies."
        )
    if head.n_judged < FEWEST_RATINGS:
        sentences.append(
            f"It has rated {head.n_judged} of the replies, fewer than {FEWEST_RATINGS}: too few to "
            "rely on."
        )
    return sentences


def shown(value: float, outcome: Outcome) -> str:
    """A proportion in percent, a mean to two digits."""
    return f"{number(100 * value)}%" if outcome.kind == "share" else number(value, 2)


def interval(estimate: Estimate) -> str:
    """The ends of the interval; says where there is none."""
    return _ends(estimate.low, estimate.high, estimate.outcome)


def _exchangeable(estimate: Estimate) -> str:
    return _ends(estimate.exchangeable_low, estimate.exchangeable_high, estimate.outcome)


def _same_error(estimate: Estimate) -> str:
    ends = _ends(estimate.same_error_low, estimate.same_error_high, estimate.outcome)
    return "beyond the scale's end" if ends == _UNKNOWN else ends


def what(outcome: Outcome) -> str:
    """What the figure is, such as `proportion rated Good`."""
    if outcome.kind == "mean":
        return f"mean {outcome.label}"
    scale = f" (scale {outcome.scale})" if outcome.scale else ""
    return f"proportion rated {outcome.label}{scale}"


def estimate_rows(measurement: Measurement) -> list[dict[str, Any]]:
    """The estimates as printed: of all situations, and by valence."""
    alone = measurement.basis == "judge"
    return [
        {
            "what": what(estimate.outcome),
            "situations": estimate.group.name or "all",
            "estimate": shown(estimate.estimate, estimate.outcome),
            "95% interval": interval(estimate),
            **(
                {
                    "if exchangeable": _exchangeable(estimate),
                    "beyond": "yes" if estimate.beyond else "no",
                }
                if alone
                else {}
            ),
            "rated by people": f"{estimate.n_ratings:,}",
            "judged only": f"{estimate.n_judged:,}",
        }
        for estimate in measurement.estimates
        if estimate.group.level in ("all", "valence")
    ]


def difference_rows(measurement: Measurement) -> list[dict[str, Any]]:
    """The differences from the study's respondents as printed, of all situations."""
    return [
        {
            "what": what(difference.outcome),
            "situations": difference.group.name or "all",
            "minus": difference.other,
            "difference": _difference(difference.difference, difference.outcome),
            "95% interval": _difference_ends(difference.low, difference.high, difference.outcome),
            **(
                {
                    "assuming the same judge error": _difference_ends(
                        difference.same_error_low, difference.same_error_high, difference.outcome
                    )
                }
                if measurement.basis == "judge"
                else {}
            ),
        }
        for difference in measurement.differences
        if difference.group.level == "all"
    ]


def _ends(low: float, high: float, outcome: Outcome) -> str:
    return _UNKNOWN if math.isnan(low) else f"{shown(low, outcome)} to {shown(high, outcome)}"


def _difference(value: float, outcome: Outcome) -> str:
    if outcome.kind == "share":
        return f"{signed(100 * value)} points"
    return signed(value, 2)


def _difference_ends(low: float, high: float, outcome: Outcome) -> str:
    if math.isnan(low):
        return _UNKNOWN
    if outcome.kind == "share":
        return f"{signed(100 * low)} to {signed(100 * high)}"
    return f"{signed(low, 2)} to {signed(high, 2)}"


def _size(value: float, outcome: Outcome) -> str:
    return f"{number(100 * value)} points" if outcome.kind == "share" else number(value, 2)


def _listed(names: tuple[str, ...]) -> str:
    return f"{len(names)} respondents" if len(names) > _MOST_NAMED else listed(names)
