"""Sentiment by VADER, offline: a lexicon and rules made for short English messages."""

from __future__ import annotations

import polars as pl

from empathylab.errors import MissingExtra

CHARACTERS = 10_000
"""Of a longer text only the beginning is scored: VADER was made for short ones, and its time grows
with the square of the length."""


def sentiment_scores(texts: pl.Series) -> pl.Series:
    """VADER's compound score of each text, from -1 to 1; null where there is no text.

    The whole response is scored, as most papers do; a long one tends to ±1. English only.

    Hutto, C. J., & Gilbert, E. (2014). VADER: A parsimonious rule-based model for sentiment
    analysis of social media text. Proceedings of ICWSM 8, 216–225.
    """
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ImportError as error:
        raise MissingExtra("vaderSentiment", "style", "Sentiment") from error
    analyser = SentimentIntensityAnalyzer()
    short = texts.cast(pl.String).str.slice(0, CHARACTERS)
    known: dict[str, float] = {
        text: float(analyser.polarity_scores(text)["compound"])
        for text in short.unique().drop_nulls()
        if text.strip()
    }
    scores = [None if text is None else known.get(text) for text in short]
    return pl.Series("sentiment", scores, dtype=pl.Float64)


def sentiment_missing() -> str | None:
    """Why there is no sentiment, with the install command; None where it can be had."""
    from importlib.util import find_spec

    if find_spec("vaderSentiment") is not None:
        return None
    return str(MissingExtra("vaderSentiment", "style", "Sentiment"))
