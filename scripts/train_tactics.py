"""Trains the classifier of tactics on the development sentences; writes weights and accuracy.

Logistic regression per tactic, with L2 penalty. The rules were written with these sentences in
view and are right more often on them than on new ones, so that a rule's finding is dropped in
three of ten cases and invented in three of a hundred while training; without this the weights would
trust the rules too much. `docs/explanation/tactics-validation.md` says how the settings were
chosen. The accuracy that ships is that on the test set, which neither rules nor weights have seen.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, diags, hstack, vstack

from empathylab.analysis.style.tables import accuracy_intervals
from empathylab.style.tactics import classifier
from empathylab.style.tactics.accuracy import (
    built_in_accuracy,
    labelled_sentences,
    sentence_accuracy,
)
from empathylab.style.tactics.rules import tactic_rules

FOLDER = Path(classifier.__file__).parent
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "tactics.md"
BEGIN, END = "<!-- accuracy -->", "<!-- /accuracy -->"
TEST_SET = ROOT / "tests" / "style" / "tactics" / "test_set.tsv"
FEWEST, COPIES, DROPPED, INVENTED, COST = 3, 4, 0.3, 0.03, 30.0

Array = NDArray[np.float64]


def main() -> None:
    train()
    rows = [dataclasses.asdict(row) for row in sentence_accuracy(labelled_sentences(TEST_SET))]
    pl.DataFrame(rows).write_csv(FOLDER / "accuracy.tsv", separator="\t")
    built_in_accuracy.cache_clear()
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{page_table()}{END}{rest.split(END)[1]}", encoding="utf-8")


def page_table() -> str:
    """The accuracy as a table of Markdown."""
    lines = [
        "| tactic | precision: people | recall: people | precision: models | recall: models |",
        "| --- | --- | --- | --- | --- |",
    ]
    by_tactic: dict[str, list[str]] = {}
    for row in built_in_accuracy():
        precision, recall = accuracy_intervals(row)
        by_tactic.setdefault(row.tactic, [row.tactic]).extend(
            f"{estimate:.0%} [{interval.low:.0%}, {interval.high:.0%}]"
            for estimate, interval in ((row.precision, precision), (row.recall, recall))
        )
    lines += [f"| {' | '.join(cells)} |" for cells in by_tactic.values()]
    return "\n".join(lines) + "\n"


def train() -> None:
    """Writes the weights."""
    table = labelled_sentences(FOLDER / "sentences.tsv")
    rules = tactic_rules()
    labels = np.array([[name in row for name in rules.names] for row in table["tactics"]])
    found = rules.positions(table["sentence"]).select(pl.all().is_not_null()).to_numpy()
    words, names = word_matrix(table["sentence"])
    source = np.random.default_rng(1)
    copies = []
    for _ in range(COPIES):
        kept = found & (source.random(found.shape) >= DROPPED)
        copies.append(hstack([words, csr_matrix(kept | (source.random(found.shape) < INVENTED))]))
    features = csr_matrix(vstack(copies), dtype=float)
    weights = np.column_stack(
        [fit(features, np.tile(column, COPIES), COST / COPIES) for column in labels.T]
    )
    rows = [*names, *(classifier.RULE + name for name in rules.names), classifier.BIAS]
    hundredths = np.rint(weights * 100).astype(int)
    written = pl.DataFrame({"feature": rows}).with_columns(
        pl.Series(name, hundredths[:, column]).replace(0, None)
        for column, name in enumerate(rules.names)
    )
    kept_rows = written.filter(
        pl.any_horizontal(pl.col(rules.names).is_not_null())
        | pl.col("feature").is_in(rows[len(names) :])
    )
    kept_rows.write_csv(FOLDER / "weights.tsv", separator="\t", quote_style="never")


def word_matrix(sentences: pl.Series) -> tuple[csr_matrix, list[str]]:
    """Which of the features found in three sentences or more each sentence has, scaled."""
    features = classifier.sentence_features(sentences)
    frequent = features.filter(pl.len().over("feature") >= FEWEST)
    names = frequent["feature"].unique().sort().to_list()
    column = {name: number for number, name in enumerate(names)}
    rows = frequent["sentence"].to_numpy()
    columns = [column[name] for name in frequent["feature"]]
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(sentences), len(names)))
    counts = np.maximum(np.asarray(matrix.sum(axis=1)).ravel(), 1)
    return csr_matrix(diags(1 / np.sqrt(counts)) @ matrix), names


def fit(features: csr_matrix, labels: NDArray[np.bool_], cost: float) -> Array:
    """Weights of an L2-penalised logistic regression, the constant last."""
    signs = np.where(labels, 1.0, -1.0)

    def loss(weights: Array) -> tuple[float, Array]:
        margins = signs * (features @ weights[:-1] + weights[-1])
        slopes = -cost * signs / (1 + np.exp(margins))
        value = cost * np.logaddexp(0, -margins).sum() + weights[:-1] @ weights[:-1] / 2
        return float(value), np.append(features.T @ slopes + weights[:-1], slopes.sum())

    start = np.zeros(features.shape[1] + 1)
    best: Array = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000}).x
    return best


if __name__ == "__main__":
    main()
