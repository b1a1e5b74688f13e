"""The section on replies: how long they are, and all of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from empathylab.analysis.overview import LabOverview
from empathylab.analysis.overview.replies import Replies
from empathylab.analysis.text.numbers import number
from empathylab.report.blocks import Figure, Fold, Partial, Row, Section, Table, Text, kept
from empathylab.report.estimate_charts import estimates_chart

_SHOWN_WITHOUT_SCRIPTS = 10
_MOST_REPLIES = 6
_MOST_DRAWN = 12
_LENGTHS = "Length can affect ratings, so compare lengths before you compare ratings."


def replies_section(data: LabOverview, lead: Sequence[str]) -> Section:
    """The section; without blocks where there are no replies."""
    if not data.situations:
        return Section(id="replies", title="Replies", blocks=())
    shown = len(data.situations)
    some = []
    if shown < data.situations_replied:
        some.append(
            f"Of {number(data.situations_replied, 0)} situations with replies, "
            f"{number(shown, 0)} are shown: those that most respondents replied to, of every "
            "emotion. `empathylab data show responses` prints all."
        )
    blocks = kept(
        lengths_figure(data),
        Fold(
            id="replies-lengths",
            title="Lengths of replies",
            blocks=kept(
                Table(
                    title="Lengths of replies", rows=_lengths(data), caption=_LENGTHS, paper=False
                )
            ),
        ),
        Text(some, "note"),
        Partial(template="replies.html.j2", data=_browser(data)),
    )
    return Section(id="replies", title="Replies", blocks=blocks, lead=lead)


def lengths_figure(data: LabOverview) -> Figure | None:
    """The median length with the middle half, of each respondent."""
    known = sorted(
        (lengths for lengths in data.lengths if lengths.median_words is not None),
        key=lambda lengths: -(lengths.median_words or 0),
    )
    half = _MOST_DRAWN // 2
    drawn = known if len(known) <= _MOST_DRAWN else [*known[:half], *known[-half:]]
    rows = [
        {
            "respondent": lengths.respondent,
            "estimate": lengths.median_words,
            "low": lengths.quartiles[0],
            "high": lengths.quartiles[1],
            "n": lengths.replies,
        }
        for lengths in drawn
        if lengths.quartiles is not None
    ]
    if not rows:
        return None
    spec = estimates_chart(
        rows, title="words per reply", form=".0f", zero=True, interval="quartile"
    )
    note = "The line is the middle half of the replies, the dot the median."
    if len(drawn) < len(known):
        note += f" The {half} longest and the {half} shortest of {number(len(known), 0)} are shown."
    return Figure(name="lengths", title="Words per reply", spec=spec, note=note)


def _lengths(data: LabOverview) -> list[Row]:
    return [
        {
            "respondent": lengths.respondent,
            "replies": number(lengths.asked, 0),
            "usable": number(lengths.replies, 0),
            "mean words": number(lengths.mean_words),
            "median (quartiles)": f"{number(lengths.median_words, 0)} "
            f"({number(lengths.quartiles[0], 0)} to {number(lengths.quartiles[1], 0)})"
            if lengths.quartiles
            else "–",
            "shortest": number(lengths.shortest, 0),
            "longest": number(lengths.longest, 0),
        }
        for lengths in data.lengths
    ]


def _browser(data: LabOverview) -> dict[str, Any]:
    repliers = list(
        dict.fromkeys(reply["respondent"] for entry in data.situations for reply in entry.replies)
    )
    return {
        "groups": sorted({entry.group for entry in data.situations}),
        "repliers": repliers,
        "first": data.situations[:_SHOWN_WITHOUT_SCRIPTS],
        "most": _MOST_REPLIES,
        "count": len(data.situations),
        "all": _all(data.situations, repliers),
    }


def _all(situations: Sequence[Replies], repliers: Sequence[str]) -> dict[str, Any]:
    """What the page's browser of replies reads; respondents by number, to say each name once."""
    places = {name: place for place, name in enumerate(repliers)}
    return {
        "respondents": list(repliers),
        "situations": [
            {
                **{
                    name: getattr(entry, name)
                    for name in ("situation", "group", "title", "valence", "text", "utterance")
                    if getattr(entry, name) is not None
                },
                "replies": [
                    {
                        "respondent": places[reply["respondent"]],
                        "text": reply["text"],
                        "outcome": reply["outcome"],
                        **({"reason": reply["reason"]} if reply["reason"] else {}),
                    }
                    for reply in entry.replies
                ],
            }
            for entry in situations
        ],
    }
