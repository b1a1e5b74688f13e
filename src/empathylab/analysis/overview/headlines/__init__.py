"""One short sentence for each main comparison, with estimate, interval and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.overview.headlines.conversations import conversation_headlines
from empathylab.analysis.overview.headlines.ratings import rating_headlines
from empathylab.analysis.overview.headlines.scales import scale_headlines
from empathylab.analysis.recipients.prose import headlines as recipient_headlines
from empathylab.analysis.results import Conclusion
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.text.apa import counted, listed
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number


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
        Headline("recipients", "recipients", conclusion)
        for result in data.recipients
        for conclusion in recipient_headlines(result.conclusions)
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
