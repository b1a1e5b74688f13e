"""Whether the author can be identified from the text, and by what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from empathylab.compute import map_ordered
from empathylab.errors import InputError
from empathylab.stats.arrays import Array, Numbers
from empathylab.stats.intervals import wilson
from empathylab.style.authorship.classifier import LONGEST
from empathylab.style.authorship.giveaways import Giveaway
from empathylab.style.authorship.versions import (
    UNCHANGED,
    Outcome,
    Version,
    classified,
    together,
    versions,
)
from empathylab.style.responses import (
    RESPONDENT,
    SITUATION,
    TEXT,
    Responses,
    require_several,
    usable_responses,
)
from empathylab.style.shares import effective_size

MOST_RESPONSES = 4_000
"""Responses that are looked at: more would narrow the interval by less than a percentage point."""
WORTH_WORKERS = 10_000
"""Responses times versions below which one process is done before others have started."""
_DRAWS = 1_000
_MOST_CHARACTERS = 3_000_000
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Classification:
    """How well authors were identified, from all of the text or from part of it."""

    name: str
    accuracy: float
    low: float
    """Wilson's interval at the effective number of responses: situations are clusters, and alike
    texts in different folds count less (`refitting_factor`)."""
    high: float
    macro_f1: float
    """The mean over respondents of the harmonic mean of precision and recall."""
    macro_f1_low: float
    """From 1,000 bootstrap samples of situations."""
    macro_f1_high: float
    chance: float
    """The share of the respondent with the most responses."""
    confusion: tuple[tuple[int, ...], ...]
    """Responses by who wrote them (rows) and whom the classifier names (columns)."""
    responses: int
    situations: int
    p: float
    """Of so many right identifications where texts are exchanged within situations; NaN where no
    situation has two respondents."""
    note: str = ""

    @property
    def above_chance(self) -> bool:
        """Whether authors were identified: by the permutation test, else by the interval."""
        return self.low > self.chance if math.isnan(self.p) else self.p < 0.05


@dataclass(frozen=True, slots=True)
class Predictability:
    """Whether the author can be identified from the text, and by what."""

    respondents: tuple[str, ...]
    """In the order of the confusion matrix."""
    full: Classification
    ablations: tuple[Classification, ...]
    """The same with something taken away, or from length or punctuation alone."""
    giveaways: tuple[Giveaway, ...]
    uniform_chance: float
    folds: int
    grouped_by: str
    dropped: int
    """Blank responses, and those of respondents with fewer situations than folds."""
    left_out: tuple[str, ...]
    """Those respondents."""
    not_drawn: int
    """Responses beyond the number that was to be looked at."""


def predictability(
    frame: pl.DataFrame,
    *,
    folds: int = 5,
    with_ablations: bool = True,
    top: int = 15,
    most: int = MOST_RESPONSES,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
    confidence: float = 0.95,
    seed: int = 0,
) -> Predictability:
    """How often a classifier identifies the author of a response to an unseen situation.

    Cross-validated with all responses to a situation in one fold, so that what a situation is
    about cannot help. Accuracy near `chance` says that respondents write the same way, near 1 that
    they have styles of their own; it does not say who writes better or worse. Intervals hold for
    the classifiers as trained and leave out that other training texts would give others. Above
    `most` responses, or three million characters, situations are drawn at random.
    """
    work = identification(
        frame,
        folds=folds,
        with_ablations=with_ablations,
        top=top,
        most=most,
        respondent=respondent,
        situation=situation,
        text=text,
        confidence=confidence,
        seed=seed,
    )
    worth = len(work.versions[0].texts) * len(work.versions) >= WORTH_WORKERS
    outcomes = map_ordered(classified, together(work.versions), workers=None if worth else 1)
    return work.result([outcome for group in outcomes for outcome in group])


@dataclass(frozen=True, slots=True)
class Identification:
    """The versions of the responses that are to be classified, and what becomes of the answers."""

    versions: tuple[Version, ...]
    """The whole texts first."""
    names: list[str]
    folds: int
    confidence: float
    seed: int
    dropped: int
    left_out: tuple[str, ...]
    not_drawn: int

    def result(self, outcomes: Sequence[Outcome]) -> Predictability:
        """The result, given what `classified` found for each version."""
        factor = outcomes[0].factor
        classifications: list[Classification] = []
        for version, outcome in zip(self.versions, outcomes, strict=True):
            if outcome.predicted is not None:
                classifications.append(
                    self._scored(version, outcome.predicted, outcome.note, factor)
                )
            elif outcome.note == UNCHANGED:
                classifications.append(
                    replace(classifications[0], name=version.name, note=UNCHANGED)
                )
        full, *ablated = classifications
        return Predictability(
            respondents=tuple(self.names),
            full=full,
            ablations=tuple(ablated),
            giveaways=outcomes[0].giveaways,
            uniform_chance=1 / len(self.names),
            folds=self.folds,
            grouped_by=SITUATION,
            dropped=self.dropped,
            left_out=self.left_out,
            not_drawn=self.not_drawn,
        )

    def _scored(
        self, version: Version, predicted: Numbers, note: str, factor: float
    ) -> Classification:
        """How well the authors of a version were identified.

        By `factor` the standard error of the accuracy exceeds that of unchanged classifiers.
        """
        kinds, place, writers = len(self.names), version.places, version.writers
        tables = np.zeros((int(place.max()) + 1, kinds, kinds))
        np.add.at(tables, (place, writers, predicted), 1)
        confusion = tables.sum(axis=0)
        hits, sizes = np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))
        accuracy = float(hits.sum() / sizes.sum())
        size = effective_size(hits, sizes) / factor**2
        low, high = map(float, wilson(accuracy, size, confidence=self.confidence))
        f1_low, f1_high = _bootstrap(tables, self.confidence, self.seed)
        return Classification(
            name=version.name,
            accuracy=accuracy,
            low=low,
            high=high,
            macro_f1=float(macro_f1(confusion)),
            macro_f1_low=f1_low,
            macro_f1_high=f1_high,
            chance=float(confusion.sum(axis=1).max() / confusion.sum()),
            confusion=tuple(tuple(int(cell) for cell in row) for row in confusion),
            responses=len(writers),
            situations=len(tables),
            p=permutation_p(place, writers, predicted, factor=factor, seed=self.seed),
            note=note or version.note,
        )


def identification(
    frame: pl.DataFrame,
    *,
    folds: int = 5,
    with_ablations: bool = True,
    top: int = 15,
    most: int = MOST_RESPONSES,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
    confidence: float = 0.95,
    seed: int = 0,
) -> Identification:
    """What `predictability` has to classify; for those who spread it over processes themselves."""
    responses = usable_responses(frame, respondent=respondent, situation=situation, text=text)
    require_several(responses, "identifying authors")
    known, left_out = _often_enough(responses, folds)
    drawn = _drawn(known, most, folds, seed)
    names = [str(name) for name in drawn[RESPONDENT].unique(maintain_order=True)]
    # In a fixed order: rounding in another one can move a close decision to another author.
    drawn = drawn.sort(SITUATION, RESPONDENT, TEXT)
    chosen = versions(drawn, names, folds=folds, seed=seed, top=top, with_ablations=with_ablations)
    return Identification(
        versions=tuple(chosen),
        names=names,
        folds=folds,
        confidence=confidence,
        seed=seed,
        dropped=frame.height - known.height,
        left_out=tuple(left_out),
        not_drawn=known.height - drawn.height,
    )


def _often_enough(responses: Responses, folds: int) -> tuple[pl.DataFrame, list[str]]:
    if folds < 2:
        raise InputError("'folds' must be at least 2", got=folds, remedy="Leave it out for 5.")
    counted = responses.frame.with_columns(n=pl.col(SITUATION).n_unique().over(RESPONDENT))
    known = counted.filter(pl.col("n") >= folds).drop("n")
    kept = known[RESPONDENT].unique()
    left_out = [name for name in responses.respondents if name not in kept]
    if len(kept) < 2:
        raise InputError(
            f"identifying authors needs two respondents with {folds} situations or more each",
            where="responses",
            got=", ".join(left_out),
            remedy="Add responses, or ask for fewer folds.",
        )
    return known, left_out


def _drawn(known: pl.DataFrame, most: int, folds: int, seed: int) -> pl.DataFrame:
    size = pl.col(TEXT).str.len_chars().clip(upper_bound=LONGEST).sum()
    sizes = known.group_by(SITUATION).agg(pl.len().alias("responses"), size.alias("characters"))
    order = sizes.sort(SITUATION).sample(fraction=1, shuffle=True, seed=seed)
    fits = (pl.col("responses").cum_sum() <= most) & (
        pl.col("characters").cum_sum() <= _MOST_CHARACTERS
    )
    kept = order.filter(fits | (pl.int_range(pl.len()) < folds))[SITUATION]
    return known.filter(pl.col(SITUATION).is_in(kept.implode()))


def permutation_p(
    situations: Numbers, writers: Numbers, predicted: Numbers, *, factor: float = 1.0, seed: int
) -> float:
    """How likely chance names as many writers right, if all write the same way.

    The classifier knows nothing of the situations that it is tried on, so respondents who write
    alike could be exchanged within a situation. What exchanging changes is multiplied by `factor`,
    for classifiers that would be trained on the exchanged texts. NaN where it changes nothing.

    Ojala, M., & Garriga, G. C. (2010). Journal of Machine Learning Research 11, 1833–1863.
    """
    order = np.argsort(situations, kind="stable")
    place, writer, named = situations[order], writers[order], predicted[order]
    same = np.bincount(place, writer) ** 2 == np.bincount(place) * np.bincount(place, writer**2)
    if same.all():
        return float("nan")
    right = int((writer == named).sum())
    rng = np.random.default_rng(seed)
    draws = np.empty(_DRAWS - 1)
    for number in range(_DRAWS - 1):
        # Places are whole numbers, so each situation's texts stay together.
        shuffled = writer[np.argsort(place + rng.random(len(place)))]
        draws[number] = (shuffled == named).sum()
    spread = draws.mean() + factor * (draws - draws.mean())
    # A hair less: what is equal on paper must count as equal.
    return float(1 + (spread >= right - 1e-9).sum()) / _DRAWS


def macro_f1(confusion: Array) -> Array:
    """The mean of the classes' F1, of one confusion matrix or of many; 0 where a class has none."""
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    named = confusion.sum(axis=-2) + confusion.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(named > 0, 2 * right / named, 0.0)
    mean: Array = scores.mean(axis=-1)
    return mean


def _bootstrap(tables: Array, confidence: float, seed: int) -> tuple[float, float]:
    situations, kinds, _ = tables.shape
    rng = np.random.default_rng(seed)
    flat, scores = tables.reshape(situations, -1), []
    at_once = max(1, _CELLS_AT_ONCE // situations)
    for start in range(0, _DRAWS, at_once):
        count = min(at_once, _DRAWS - start)
        weights = rng.multinomial(situations, np.full(situations, 1 / situations), size=count)
        scores.append(macro_f1((weights @ flat).reshape(count, kinds, kinds)))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(scores), [tail, 1 - tail])
    return float(low), float(high)
