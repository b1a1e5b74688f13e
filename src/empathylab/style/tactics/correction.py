"""Shares of responses with a tactic, corrected for tagging errors.

Where a respondent has labelled responses, its error rates are those on them. Elsewhere they follow
from the test set of sentences: a response of several sentences has as many chances of a false tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError, UnknownName
from empathylab.stats.misclassification import ErrorRate, corrected_proportion
from empathylab.style.responses import RESPONDENT, TEXT, require_columns
from empathylab.style.tactics.accuracy import (
    MODELS,
    PEOPLE,
    TacticAccuracy,
    accuracy,
    built_in_accuracy,
)
from empathylab.style.tactics.tagging import TacticUse

LABELS, TEST_SET = "labels", "test set"
FEWEST_LABELS = 10
"""Labelled responses with the tactic, and without it, that error rates need."""
_PEOPLE_NAMES = ("human", "people")


@dataclass(frozen=True, slots=True)
class CorrectedUse:
    """How many of a respondent's responses use a tactic, without the tagger's errors."""

    respondent: str
    tactic: str
    share: float
    """NaN where the error rates are not known."""
    low: float
    high: float
    sensitivity: float
    """Of the responses with the tactic, those that are tagged."""
    specificity: float
    basis: str
    """`labels` of this respondent's responses, or `test set`; empty where there are neither."""
    comparable: bool
    """Whether precision and recall are good enough to compare respondents by this tactic."""


def tactic_labels(table: pl.DataFrame, tactics: Sequence[str], *, where: str) -> pl.DataFrame:
    """The table's labelled responses: respondent, text, tactics (a list).

    In the table, `tactics` are names with commas between them, or nothing.
    """
    require_columns(table, [RESPONDENT, TEXT, "tactics"], where)
    names = pl.col("tactics").cast(pl.String).fill_null("").str.split(",")
    listed = names.list.eval(pl.element().str.strip_chars()).list.eval(
        pl.element().filter(pl.element() != "")
    )
    labels = table.select(
        pl.col(RESPONDENT).cast(pl.String), pl.col(TEXT).cast(pl.String), tactics=listed
    )
    for name in labels["tactics"].explode().drop_nulls().unique(maintain_order=True):
        if name not in tactics:
            raise UnknownName("tactic", name, list(tactics), where=where)
    return labels


def label_accuracy(
    table: pl.DataFrame, responses: pl.DataFrame, labels: pl.DataFrame, tactics: Sequence[str]
) -> list[TacticAccuracy]:
    """How well tags and labels agree, by tactic and respondent (`writer`).

    `table` comes from `tactic_table(responses)`. A label belongs to the responses with the same
    respondent and text.
    """
    tagged = (
        table.drop_nulls("tactics")
        .group_by("response")
        .agg(pl.col("tactics").list.explode(empty_as_null=False, keep_nulls=False).alias("found"))
    )
    matched = (
        responses.with_row_index("response")
        .select("response", RESPONDENT, _plain(TEXT))
        .join(tagged, on="response")
        .join(labels.with_columns(_plain(TEXT)), on=[RESPONDENT, TEXT])
    )
    if not matched.height:
        raise InputError(
            "no labelled response is among the responses",
            where="labels of tactics",
            got=f"{labels.height} labels",
            remedy="Give respondents and texts as they are in the responses.",
        )
    return [
        accuracy(
            tactic,
            name,
            [tactic in row for row in part["tactics"]],
            [tactic in row for row in part["found"]],
        )
        for (name,), part in matched.group_by(RESPONDENT, maintain_order=True)
        for tactic in tactics
    ]


def corrected_uses(
    table: pl.DataFrame,
    uses: Sequence[TacticUse],
    *,
    labelled: Sequence[TacticAccuracy] = (),
    built_in: bool = True,
) -> list[CorrectedUse]:
    """The uses without tagging errors, by labels where there are enough, else by the test set.

    `labelled` comes from `label_accuracy`; `built_in` says whether the built-in tagger was used,
    the only one with a test set.
    """
    lengths = {
        name: part["sentences"].to_numpy().astype(float)
        for (name,), part in table.drop_nulls("tactics").filter(place=0).group_by(RESPONDENT)
    }
    by_labels = {(row.writer, row.tactic): row for row in labelled}
    by_sentences = {(row.writer, row.tactic): row for row in built_in_accuracy() if built_in}
    corrected = []
    for use in uses:
        own = by_labels.get((use.respondent, use.tactic))
        shared = by_sentences.get((writer_kind(use.respondent), use.tactic))
        if own is not None and min(own.labelled, own.unlabelled) >= FEWEST_LABELS:
            sensitivity = ErrorRate.of_counts(own.both, own.labelled)
            specificity = ErrorRate.of_counts(own.neither, own.unlabelled)
            basis, comparable = LABELS, own.reliable
        elif shared is not None:
            sensitivity, specificity = response_rates(shared, lengths[use.respondent])
            basis, comparable = TEST_SET, shared.reliable
        else:
            sensitivity = specificity = ErrorRate.of_counts(0, 0)
            basis, comparable = "", False
        size = min(use.situations, use.responses)
        share = corrected_proportion(use.share, size, sensitivity, specificity)
        corrected.append(
            CorrectedUse(
                use.respondent,
                use.tactic,
                *share,
                sensitivity=sensitivity.estimate,
                specificity=specificity.estimate,
                basis=basis,
                comparable=comparable,
            )
        )
    return corrected


def writer_kind(respondent: str) -> str:
    """By whose sentences of the test set a respondent's tags are judged."""
    return PEOPLE if respondent.lower() in _PEOPLE_NAMES else MODELS


def response_rates(
    sentences: TacticAccuracy, lengths: NDArray[np.float64]
) -> tuple[ErrorRate, ErrorRate]:
    """Sensitivity and specificity for whole responses of these many sentences.

    A response with the tactic is taken to have it in one sentence; where it has more, it is found
    more often than this says. Variances by the delta method.
    """
    recall = ErrorRate.of_counts(sentences.both, sentences.labelled)
    silence = ErrorRate.of_counts(sentences.neither, sentences.unlabelled)
    others = np.maximum(lengths - 1, 0)

    def sensitivity(recall: float, silence: float) -> float:
        return float(1 - (1 - recall) * np.mean(silence**others))

    def specificity(silence: float) -> float:
        return float(np.mean(silence**lengths))

    quiet = float(np.mean(silence.centre**others))
    slope = float(np.mean(lengths * silence.centre**others))
    return (
        ErrorRate(
            sensitivity(recall.estimate, silence.estimate),
            sensitivity(recall.centre, silence.centre),
            quiet**2 * recall.variance,
        ),
        ErrorRate(
            specificity(silence.estimate),
            specificity(silence.centre),
            slope**2 * silence.variance,
        ),
    )


def _plain(column: str) -> pl.Expr:
    return pl.col(column).str.replace_all(r"\s+", " ").str.strip_chars()
