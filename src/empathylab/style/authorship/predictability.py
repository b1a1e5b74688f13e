"""Whether the author can be identified from the text, and by what."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from empathylab.errors import InputError
from empathylab.stats.intervals import wilson
from empathylab.style.authorship import ablations
from empathylab.style.authorship.classifier import (
    LONGEST,
    Counts,
    Numbers,
    coefficients,
    ngram_counts,
    out_of_fold,
    out_of_fold_dense,
    require_sklearn,
    situation_folds,
    weighted,
)
from empathylab.style.authorship.refitting import refitting_factor
from empathylab.style.responses import (
    RESPONDENT,
    SITUATION,
    TEXT,
    Responses,
    require_several,
    usable_responses,
)
from empathylab.style.shares import effective_size
from empathylab.style.text.sentences import sentence_lists
from empathylab.style.text.tokens import word_lists

Array = NDArray[np.float64]

_DRAWS = 1_000
_MOST_CHARACTERS = 3_000_000
_CELLS_AT_ONCE = 4_000_000
_CANDIDATES = 20


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
    """Responses by who wrote them (rows) and who was told (columns)."""
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
class Giveaway:
    """An n-gram that identifies a respondent."""

    respondent: str
    kind: str
    """`characters` or `words`."""
    term: str
    """As in the text, a space written as ␣ among characters."""
    weight: float
    """Its coefficient, over the mean of all respondents."""
    contribution: float
    """Weight times how much more of it the respondent has: what it does for telling them."""
    share: float
    """Of the respondent's responses, those that hold it."""
    against_share: float


@dataclass(frozen=True, slots=True)
class Predictability:
    """Whether the author can be identified from the text, and by which n-grams."""

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
    most: int = 10_000,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
    confidence: float = 0.95,
    seed: int = 0,
) -> Predictability:
    """How often a classifier names the writer of a response to a situation it has not seen.

    Cross-validated with all responses to a situation in one fold, so that what a situation is
    about cannot help. Accuracy near `chance` says that respondents write alike, near 1 that they
    have styles of their own; how much better or worse anybody writes it does not say. Intervals
    hold for the classifiers as trained and leave out that other training texts would give others.
    Above `most` responses, or three million characters, situations are drawn at random. Needs the
    extra `style`.
    """
    require_sklearn()
    responses = usable_responses(frame, respondent=respondent, situation=situation, text=text)
    require_several(responses, "telling writers apart")
    known, left_out = _often_enough(responses, folds)
    drawn = _drawn(known, most, folds, seed)
    names = [str(name) for name in drawn[RESPONDENT].unique(maintain_order=True)]
    counts = ngram_counts(drawn[TEXT])
    judge = _Judge(names, folds, confidence, seed)
    if counts.blocks:
        places = (_places(drawn[SITUATION]), judge.writers(drawn), judge.fold(drawn))
        judge = replace(judge, factor=refitting_factor(counts, *places, seed=seed))
    full = judge.classify("full", drawn, counts)
    return Predictability(
        respondents=tuple(names),
        full=full,
        ablations=tuple(_ablated(judge, drawn, full)) if with_ablations else (),
        giveaways=tuple(_giveaways(judge, drawn, counts, top)),
        uniform_chance=1 / len(names),
        folds=folds,
        grouped_by=SITUATION,
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
            f"telling writers apart needs two respondents with {folds} situations or more each",
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


@dataclass(frozen=True, slots=True)
class _Judge:
    names: list[str]
    folds: int
    confidence: float
    seed: int
    factor: float = 1.0
    """By which the standard error of the accuracy exceeds that of unchanged classifiers."""

    def writers(self, responses: pl.DataFrame) -> Numbers:
        return responses[RESPONDENT].cast(pl.Enum(self.names)).to_physical().to_numpy().astype(int)

    def fold(self, responses: pl.DataFrame) -> Numbers:
        return situation_folds(responses[SITUATION].to_list(), self.folds, seed=self.seed)

    def classify(
        self, name: str, responses: pl.DataFrame, features: Counts | Array, note: str = ""
    ) -> Classification:
        writers, fold = self.writers(responses), self.fold(responses)
        if isinstance(features, Counts):
            told = out_of_fold(features, writers, fold)
        else:
            told = out_of_fold_dense(features, writers, fold)
        return self._scored(name, responses[SITUATION], writers, told, note)

    def _scored(
        self, name: str, situations: pl.Series, writers: Numbers, told: Numbers, note: str
    ) -> Classification:
        kinds = len(self.names)
        place = _places(situations)
        tables = np.zeros((int(place.max()) + 1, kinds, kinds))
        np.add.at(tables, (place, writers, told), 1)
        confusion = tables.sum(axis=0)
        hits, sizes = np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))
        accuracy = float(hits.sum() / sizes.sum())
        size = effective_size(hits, sizes) / self.factor**2
        low, high = map(float, wilson(accuracy, size, confidence=self.confidence))
        f1_low, f1_high = _bootstrap(tables, self.confidence, self.seed)
        return Classification(
            name=name,
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
            p=permutation_p(place, writers, told, factor=self.factor, seed=self.seed),
            note=note,
        )


def _places(situations: pl.Series) -> Numbers:
    return np.unique(situations.to_numpy(), return_inverse=True)[1]


def permutation_p(
    situations: Numbers, writers: Numbers, told: Numbers, *, factor: float = 1.0, seed: int
) -> float:
    """How likely chance names as many writers right, if all write alike.

    The classifier knows nothing of the situations that it is tried on, so respondents who write
    alike could be exchanged within a situation. What exchanging changes is multiplied by `factor`,
    for classifiers that would be trained on the exchanged texts. NaN where it changes nothing.

    Ojala, M., & Garriga, G. C. (2010). Journal of Machine Learning Research 11, 1833–1863.
    """
    order = np.argsort(situations, kind="stable")
    place, writer, named = situations[order], writers[order], told[order]
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


def _ablated(judge: _Judge, drawn: pl.DataFrame, full: Classification) -> list[Classification]:
    found = []
    for name, change in ablations.EVERY_CHANGE.items():
        changed = drawn.with_columns(change(drawn[TEXT]))
        found.append(_from_texts(judge, f"without {name}", changed, drawn, full))
    cut = ablations.without_length(drawn)
    bare = cut
    for change in ablations.EVERY_CHANGE.values():
        bare = bare.with_columns(change(bare[TEXT]))
    lone = drawn.height - cut.height
    note = f"{lone} responses to situations that only one answered left out" if lone else ""
    for name, texts in (("without length", cut), ("words alone", bare)):
        if cut[RESPONDENT].n_unique() == len(judge.names):
            found.append(judge.classify(name, texts, ngram_counts(texts[TEXT]), note))
    marks = ngram_counts(ablations.punctuation_only(drawn[TEXT]), characters=(1, 3))
    found.append(judge.classify("length alone", drawn, _lengths(drawn[TEXT])))
    if marks.blocks:
        found.append(judge.classify("punctuation alone", drawn, marks))
    return found


def _from_texts(
    judge: _Judge, name: str, changed: pl.DataFrame, before: pl.DataFrame, full: Classification
) -> Classification:
    if changed[TEXT].equals(before[TEXT]):
        return replace(full, name=name, note="no text had any")
    counts = ngram_counts(changed[TEXT])
    if not counts.blocks:
        lengths = np.zeros((changed.height, 1))
        return judge.classify(name, changed, lengths, "nothing is left of the texts")
    return judge.classify(name, changed, counts)


def _lengths(texts: pl.Series) -> Array:
    words = word_lists(texts).list.len().to_numpy().astype(float)
    sentences = sentence_lists(texts).list.len().to_numpy().astype(float)
    characters = texts.str.len_chars().to_numpy().astype(float)
    per_sentence = words / np.maximum(sentences, 1)
    lengths: Array = np.log1p(np.column_stack([words, sentences, characters, per_sentence]))
    return lengths


def _giveaways(judge: _Judge, drawn: pl.DataFrame, counts: Counts, top: int) -> list[Giveaway]:
    writers = judge.writers(drawn)
    features = weighted(counts, np.ones(drawn.height, dtype=bool))
    weights = coefficients(features, writers)
    present = features.copy()
    present.data = (present.data > 0).astype(np.float32)
    starts = np.cumsum([0, *(block.shape[1] for block in counts.blocks)])
    found = []
    for number, name in enumerate(judge.names):
        mine = writers == number
        more = _column_mean(features[mine]) - _column_mean(features[~mine])
        share, against = _column_mean(present[mine]), _column_mean(present[~mine])
        gain = np.where(more > 0, weights[number] * more, 0.0)
        for block, kind in enumerate(counts.kinds):
            inside = gain[starts[block] : starts[block + 1]]
            for place in _best(inside, counts.names[block], kind, top):
                at = starts[block] + place
                term = str(counts.names[block][place])
                found.append(
                    Giveaway(
                        respondent=name,
                        kind=kind,
                        term=term.replace(" ", "␣") if kind == "characters" else term,
                        weight=float(weights[number, at]),
                        contribution=float(inside[place]),
                        share=float(share[at]),
                        against_share=float(against[at]),
                    )
                )
    return found


def _best(gain: Array, names: NDArray[np.object_], kind: str, top: int) -> list[int]:
    """The n-grams that gain most; of those that hold one another, only the first."""
    chosen: list[int] = []
    edge = " " if kind == "words" else ""
    listed: list[str] = []
    for place in np.argsort(-gain, kind="stable")[: _CANDIDATES * top]:
        name = f"{edge}{names[place]}{edge}"
        if gain[place] > 0 and not any(name in other or other in name for other in listed):
            listed.append(name)
            chosen.append(int(place))
    return chosen[:top]


def _column_mean(matrix: Any) -> Array:
    mean: Array = np.asarray(matrix.sum(axis=0, dtype=np.float64)).ravel() / matrix.shape[0]
    return mean
