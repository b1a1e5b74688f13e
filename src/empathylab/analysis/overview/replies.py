"""The replies that the report shows: side by side by situation, and how long they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.stats.lengths import length_distributions

# A page with more text than this is slow to open and too large to send.
_MOST_CHARACTERS = 5_000_000
_LONGEST_TEXT = 120_000


@dataclass(frozen=True, slots=True)
class Replies:
    """One situation with the replies to it."""

    set: str
    situation: str
    group: str
    """Its emotion, or the topic of a post."""
    title: str | None
    valence: str | None
    text: str
    utterance: str | None
    replies: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ReplyLengths:
    """How much a respondent wrote, in words, over its usable replies."""

    respondent: str
    asked: int
    replies: int
    mean_words: float | None
    median_words: float | None
    quartiles: tuple[float, float] | None
    shortest: int | None
    longest: int | None


def replies_by_situation(replied: pl.DataFrame) -> Iterable[Replies]:
    """Every situation with its replies; of very much text, some situations."""
    columns = ["respondent", "text", "outcome", "reason", "sample"]
    for (_, _), group in _with_most_replies(replied).group_by(
        "set", "situation", maintain_order=True
    ):
        first = group.row(0, named=True)
        yield Replies(
            set=first["set"],
            situation=first["situation"],
            group=first["emotion"] or first["topic"] or "",
            title=first["title"],
            valence=first["valence"],
            text=first["situation_text"],
            utterance=first["utterance"],
            replies=tuple(
                reply | {"text": _cut(reply["text"])}
                for reply in group.select(columns).iter_rows(named=True)
            ),
        )


def _cut(text: str | None) -> str | None:
    """A text that is longer than any reply is cut, and says so; the lab keeps all of it."""
    if text is None or len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]} … [{len(text) - _LONGEST_TEXT:,} more characters in the lab]"


def _with_most_replies(replied: pl.DataFrame) -> pl.DataFrame:
    """Of very much text the situations with most replies side by side, some of each emotion."""
    place = ["set", "situation"]
    size = pl.col("text").str.len_chars().fill_null(0).sum()
    sizes = replied.group_by(place, maintain_order=True).agg(
        pl.col("respondent").n_unique().alias("respondents"),
        pl.coalesce(pl.col("emotion").first(), pl.col("topic").first()).alias("group"),
        (size + pl.col("situation_text").first().str.len_chars().fill_null(0)).alias("size"),
    )
    if sizes["size"].sum() <= _MOST_CHARACTERS:
        return replied
    turn = pl.int_range(pl.len()).over("respondents", "group")
    kept = sizes.sort("respondents", turn, descending=[True, False], maintain_order=True)
    # The first situation is shown however long its replies are.
    room = pl.col("size").cum_sum().shift(1, fill_value=0) < _MOST_CHARACTERS
    return replied.join(kept.filter(room).select(place), on=place, how="semi")


def reply_lengths(replied: pl.DataFrame) -> Iterable[ReplyLengths]:
    """Of each respondent."""
    for (respondent,), group in replied.group_by("respondent", maintain_order=True):
        valid = group.filter(outcome="valid")
        distributions = length_distributions(valid, quantiles=(0.25, 0.5, 0.75))
        lengths = distributions[0] if distributions and distributions[0].n else None
        yield ReplyLengths(
            respondent=str(respondent),
            asked=group.height,
            replies=lengths.n if lengths else 0,
            mean_words=lengths.mean if lengths else None,
            median_words=lengths.quantiles[0.5] if lengths else None,
            quartiles=(lengths.quantiles[0.25], lengths.quantiles[0.75]) if lengths else None,
            shortest=lengths.shortest if lengths else None,
            longest=lengths.longest if lengths else None,
        )
