"""How both sides write in the course of a conversation: questions, advice, repetition by turn."""

from __future__ import annotations

from typing import Any

import polars as pl

from empathylab.analysis.conversations.measures import GROUP
from empathylab.analysis.json_values import finite
from empathylab.stats.conversations import clustered_mean
from empathylab.style.tactics.tagging import tag
from empathylab.style.text.sentences import sentence_lists
from empathylab.style.text.tokens import words
from empathylab.words import count_words

_PHRASE = 4
_TACTICS = ("advice", "validation")
"""Those whose time in a conversation matters; the rules for them are English."""


def turn_features(conversations: pl.DataFrame, turns: pl.DataFrame) -> pl.DataFrame:
    """One row per turn: its role, exchange, words, question, tactics and repetition."""
    known = conversations.select("conversation", *GROUP, "persona", "language")
    frame = turns.join(known, on="conversation").sort("conversation", "position")
    if frame.is_empty():
        return frame.with_columns(
            exchange=pl.lit(0, dtype=pl.Int64),
            words=pl.lit(0, dtype=pl.Int64),
            asks=pl.lit(False),
            repeated=pl.lit(None, dtype=pl.Float64),
            **{name: pl.lit(None, dtype=pl.Boolean) for name in _TACTICS},
        )
    respondent = pl.col("role") == "respondent"
    return frame.with_columns(
        exchange=respondent.cum_sum().over("conversation").cast(pl.Int64),
        words=pl.col("text").map_elements(count_words, return_dtype=pl.Int64),
        asks=pl.col("text").str.contains("[?？]"),
        repeated=pl.Series(_repetition(frame), dtype=pl.Float64),
        **_tactics(frame),
    )


def _repetition(frame: pl.DataFrame) -> list[float | None]:
    """Of each turn's phrases of four words, those that its speaker used before; None for first."""
    repetitions: list[float | None] = []
    said: dict[tuple[int, str], set[tuple[str, ...]]] = {}
    for number, role, text, language in frame[
        "conversation", "role", "text", "language"
    ].iter_rows():
        # Chinese has no spaces: characters stand for words there.
        units = [item for item in text if item.isalnum()] if language == "zh" else words(text)
        phrases = {tuple(units[at : at + _PHRASE]) for at in range(len(units) - _PHRASE + 1)}
        earlier = said.get((number, role))
        repetitions.append(len(phrases & earlier) / len(phrases) if earlier and phrases else None)
        said[number, role] = phrases | (earlier or set())
    return repetitions


def _tactics(frame: pl.DataFrame) -> dict[str, pl.Series]:
    """Whether each turn uses a tactic; null where it is not in English."""
    english = [(language or "en").startswith("en") for language in frame["language"]]
    texts = frame["text"].filter(pl.Series(english))
    sentences = sentence_lists(texts).to_list() if len(texts) else []
    flat = [sentence for part in sentences for sentence in part]
    tagged = iter(tag(flat) if flat else [])
    used = iter([{name for _ in part for name in next(tagged)} for part in sentences])
    by_turn = [next(used) if known else None for known in english]
    return {
        name: pl.Series(
            [None if item is None else name in item for item in by_turn], dtype=pl.Boolean
        )
        for name in _TACTICS
    }


def style_by_turn(features: pl.DataFrame) -> list[dict[str, Any]]:
    """Words, questions, tactics and repetition by role and exchange."""
    if features.is_empty():
        return []
    return (
        features.group_by(*GROUP, "role", "exchange", maintain_order=True)
        .agg(
            pl.len().alias("turns"),
            pl.col("words").mean().alias("words_mean"),
            pl.col("asks").mean().alias("asks_question"),
            *(pl.col(name).cast(pl.Float64).mean().alias(name) for name in _TACTICS),
            pl.col("repeated").mean().alias("repeated_phrases"),
        )
        .sort(*GROUP, "role", "exchange")
        .to_dicts()
    )


def style_by_conversation(features: pl.DataFrame) -> list[dict[str, Any]]:
    """When a respondent first asks and first advises, and how much it repeats itself."""
    replies = features.filter(role="respondent")
    rows = []
    for (respondent, simulator), part in replies.group_by(*GROUP, maintain_order=True):
        talks = part.group_by("conversation", "persona", maintain_order=True).agg(
            pl.col("exchange").filter("asks").min().alias("first_question"),
            pl.col("exchange").filter("advice").min().alias("first_advice"),
            pl.col("advice").is_not_null().any().alias("english"),
            pl.col("repeated").mean(),
        )
        english = talks.filter("english")
        repeated = talks.drop_nulls("repeated")
        mean = clustered_mean(repeated["repeated"], repeated["persona"].to_list())
        advised = english.drop_nulls("first_advice")
        rows.append(
            {
                "respondent": respondent,
                "simulator": simulator,
                "conversations": talks.height,
                "question_in_first_reply": talks.filter(first_question=1).height / talks.height,
                "first_question_median": talks["first_question"].median(),
                "first_advice_median": advised["first_advice"].median(),
                "advice_in_first_reply": english.filter(first_advice=1).height / english.height
                if english.height
                else None,
                "never_advises": 1 - advised.height / english.height if english.height else None,
                "repeated_phrases": finite(mean.estimate),
                "repeated_low": finite(mean.low),
                "repeated_high": finite(mean.high),
            }
        )
    return rows
