"""One short sentence for each main comparison, with estimate, interval and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.overview.headlines.conversations import (
    conversation_headlines,
    unscored_conclusion,
)
from empathylab.analysis.overview.headlines.ratings import rating_headlines
from empathylab.analysis.overview.headlines.scales import scale_headlines
from empathylab.analysis.preferences import headlines as preference_headlines
from empathylab.analysis.recipients.prose import headlines as recipient_headlines
from empathylab.analysis.results import Conclusion
from empathylab.analysis.scores import ScoresResult
from empathylab.analysis.text.apa import counted, listed
from empathylab.analysis.text.names import name_of
from empathylab.analysis.text.numbers import number

_DOUBTS = {True: "", False: ". The judge is not fit", None: ". The judge has not been checked"}


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
    parts: list[tuple[str, str, Iterable[Conclusion]]] = [
        *(
            ("ratings", f"ratings-{number}", rating_headlines(study))
            for number, study in enumerate(data.ratings, start=1)
        ),
        *(
            ("preferences", "preferences", preference_headlines(result))
            for result in data.preferences
        ),
        *(
            ("recipients", "recipients", recipient_headlines(result.conclusions))
            for result in data.recipients
        ),
        *(("scores", "scores", score_headlines(scores)) for scores in data.scores),
        ("conversations", "conversations", conversation_headlines(data.conversations)),
        ("scales", "scales", scale_headlines(data)),
        *(
            ("judges", f"judges-{number}", judged.conclusions[:3])
            for number, judged in enumerate(data.judges, start=1)
        ),
        ("style", "style", style_headlines(data)),
        ("replies", "replies", reply_headlines(data)),
    ]
    found = tuple(
        Headline(section, anchor, conclusion)
        for section, anchor, conclusions in parts
        for conclusion in conclusions
    )
    if found or data.conversations is None:
        return found
    unscored = unscored_conclusion(data.conversations)
    return (Headline("conversations", "conversations", unscored),)


def style_headlines(data: LabOverview) -> Sequence[Conclusion]:
    """Whether authors can be identified; else the first conclusion on style."""
    conclusions = data.style.conclusions if data.style is not None else ()
    identified = [item for item in conclusions if item.dimension == "authorship"]
    return (identified or conclusions)[:1]


def score_headlines(scores: ScoresResult) -> Iterator[Conclusion]:
    """The respondent's score; of several the highest and the lowest."""
    if not scores.respondents:
        return
    conclusions = [
        conclusion for conclusion in scores.conclusions if conclusion.dimension is not None
    ][: len(scores.respondents)]
    if len(conclusions) == 1:
        yield conclusions[0]
        return
    order = sorted(conclusions, key=lambda item: -(item.estimate or 0))
    ends = [
        f"{name_of(item.subject)} {number(item.estimate, 2)} of 5"
        + ("" if item.low is None else f" (95% CI {number(item.low, 2)} to {number(item.high, 2)})")
        for item in (order[0], order[-1])
    ]
    replies = sum(item.n or 0 for item in conclusions)
    sentence = (
        f"Of {len(conclusions)} runs scored by {scores.judge} on empathy, the highest is "
        f"{ends[0]}, the lowest {ends[1]}; {counted(replies, 'reply', 'replies')} in "
        f"all{_DOUBTS[scores.fit]}."
    )
    yield replace(order[0], sentence=sentence, subject="all")


def reply_headlines(data: LabOverview) -> Iterator[Conclusion]:
    """How long the replies are, for labs without anything else."""
    known = [length for length in data.lengths if length.median_words is not None]
    if not known:
        return
    order = sorted(known, key=lambda item: -(item.median_words or 0))
    lengths = [
        f"{name_of(item.respondent)} {number(item.median_words, 0)} "
        f"({counted(item.replies, 'reply', 'replies')})"
        for item in (order if len(order) < 4 else (order[0], order[-1]))
    ]
    sentence = f"Median words per reply: {listed(lengths)}."
    if len(order) > len(lengths):
        sentence = (
            f"Median words per reply of {len(order)} respondents: from {lengths[-1]} to "
            f"{lengths[0]}."
        )
    yield Conclusion(
        kind="descriptive",
        sentence=sentence,
        subject=order[0].respondent,
        estimate=order[0].median_words,
        n=sum(item.replies for item in known),
    )
