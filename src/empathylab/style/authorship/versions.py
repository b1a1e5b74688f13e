"""The responses as written, and with something taken away; each classified by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.stats.arrays import Numbers
from empathylab.style.authorship import ablations
from empathylab.style.authorship.classifier import (
    ngram_counts,
    out_of_fold,
    out_of_fold_dense,
    situation_folds,
    weighted,
)
from empathylab.style.authorship.giveaways import Giveaway, find_giveaways
from empathylab.style.authorship.logistic import Logistic
from empathylab.style.authorship.refitting import refitting_factor
from empathylab.style.responses import RESPONDENT, SITUATION, TEXT
from empathylab.style.text.sentences import sentence_lists
from empathylab.style.text.tokens import word_lists

UNCHANGED = "no text had any"
FULL, CUT, LENGTHS, MARKS = "full", "without length", "length alone", "punctuation alone"


@dataclass(frozen=True, slots=True)
class Version:
    """Responses to be classified: all that a process needs for it."""

    name: str
    texts: pl.Series
    places: Numbers
    """The number of each response's situation."""
    writers: Numbers
    """The number of each response's respondent in `names`."""
    fold: Numbers
    names: tuple[str, ...]
    top: int
    seed: int
    note: str = ""


class Outcome(NamedTuple):
    """Whom a classifier named for each response of a version."""

    predicted: Numbers | None
    """None where there was nothing to go by."""
    note: str = ""
    factor: float = 1.0
    """Of the full texts: `refitting_factor`."""
    giveaways: tuple[Giveaway, ...] = ()
    """Of the full texts."""


def versions(
    drawn: pl.DataFrame,
    names: Sequence[str],
    *,
    folds: int,
    seed: int,
    top: int,
    with_ablations: bool = True,
) -> list[Version]:
    """The full texts, then without parts of them, then their length and punctuation alone."""

    def version(name: str, responses: pl.DataFrame, note: str = "") -> Version:
        writers = responses[RESPONDENT].cast(pl.Enum(names)).to_physical()
        return Version(
            name=name,
            texts=responses[TEXT],
            places=np.unique(responses[SITUATION].to_numpy(), return_inverse=True)[1],
            writers=writers.to_numpy().astype(int),
            fold=situation_folds(responses[SITUATION].to_list(), folds, seed=seed),
            names=tuple(names),
            top=top,
            seed=seed,
            note=note,
        )

    made = [version(FULL, drawn)]
    if not with_ablations:
        return made
    for name, change in ablations.EVERY_CHANGE.items():
        changed = drawn.with_columns(change(drawn[TEXT]))
        note = UNCHANGED if changed[TEXT].equals(drawn[TEXT]) else ""
        made.append(version(f"without {name}", changed, note))
    cut = ablations.without_length(drawn)
    if cut[RESPONDENT].n_unique() == len(names):
        bare = cut
        for change in ablations.EVERY_CHANGE.values():
            bare = bare.with_columns(change(bare[TEXT]))
        lone = drawn.height - cut.height
        note = (
            f"left out: {lone} responses to situations that only one respondent answered"
            if lone
            else ""
        )
        made += [version(CUT, cut, note), version("words alone", bare, note)]
    marks = drawn.with_columns(ablations.punctuation_only(drawn[TEXT]))
    return [*made, version(LENGTHS, drawn), version(MARKS, marks)]


def together(every: Sequence[Version]) -> list[tuple[Version, ...]]:
    """The versions in their order, in groups to be classified one after another.

    Within a group, all have the same rows and folds. The full texts are by themselves, as their
    result must not depend on what else is asked.
    """
    groups: list[list[Version]] = []
    for version in every:
        if len(groups) < 2 or version.name in {CUT, LENGTHS}:
            groups.append([])
        groups[-1].append(version)
    return [tuple(group) for group in groups]


def classified(group: Sequence[Version]) -> list[Outcome]:
    """Whom classifiers name as the authors of the responses, for each version of a group."""
    outcomes: list[Outcome] = []
    starts: dict[int, Logistic] = {}
    for version in group:
        outcome, starts = _classified(version, starts)
        outcomes.append(outcome)
    return outcomes


def _classified(
    version: Version, starts: dict[int, Logistic]
) -> tuple[Outcome, dict[int, Logistic]]:
    """The outcome, and where the next version can start."""
    if version.note == UNCHANGED:
        return Outcome(None, UNCHANGED), starts
    if version.name == LENGTHS:
        lengths = _lengths(version.texts)
        return Outcome(out_of_fold_dense(lengths, version.writers, version.fold)), starts
    sizes = (1, 3) if version.name == MARKS else (2, 4)
    counts = ngram_counts(version.texts, characters=sizes)
    if not counts.blocks and version.name == MARKS:
        return Outcome(None), starts
    if not counts.blocks:
        nothing = np.zeros((len(version.texts), 1))
        predicted = out_of_fold_dense(nothing, version.writers, version.fold)
        return Outcome(predicted, "nothing is left of the texts"), starts
    predicted, fitted = out_of_fold(counts, version.writers, version.fold, starts)
    if version.name != FULL:
        return Outcome(predicted), fitted
    rows = version.places, version.writers, version.fold
    features = weighted(counts, np.ones(len(predicted), dtype=bool))
    factor = refitting_factor(features, *rows, seed=version.seed)
    giveaways = find_giveaways(counts, features, version.writers, version.names, version.top)
    return Outcome(predicted, factor=factor, giveaways=giveaways), fitted


def _lengths(texts: pl.Series) -> NDArray[np.float64]:
    words = word_lists(texts).list.len().to_numpy().astype(float)
    sentences = sentence_lists(texts).list.len().to_numpy().astype(float)
    characters = texts.str.len_chars().to_numpy().astype(float)
    per_sentence = words / np.maximum(sentences, 1)
    lengths: NDArray[np.float64] = np.log1p(
        np.column_stack([words, sentences, characters, per_sentence])
    )
    return lengths
