"""One short sentence for each main comparison, with estimate, interval and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from empathylab.analysis.appraisal.result import interval_of
from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.analysis.conversations.estimates import RespondentResult
from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.overview.levels import RatingLevel, rating_levels
from empathylab.analysis.ratings import RatingsResult
from empathylab.analysis.results import Conclusion
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.text.apa import counted, listed
from empathylab.analysis.text.names import PEOPLE, differs, first_capital, name_of, owner, was
from empathylab.analysis.text.numbers import number, signed
from empathylab.stats.questionnaires.appraisal import ScaleChange

# Huang et al. 2024, 1,266 people on their own 428 situations; for labs that do not hold them.
PEOPLE_CHANGE = {"positive": -5.13, "negative": 10.44}
_COUNTS = {"better": "rated higher", "worse": "rated lower", "equivalent": "equivalent"}


@dataclass(frozen=True, slots=True)
class Headline:
    """A conclusion of the first screen, and where its evidence stands."""

    section: str
    """The section of the report: `ratings`, `scales` …"""
    anchor: str
    """The id of the part that shows the evidence."""
    conclusion: Conclusion

    def __str__(self) -> str:
        return self.conclusion.sentence


def headlines(data: LabOverview) -> tuple[Headline, ...]:
    """All of them, the topics that answer the question best first."""
    found = [
        Headline("ratings", f"ratings-{place}", conclusion)
        for place, study in enumerate(data.ratings, start=1)
        for conclusion in rating_headlines(study)
    ]
    found += [
        Headline("scores", "scores", conclusion)
        for scores in data.scores
        for conclusion in score_headlines(scores)
    ]
    if data.conversations is not None:
        found += [
            Headline("conversations", "conversations", conclusion)
            for conclusion in conversation_headlines(data.conversations)
        ]
    found += [Headline("scales", "scales", conclusion) for conclusion in scale_headlines(data)]
    found += [
        Headline("judges", f"judges-{place}", conclusion)
        for place, judged in enumerate(data.judges, start=1)
        for conclusion in judged.conclusions[:3]
    ]
    if data.style is not None:
        said = data.style.conclusions
        identified = [one for one in said if one.dimension == "authorship"] or said[:1]
        found += [Headline("style", "style", conclusion) for conclusion in identified[:1]]
    found += [Headline("replies", "replies", one) for one in reply_headlines(data)]
    return tuple(found)


# Ratings


def rating_headlines(study: RatingsResult) -> Iterator[Conclusion]:
    """One conclusion per dimension."""
    levels = rating_levels(study)
    for dimension in study.dimensions:
        mine = {level.arm: level for level in levels if level.dimension == dimension}
        compared = [
            conclusion
            for conclusion in study.conclusions
            if (conclusion.dimension, conclusion.subset) == (dimension, "all")
            and conclusion.reference is not None
        ]
        natural = [one for one in compared if one.unit in ("points", "percentage points")]
        found = list({one.subject: one for one in natural or compared}.values())
        if len(found) == 1:
            yield _one_arm(found[0], mine)
        elif found:
            yield _many_arms(found, mine)
        else:
            yield from (_alone(level) for level in mine.values())


def _one_arm(found: Conclusion, levels: dict[str, RatingLevel]) -> Conclusion:
    arm, other = found.subject, str(found.reference)
    lead = {
        "better": f"{was(arm)} rated higher than {name_of(other)}",
        "worse": f"{was(arm)} rated lower than {name_of(other)}",
        "equivalent": f"{name_of(arm)} and {name_of(other)} are equivalent",
    }.get(found.kind, f"It is open whether {differs(arm)} from {name_of(other)}")
    said = f"{lead} on {found.dimension}"
    mine, reference = levels.get(arm), levels.get(other)
    if mine and reference:
        said += f": {_level(mine)}, {owner(other)} {_level(reference, unit=False)}"
    sentence = f"{said} ({_difference(found)}{_rests_on(found)})."
    return replace(found, sentence=first_capital(sentence))


def _many_arms(found: Sequence[Conclusion], levels: dict[str, RatingLevel]) -> Conclusion:
    reference = str(found[0].reference)
    parts = []
    for kind, said in _COUNTS.items():
        if count := sum(one.kind == kind for one in found):
            parts.append(f"{count} {'was' if count == 1 else 'were'} {said}")
    if rest := sum(one.kind not in _COUNTS for one in found):
        parts.append(f"{rest} {'does' if rest == 1 else 'do'} not clearly differ")
    lead = (
        f"Of {len(found)} arms compared with {name_of(reference)} on {found[0].dimension}, "
        f"{listed(parts)}."
    )
    if rest == len(found):
        none = "Neither of 2 arms" if rest == 2 else f"None of {rest} arms"
        lead = f"{none} clearly differs from {name_of(reference)} on {found[0].dimension}."
    order = sorted(found, key=lambda one: -_height(levels, one))
    best, last = order[0], order[-1]
    ratings = sum(level.n for level in levels.values())
    sentence = (
        f"{lead} Highest: {name_of(best.subject)}{_at(levels, best)} "
        f"({_difference(best)}); lowest: {name_of(last.subject)}{_at(levels, last)}; "
        f"{counted(ratings, 'rating')}."
    )
    kinds = {one.kind for one in found}
    return replace(
        best, kind=best.kind if len(kinds) == 1 else "descriptive", sentence=sentence, subject="all"
    )


def _height(levels: dict[str, RatingLevel], found: Conclusion) -> float:
    level = levels.get(found.subject)
    return level.estimate if level else found.estimate or 0.0


def _at(levels: dict[str, RatingLevel], found: Conclusion) -> str:
    level = levels.get(found.subject)
    return f", {_level(level)}" if level else ""


def _level(level: RatingLevel, *, unit: bool = True) -> str:
    if level.good is None:
        return f"mean {number(level.estimate, 2)}" if unit else number(level.estimate, 2)
    text = f"{number(100 * level.estimate)}%"
    return f"{text} rated {level.good}" if unit else text


def _difference(found: Conclusion) -> str:
    if found.estimate is None:
        return "no estimate"
    digits = {"points": 2, "log-odds": 2}.get(found.unit, 1)
    unit = {"percentage points": "points", "log-odds": "log-odds"}.get(found.unit, "points")
    return f"difference {signed(found.estimate, digits)} {unit}, {_interval(found, digits)}"


def _interval(found: Conclusion, digits: int) -> str:
    if found.low is None or found.high is None:
        return "no interval"
    return f"95% CI {signed(found.low, digits)} to {signed(found.high, digits)}"


def _rests_on(found: Conclusion) -> str:
    return f"; {found.basis.split(';')[0]}" if found.basis else ""


def _alone(level: RatingLevel) -> Conclusion:
    """A single arm: nothing to compare with."""
    ends = ""
    if math.isfinite(level.low):
        times, digits, sign = (100, 1, "%") if level.good else (1, 2, "")
        ends = (
            f"95% CI {number(times * level.low, digits)}{sign} to "
            f"{number(times * level.high, digits)}{sign}; "
        )
    rests = f"{counted(level.n, 'rating')} by {counted(level.raters, 'rater')}"
    return Conclusion(
        kind="descriptive",
        sentence=first_capital(
            f"{owner(level.arm)} replies: {_level(level)} on {level.dimension} ({ends}{rests}). "
            "There is no other arm to compare with."
        ),
        subject=level.arm,
        dimension=level.dimension,
        estimate=level.estimate,
        low=level.low if math.isfinite(level.low) else None,
        high=level.high if math.isfinite(level.high) else None,
        unit="proportion" if level.good else "points",
        n=level.n,
        basis=rests,
    )


# Scores by the rubric


def score_headlines(scores: ScoresResult) -> Iterator[Conclusion]:
    """The respondent's score; of several the highest and the lowest."""
    if not scores.respondents:
        return
    found = [one for one in scores.conclusions if one.dimension is not None][
        : len(scores.respondents)
    ]
    if len(found) == 1:
        yield found[0]
        return
    order = sorted(found, key=lambda one: -(one.estimate or 0))
    ends = [
        f"{name_of(one.subject)} {number(one.estimate, 2)} of 5"
        + ("" if one.low is None else f" (95% CI {number(one.low, 2)} to {number(one.high, 2)})")
        for one in (order[0], order[-1])
    ]
    replies = sum(one.n or 0 for one in found)
    sentence = (
        f"Of {len(found)} runs scored by {scores.judge} on empathy, the highest is {ends[0]}, the "
        f"lowest {ends[1]}; {counted(replies, 'reply', 'replies')} in all."
    )
    yield replace(order[0], sentence=sentence, subject="all")


# Conversations


def conversation_headlines(talks: ConversationsAnalysis) -> Iterator[Conclusion]:
    """One conclusion for each simulator, those with several respondents first."""
    groups: dict[str, list[RespondentResult]] = {}
    for result in talks.respondents:
        if result.n:
            groups.setdefault(result.simulator, []).append(result)
    for simulator, results in sorted(groups.items(), key=lambda group: -len(group[1])):
        yield _talked(talks, simulator, results)


def _talked(
    talks: ConversationsAnalysis, simulator: str, results: list[RespondentResult]
) -> Conclusion:
    order = sorted(results, key=lambda one: -one.mean_final)
    best, last = order[0], order[-1]
    who = "With real people" if simulator == PEOPLE else f"With {simulator} playing the person"
    total = counted(sum(one.n for one in order), "conversation")
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
        low=best.low if math.isfinite(best.low) else None,
        high=best.high if math.isfinite(best.high) else None,
        unit="points",
        n=sum(one.n for one in order),
        basis=total,
    )


def _feeling(found: RespondentResult) -> str:
    ends = "no interval"
    if math.isfinite(found.low):
        ends = f"95% CI {number(max(0, found.low))} to {number(min(100, found.high))}"
    return f"mean feeling {number(found.mean_final)} of 100, {ends}"


def _talk_difference(
    talks: ConversationsAnalysis, simulator: str, best: RespondentResult, last: RespondentResult
) -> str:
    for pair in talks.comparisons:
        names = {pair.respondent, pair.reference}
        if pair.simulator == pair.reference_simulator == simulator and names == {
            best.respondent,
            last.respondent,
        }:
            if not math.isfinite(pair.difference.low):
                return ""
            ends = sorted(abs(end) for end in (pair.difference.low, pair.difference.high))
            clear = pair.difference.low > 0 or pair.difference.high < 0
            if not clear:
                return ": the difference could be chance"
            return (
                f": difference {number(abs(pair.difference.estimate))} points, "
                f"95% CI {number(ends[0])} to {number(ends[1])}"
            )
    return ""


# Scales


def scale_headlines(data: LabOverview) -> Iterator[Conclusion]:
    """The nearest to people and the farthest, then one conclusion per main subscale."""
    doubted = {
        (report.respondent, report.scale)
        for report in data.self_reports
        if report.validity.verdict == "meaningless"
    }
    summaries = [
        one for one in data.appraisal.summaries if (one.respondent, one.scale) not in doubted
    ]
    if len(summaries) > 1:
        order = sorted(summaries, key=lambda one: one.distance)
        near, far = order[0], order[-1]
        yield Conclusion(
            kind="descriptive",
            sentence=f"{owner(near.respondent)} reactions are nearest to people’s, "
            f"{number(near.distance, 2)} SD away (95% CI {number(near.low, 2)} to "
            f"{number(near.high, 2)}), and {owner(far.respondent)} farthest, "
            f"{number(far.distance, 2)} SD ({number(far.low, 2)} to {number(far.high, 2)}; "
            f"{near.scale.upper()}, {near.factors} kinds of situation).",
            subject=near.respondent,
            reference=PEOPLE,
            dimension=near.scale,
            estimate=near.distance,
            low=near.low,
            high=near.high,
            basis=f"{near.factors} factors, {near.subscales} subscales",
        )
    names = {
        (scale.id, part.id): part.name
        for scale in data.appraisal.scales
        for part in scale.subscales
    }
    for subscale, changes in main_changes(data).items():
        named = names.get((changes[0].scale, subscale), subscale)
        yield _subscale(changes, named, doubted)


def main_changes(data: LabOverview) -> dict[str, list[ScaleChange]]:
    """The overall changes of the main scale by subscale: of PANAS, else of the first scale."""
    overall = [
        one
        for one in data.appraisal.changes
        if one.level == "overall" and not math.isnan(one.delta)
    ]
    scales = list(dict.fromkeys(one.scale for one in overall))
    main = "panas" if "panas" in scales else scales[0] if scales else ""
    found: dict[str, list[ScaleChange]] = {}
    for one in overall:
        if one.scale == main:
            found.setdefault(one.subscale, []).append(one)
    return found


def _subscale(changes: list[ScaleChange], named: str, doubted: set[tuple[str, str]]) -> Conclusion:
    first = changes[0]
    scale = first.scale.upper()
    what = scale if first.subscale == "total" else f"{named} ({scale})"
    people = next((one for one in changes if one.respondent == PEOPLE), None)
    models = [one for one in changes if one.respondent != PEOPLE]
    meant = [one for one in models if (one.respondent, one.scale) not in doubted]
    if models and not meant:
        names = listed([one.respondent for one in models[:3]])
        more = f" and {len(models) - 3} more" if len(models) > 3 else ""
        sentence = (
            f"{what}: the answers of {names}{more} are meaningless, because they do not follow "
            "what the items say. Their change shows nothing about feelings."
        )
        return _of_change(first, sentence, kind="inconclusive")
    order = sorted(meant, key=lambda one: one.cluster_delta)
    parts = []
    if people is not None:
        parts.append(_changed(people))
    elif first.subscale in PEOPLE_CHANGE and first.scale == "panas":
        known = signed(PEOPLE_CHANGE[first.subscale])
        parts.append(f"people {known} points on other situations (Huang et al. 2024)")
    if len(order) == 1:
        parts.insert(0, _changed(order[0]))
    elif order:
        ends = " to ".join(f"{_points(one)} ({one.respondent})" for one in (order[0], order[-1]))
        parts.append(f"models from {ends}")
    return _of_change(
        order[0] if order else first,
        f"Change in {lowered(what)} after imagined situations: {'; '.join(parts)}.",
    )


def lowered(name: str) -> str:
    """With a small first letter, unless it is an abbreviation."""
    return name if name[:2].isupper() else name[:1].lower() + name[1:]


def _changed(found: ScaleChange) -> str:
    unit = "" if interval_of(found) else ", no interval"
    return f"{name_of(found.respondent)} {_points(found)} points{unit}, n = {number(found.n, 0)}"


def _points(found: ScaleChange) -> str:
    interval = interval_of(found)
    ends = f" [{signed(interval.low)}, {signed(interval.high)}]" if interval else ""
    return f"{signed(found.cluster_delta)}{ends}"


def _of_change(found: ScaleChange, sentence: str, kind: str = "descriptive") -> Conclusion:
    interval = interval_of(found)
    return Conclusion(
        kind="inconclusive" if kind == "inconclusive" else "descriptive",
        sentence=sentence,
        subject=found.respondent,
        reference="baseline",
        dimension=f"{found.scale} {found.subscale}",
        estimate=found.cluster_delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        unit="points",
        n=found.n,
        basis=f"{number(found.n, 0)} scores after {number(found.clusters, 0)} situations",
    )


# Replies


def reply_headlines(data: LabOverview) -> Iterator[Conclusion]:
    """How long the replies are, for labs without anything else."""
    known = [one for one in data.lengths if one.mean_words is not None]
    if not known:
        return
    order = sorted(known, key=lambda one: -(one.mean_words or 0))
    said = [
        f"{name_of(one.respondent)} {number(one.mean_words)} "
        f"({counted(one.replies, 'reply', 'replies')})"
        for one in (order if len(order) < 4 else (order[0], order[-1]))
    ]
    lead = "Words per reply" if len(order) < 4 else "Words per reply, from most to fewest"
    yield Conclusion(
        kind="descriptive",
        sentence=f"{lead}: {listed(said)}.",
        subject=order[0].respondent,
        estimate=order[0].mean_words,
        n=sum(one.replies for one in known),
    )
