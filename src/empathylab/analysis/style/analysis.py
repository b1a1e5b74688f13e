"""Everything there is to say about how respondents write, from a frame or from a lab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from empathylab.analysis.text.apa import counted
from empathylab.errors import InputError, MissingExtra
from empathylab.style import (
    Diversity,
    Lexicon,
    Profile,
    diversity,
    emoji_counts,
    features,
    profiles,
    sentiment_missing,
)
from empathylab.style.authorship.predictability import Predictability, predictability
from empathylab.style.differences import FeatureDifference, feature_differences
from empathylab.style.distinctive import DistinctiveTerms, distinctive_terms
from empathylab.style.openings import Recurrences, recurrences
from empathylab.style.rating_relations import RatingRelation, rating_relations
from empathylab.style.repetition import Repetition, repetition
from empathylab.style.responses import (
    RESPONDENT,
    SITUATION,
    TEXT,
    require_columns,
    require_respondent,
    usable_responses,
)
from empathylab.style.self_similarity import SelfSimilarity, self_similarity
from empathylab.style.tactics.tagging import (
    TacticUse,
    Tagger,
    Templates,
    tactic_places,
    tactic_table,
    tactic_templates,
    tactic_transitions,
    tactic_uses,
)

_ROLES = (RESPONDENT, SITUATION, "sample")
_TERMS = 60
RULES = "rules"
"""Who tags tactics unless a model does."""


@dataclass(frozen=True, slots=True)
class Tactics:
    """Which tactics of empathic language respondents use, where, and in which order."""

    tagger: str
    """`rules`, or the model that named them."""
    uses: tuple[TacticUse, ...]
    places: pl.DataFrame
    transitions: pl.DataFrame
    templates: tuple[Templates, ...]


@dataclass(frozen=True, slots=True)
class Reuse:
    """How much each respondent repeats itself, one result for each."""

    repetition: tuple[Repetition, ...]
    similarity: tuple[SelfSimilarity, ...]
    openings: tuple[Recurrences, ...]
    closings: tuple[Recurrences, ...]


@dataclass(frozen=True, slots=True)
class RatedStyle:
    """How features go with the ratings of one dimension of one study."""

    study: str
    dimension: str
    relations: tuple[RatingRelation, ...]


@dataclass(frozen=True, slots=True)
class StyleAnalysis:
    """How respondents write, and how they differ."""

    respondents: tuple[str, ...]
    """In the order of their first response; every part keeps it."""
    situations: int
    responses: pl.DataFrame
    """Those used: respondent, situation, text, and sample where it was given."""
    features: pl.DataFrame
    """One row per response."""
    profiles: tuple[Profile, ...]
    diversity: tuple[Diversity, ...]
    emoji: pl.DataFrame
    """Columns respondent, emoji, count, responses and per_response."""
    distinctive: tuple[DistinctiveTerms, ...]
    """Empty with one respondent."""
    differences: tuple[FeatureDifference, ...]
    predictability: Predictability | None
    tactics: Tactics
    reuse: Reuse
    rated: tuple[RatedStyle, ...]
    against: str | None
    """With whom the others are compared; None: each two, and each with all others together."""
    dictionaries: tuple[Lexicon, ...]
    seed: int
    dropped: int
    """Responses without a text, a respondent or a situation."""
    notes: tuple[str, ...]
    """What was left out or cannot be said, one sentence each."""


@dataclass(frozen=True, slots=True)
class Depth:
    """How much work an analysis may take."""

    predict: bool = True
    ablations: bool = True
    """Also from part of the text, which takes eight times as long."""
    most_predicted: int = 10_000
    """Responses that the writers are told from; situations are drawn above it."""
    permutations: int = 4_999


def analyse_style(
    frame: pl.DataFrame,
    *,
    ratings: pl.DataFrame | None = None,
    dictionaries: Sequence[Lexicon] = (),
    lists: Path | None = None,
    against: str | None = None,
    folds: int = 5,
    seed: int = 1,
    depth: Depth | None = None,
    tagger: Tagger | None = None,
    tagger_name: str = RULES,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
) -> StyleAnalysis:
    """How the respondents of a frame write: a row per response, with respondent, situation, text.

    `ratings` has the columns respondent, situation and rating (a number, the best highest), maybe
    also sample, rater, study and dimension. What cannot be said (one respondent, a package that is
    not installed) is left out, with a sentence in `notes`. `lists` are word lists that take the
    place of ours of the same name.
    """
    depth = depth or Depth()
    taken, dropped = _responses(frame, respondent, situation, text)
    names = [str(name) for name in taken[RESPONDENT].unique(maintain_order=True)]
    if against is not None:
        require_respondent(against, names)
    notes = _opening_notes(dropped, names, dictionaries)
    table = features(taken, lexicons=dictionaries, lists=lists)
    sentiment = sentiment_missing()
    notes += [sentiment] if sentiment else []
    columns = _varying(table)
    told = None
    if len(names) > 1 and depth.predict:
        told = _predictability(taken, folds, seed, depth, notes)
    by_name = {one.respondent: one for one in profiles(table)}
    return StyleAnalysis(
        respondents=tuple(names),
        situations=taken[SITUATION].n_unique(),
        responses=taken,
        features=table,
        profiles=tuple(by_name[name] for name in names),
        diversity=tuple(sorted(diversity(taken), key=lambda one: names.index(one.respondent))),
        emoji=emoji_counts(taken),
        distinctive=_distinctive(taken, names, against, notes),
        differences=tuple(
            feature_differences(
                table,
                columns=columns,
                against=against,
                permutations=depth.permutations,
                seed=seed,
            )
        ),
        predictability=told,
        tactics=_tactics(taken, tagger, tagger_name),
        reuse=_reuse(taken, seed),
        rated=_rated(table, columns, ratings, notes),
        against=against,
        dictionaries=tuple(dictionaries),
        seed=seed,
        dropped=dropped,
        notes=tuple(notes),
    )


def _responses(
    frame: pl.DataFrame, respondent: str, situation: str, text: str
) -> tuple[pl.DataFrame, int]:
    """The responses that hold a text, each respondent's together, and how many do not."""
    require_columns(frame, [respondent, situation, text], "responses")
    roles = {RESPONDENT: respondent, SITUATION: situation, TEXT: text}
    if "sample" in frame.columns:
        roles["sample"] = "sample"
    plain = frame.select(pl.col(column).alias(role) for role, column in roles.items())
    usable = usable_responses(plain)
    taken = usable.frame
    if "sample" in roles:
        taken = taken.with_columns(plain["sample"].gather(taken["response"]))
    if not taken.height:
        raise InputError(
            "there is no response with a text in it",
            where="responses",
            got=counted(frame.height, "row"),
            remedy="Give rows with a respondent, a situation and a text each.",
        )
    ranks = {name: place for place, name in enumerate(usable.respondents)}
    order = pl.col(RESPONDENT).replace_strict(ranks, return_dtype=pl.Int64)
    return taken.drop("response").sort(order, maintain_order=True), usable.dropped


def _opening_notes(dropped: int, names: list[str], dictionaries: Sequence[Lexicon]) -> list[str]:
    notes = [sentence for lexicon in dictionaries for sentence in lexicon.notes]
    if dropped:
        what = counted(dropped, "response")
        notes.append(f"{what} without a text, a respondent or a situation left out.")
    if len(names) < 2:
        notes.append(
            f"Only {names[0]} responded, so there is nobody to compare with: "
            "no differences, no distinctive words, and no telling of writers."
        )
    return notes


def _varying(table: pl.DataFrame) -> list[str]:
    """The features that are not the same in all responses: the others can tell nothing."""
    return [
        name
        for name in table.columns
        if name not in _ROLES and table[name].drop_nulls().n_unique() > 1
    ]


def _distinctive(
    taken: pl.DataFrame, names: list[str], against: str | None, notes: list[str]
) -> tuple[DistinctiveTerms, ...]:
    """Each respondent against the rest or `against`; that one itself against all others."""
    if len(names) < 2:
        return ()
    found = {one.respondent: one for one in distinctive_terms(taken, against=against, top=_TERMS)}
    if against is not None:
        rest = distinctive_terms(taken, top=_TERMS)
        found |= {one.respondent: one for one in rest if one.respondent == against}
    alone = [name for name, one in found.items() if not one.responses]
    if alone:
        free = {one.respondent: one for one in distinctive_terms(taken, paired=False, top=_TERMS)}
        found |= {name: free[name] for name in alone}
        notes.append(
            f"{', '.join(alone)}: nobody else responded to the same situations, so distinctive "
            "words may tell of the situations rather than of the writer."
        )
    return tuple(found[name] for name in names)


def _predictability(
    taken: pl.DataFrame, folds: int, seed: int, depth: Depth, notes: list[str]
) -> Predictability | None:
    try:
        told = predictability(
            taken,
            folds=folds,
            with_ablations=depth.ablations,
            most=depth.most_predicted,
            seed=seed,
        )
    except MissingExtra as error:
        notes.append(str(error))
        return None
    except InputError as error:
        if folds < 2:
            raise
        notes.append(f"Writers were not told apart: {error}")
        return None
    if told.left_out:
        notes.append(
            f"Left out of telling writers, with fewer than {folds} situations each: "
            f"{', '.join(told.left_out)}."
        )
    if told.not_drawn:
        notes.append(
            f"Writers were told from {counted(told.full.responses, 'response')}, drawn by "
            f"situation; {counted(told.not_drawn, 'response')} more were not drawn."
        )
    return told


def _tactics(taken: pl.DataFrame, tagger: Tagger | None, name: str) -> Tactics:
    table = tactic_table(taken, tagger=tagger)
    return Tactics(
        tagger=name,
        uses=tuple(tactic_uses(table)),
        places=tactic_places(table),
        transitions=tactic_transitions(table),
        templates=tuple(tactic_templates(table)),
    )


def _reuse(taken: pl.DataFrame, seed: int) -> Reuse:
    return Reuse(
        repetition=tuple(repetition(taken, seed=seed)),
        similarity=tuple(self_similarity(taken)),
        openings=tuple(recurrences(taken, where="opening")),
        closings=tuple(recurrences(taken, where="closing")),
    )


def _rated(
    table: pl.DataFrame, columns: list[str], ratings: pl.DataFrame | None, notes: list[str]
) -> tuple[RatedStyle, ...]:
    if ratings is None or not ratings.height:
        return ()
    named = ratings.with_columns(
        pl.lit("").alias(name) for name in ("study", "dimension") if name not in ratings.columns
    )
    found = []
    for (study, dimension), group in named.group_by("study", "dimension", maintain_order=True):
        relations = tuple(rating_relations(table, group, columns=columns))
        if all(one.n == 0 for one in relations):
            notes.append(f"No rating of {study or 'the file'} belongs to one of the responses.")
            continue
        found.append(RatedStyle(str(study), str(dimension), relations))
    return tuple(found)
