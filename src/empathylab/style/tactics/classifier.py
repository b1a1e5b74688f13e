"""A logistic regression that weighs the rules' findings with the words of a sentence.

Features of a sentence: its words, pairs of words, the first four and last three letters of longer
words, and which rules found their tactic. `scripts/train_tactics.py` trains the weights on
`sentences.tsv`; at run time there are only sums.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl

from empathylab.stats.arrays import Array, Flags
from empathylab.style.tactics.rules import TacticRules, plain_sentences, tactic_rules

THRESHOLD = 0.45
THRESHOLDS = {"questioning": 0.3, "information": 0.55, "reappraisal": 0.55, "advice": 0.55}
"""A sentence has a tactic from this probability on; `THRESHOLD` for the others."""
RULE = "rule:"
BIAS = "bias"
_START, _END = "^", "$"
_PIECE = r"[a-z]+(?:['-][a-z]+)*|[0-9]+|[?!,;]"
_LONG = 5
_SPELLINGS = {"alot": "lot", "ok": "okay"}


def classify(sentences: pl.Series, rules: TacticRules) -> tuple[Flags, pl.DataFrame]:
    """Which tactics each sentence has, in the rules' order, and where the rules found them."""
    places = rules.positions(sentences)
    by_rule = places.select(pl.all().is_not_null()).to_numpy()
    least = [THRESHOLDS.get(name, THRESHOLD) for name in rules.names]
    tagged: Flags = probabilities(sentences, by_rule) >= np.array(least)
    return tagged, places


def probabilities(sentences: pl.Series, by_rule: Flags) -> Array:
    """Per sentence and tactic, the probability that the sentence has it.

    `found` says where each rule found its tactic.
    """
    vocabulary, weights, rule_weights, bias = _model()
    known = pl.concat(
        part.join(vocabulary, on="feature", maintain_order="left").select("sentence", "column")
        for part in _feature_parts(sentences)
    ).unique(maintain_order=True)
    rows = known["sentence"].to_numpy()
    columns = known["column"].to_numpy()
    counts = np.bincount(rows, minlength=len(sentences))
    scale = 1 / np.sqrt(np.maximum(counts, 1))
    sums = np.column_stack(
        [
            np.bincount(rows, weights=item[columns], minlength=len(sentences)) * scale
            for item in weights.T
        ]
    )
    logits = sums + by_rule.astype(float) @ rule_weights + bias
    chances: Array = 1 / (1 + np.exp(-logits))
    return chances


def sentence_features(sentences: pl.Series) -> pl.DataFrame:
    """The different features of each sentence: sentence (its row), feature."""
    return pl.concat(_feature_parts(sentences)).unique(maintain_order=True)


def _feature_parts(sentences: pl.Series) -> list[pl.DataFrame]:
    tokens = (
        plain_sentences(sentences)
        .to_frame("token")
        .with_row_index("sentence")
        .with_columns(
            token=pl.concat_list(
                pl.lit(_START), pl.col("token").str.extract_all(_PIECE), pl.lit(_END)
            )
        )
        .explode("token", empty_as_null=False, keep_nulls=False)
        .with_columns(pl.col("token").replace(_SPELLINGS))
        .with_columns(following=pl.col("token").shift(-1))
    )
    long = (pl.col("token").str.len_bytes() >= _LONG) & pl.col("token").str.contains("^[a-z]+$")
    inner = pl.col("token") != _END
    return [
        tokens.select("sentence", feature="token"),
        tokens.filter(inner).select(
            "sentence", feature=pl.concat_str("token", "following", separator=" ")
        ),
        tokens.filter(long).select("sentence", feature=pl.col("token").str.slice(0, 4) + "*"),
        tokens.filter(long).select("sentence", feature="*" + pl.col("token").str.slice(-3)),
    ]


@cache
def _model() -> tuple[pl.DataFrame, Array, Array, Array]:
    """The vocabulary, and the weights of words, rules and the constant, per tactic."""
    text = (files("empathylab.style") / "tactics" / "weights.tsv").read_bytes()
    table = pl.read_csv(text, separator="\t", quote_char=None)
    names = tactic_rules().names
    values = table.select(names).fill_null(0).to_numpy().astype(float) / 100
    features = table["feature"].to_list()
    ruled = [features.index(RULE + name) for name in names]
    words = [
        row
        for row, feature in enumerate(features)
        if not feature.startswith(RULE) and feature != BIAS
    ]
    vocabulary = pl.DataFrame(
        {"feature": [features[row] for row in words], "column": range(len(words))}
    )
    return vocabulary, values[words], values[ruled], values[features.index(BIAS)]
