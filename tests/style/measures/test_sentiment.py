"""Sentiment; the outside figures are those of the package vaderSentiment itself."""

from __future__ import annotations

import importlib
import random
import sys

import polars as pl
import pytest

from empathylab.errors import MissingExtra
from empathylab.style import features, sentiment_missing, sentiment_scores

TEXTS = ["I love this, it is wonderful!", "That is terrible and sad.", "The table is here.", "😀"]


def frame(texts: list[str | None]) -> pl.DataFrame:
    return pl.DataFrame({"respondent": "a", "situation": range(len(texts)), "text": texts})


def test_a_score_is_that_of_the_package() -> None:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()
    expected = [analyser.polarity_scores(text)["compound"] for text in TEXTS]
    assert sentiment_scores(pl.Series(TEXTS)).to_list() == expected
    assert expected[0] > 0.5
    assert expected[1] < -0.5
    assert expected[2] == 0


def test_every_rule_scores_as_in_the_package() -> None:
    package = importlib.import_module("vaderSentiment.vaderSentiment")
    analyser = package.SentimentIntensityAnalyzer()
    phrases = " ".join((*package.BOOSTER_DICT, *package.SPECIAL_CASES, *package.NEGATE)).split()
    others = ["but", "But", "least", "at", "without", "doubt", "this", "no", "nor", "or", "table"]
    source = random.Random(3)

    def text() -> str:
        words = [
            source.choice(source.choice((list(analyser.lexicon), phrases, others)))
            for _ in range(source.randint(1, 12))
        ]
        shouted = [word.upper() if source.random() < 0.1 else word for word in words]
        marked = [word + source.choice(("", "", "!", "?", ",", "??", "!!!")) for word in shouted]
        if source.random() < 0.3:
            marked.insert(source.randrange(len(marked)), source.choice(list(analyser.emojis)))
        return source.choice((" ", " ", "\n", source.choice(list(analyser.emojis)))).join(marked)

    texts = [text() for _ in range(4_000)]
    expected = [analyser.polarity_scores(text)["compound"] for text in texts]
    assert sentiment_scores(pl.Series(texts)).to_list() == expected


def test_no_text_has_no_sentiment() -> None:
    assert sentiment_scores(pl.Series([None, "", "  "])).to_list() == [None, None, None]


def test_a_megabyte_is_scored_by_its_beginning() -> None:
    long = "I love this but it is sad. " * 40_000
    assert sentiment_scores(pl.Series([long])).to_list() == pytest.approx(
        sentiment_scores(pl.Series([long[:10_000]])).to_list()
    )


def test_features_have_sentiment_where_it_can_be_had() -> None:
    assert features(frame(["I love it", None]))["sentiment"].to_list() == [0.6369, None]
    assert sentiment_missing() is None


def test_without_the_package_the_column_is_absent_and_one_line_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vaderSentiment", None)
    monkeypatch.setitem(sys.modules, "vaderSentiment.vaderSentiment", None)
    assert "sentiment" not in features(frame(["I love it"])).columns
    assert sentiment_missing() == (
        "Sentiment needs the package vaderSentiment, which is not installed. "
        "Run: pip install 'empathylab[style]'"
    )
    with pytest.raises(MissingExtra, match="pip install 'empathylab\\[style\\]'"):
        features(frame(["I love it"]), sentiment=True)
