"""The estimates of how respondents write, from a table of responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from empathylab.analysis.style.texts import Reuse
from empathylab.analysis.text.apa import counted
from empathylab.analysis.text.names import listed_some
from empathylab.errors import InputError
from empathylab.style import (
    Diversity,
    Lexicon,
    Profile,
)
from empathylab.style.authorship.predictability import (
    MOST_RESPONSES,
    Identification,
    Predictability,
    identification,
)
from empathylab.style.differences import FeatureDifference
from empathylab.style.distinctive import DistinctiveTerms
from empathylab.style.rating_relations import ENOUGH_CLUSTERS, RatingRelation, rating_relations
from empathylab.style.responses import (
    RESPONDENT,
    SITUATION,
    TEXT,
    require_columns,
    usable_responses,
)
from empathylab.style.tactics.accuracy import PRECISION, RECALL, TacticAccuracy, built_in_accuracy
from empathylab.style.tactics.correction import CorrectedUse, corrected_uses, label_accuracy
from empathylab.style.tactics.tagging import (
    TacticUse,
    Templates,
    not_english,
    tactic_places,
    tactic_templates,
    tactic_transitions,
    tactic_uses,
)

_ROLES = (RESPONDENT, SITUATION, "sample")
RULES = "rules"
"""The name of the tagger that ships."""


@dataclass(frozen=True, slots=True)
class Tactics:
    """Which tactics of empathic language respondents use, where, and in which sequence."""

    tagger: str
    """`rules` (the built-in rules with their classifier), a file of rules, or a model."""
    uses: tuple[TacticUse, ...]
    """As tagged."""
    corrected: tuple[CorrectedUse, ...]
    """The same, corrected for tagging errors."""
    accuracy: tuple[TacticAccuracy, ...]
    """Of the built-in tagger on its test set, by kind of writer; empty for other taggers."""
    labelled: tuple[TacticAccuracy, ...]
    """On the user's labelled responses, by respondent."""
    not_english: Mapping[str, int]
    """Responses by respondent that the built-in tagger cannot read; they are left out."""
    places: pl.DataFrame
    transitions: pl.DataFrame
    templates: tuple[Templates, ...]


@dataclass(frozen=True, slots=True)
class RatedStyle:
    """How features are associated with the ratings of one dimension of one study."""

    study: str
    dimension: str
    relations: tuple[RatingRelation, ...]


@dataclass(frozen=True, slots=True)
class StyleEstimates:
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
    """With whom the others are compared; None: all pairs, and each with all others together."""
    dictionaries: tuple[Lexicon, ...]
    seed: int
    dropped: int
    """Responses without a text, a respondent or a situation."""
    notes: tuple[str, ...]
    """What was excluded or cannot be estimated, one sentence each."""


@dataclass(frozen=True, slots=True)
class Depth:
    """How much work an analysis may take."""

    predict: bool = True
    ablations: bool = True
    """Also from part of the text, which takes eight times as long."""
    most_predicted: int = MOST_RESPONSES
    """Responses used to identify authors; of more, situations are drawn."""
    permutations: int = 4_999


def read_responses(
    frame: pl.DataFrame, respondent: str, situation: str, text: str
) -> tuple[pl.DataFrame, int]:
    """The responses that hold a text, each respondent's together, and how many do not."""
    require_columns(frame, [respondent, situation, text], "responses")
    roles = {RESPONDENT: respondent, SITUATION: situation, TEXT: text}
    if "sample" in frame.columns:
        roles["sample"] = "sample"
    plain = frame.select(pl.col(column).alias(role) for role, column in roles.items())
    usable = usable_responses(plain)
    used = usable.frame
    if "sample" in roles:
        used = used.with_columns(plain["sample"].gather(used["response"]))
    if not used.height:
        raise InputError(
            "no response has any text",
            where="responses",
            got=counted(frame.height, "row"),
            remedy="Give rows with a respondent, a situation and a text each.",
        )
    ranks = {name: place for place, name in enumerate(usable.respondents)}
    order = pl.col(RESPONDENT).replace_strict(ranks, return_dtype=pl.Int64)
    return used.drop("response").sort(order, maintain_order=True), usable.dropped


def opening_notes(dropped: int, names: list[str], dictionaries: Sequence[Lexicon]) -> list[str]:
    notes = [sentence for lexicon in dictionaries for sentence in lexicon.notes]
    if dropped:
        what = counted(dropped, "response")
        notes.append(f"{what} without a text, a respondent or a situation were dropped.")
    if len(names) < 2:
        notes.append(
            f"Only {names[0]} responded, so there is no comparison: no differences, no "
            "distinctive words and no identification of authors."
        )
    return notes


def varying_features(table: pl.DataFrame) -> list[str]:
    """The features that are not the same in all responses: the others are uninformative."""
    return [
        name
        for name in table.columns
        if name not in _ROLES and table[name].drop_nulls().n_unique() > 1
    ]


def authorship_plan(
    used: pl.DataFrame, folds: int, seed: int, depth: Depth, notes: list[str]
) -> Identification | None:
    try:
        identified = identification(
            used,
            folds=folds,
            with_ablations=depth.ablations,
            most=depth.most_predicted,
            seed=seed,
        )
    except InputError as error:
        if folds < 2:
            raise
        notes.append(f"Authors were not identified: {error}")
        return None
    if identified.left_out:
        notes.append(
            f"Excluded from the identification of authors, with fewer than {folds} situations "
            f"each: {', '.join(identified.left_out)}."
        )
    if identified.not_drawn:
        drawn = counted(len(identified.versions[0].texts), "response")
        notes.append(
            f"Authors were identified on {drawn}, drawn by situation; "
            f"{counted(identified.not_drawn, 'response')} more were not used."
        )
    return identified


def estimate_tactics(
    table: pl.DataFrame,
    used: pl.DataFrame,
    name: str,
    labels: pl.DataFrame | None,
    *,
    built_in: bool,
) -> Tactics:
    uses = tactic_uses(table)
    names = list(dict.fromkeys(use.tactic for use in uses))
    labelled = [] if labels is None else label_accuracy(table, used, labels, names)
    return Tactics(
        tagger=name,
        uses=tuple(uses),
        corrected=tuple(corrected_uses(table, uses, labelled=labelled, built_in=built_in)),
        accuracy=built_in_accuracy() if built_in else (),
        labelled=tuple(labelled),
        not_english=not_english(table),
        places=tactic_places(table),
        transitions=tactic_transitions(table),
        templates=tuple(tactic_templates(table)),
    )


def tactic_notes(tactics: Tactics) -> list[str]:
    notes = []
    if tactics.not_english:
        count = counted(sum(tactics.not_english.values()), "response")
        who = listed_some(list(tactics.not_english))
        notes.append(
            f"Tactics are tagged in English only. Left out: {count} in other languages ({who})."
        )
    doubtful = dict.fromkeys(use.tactic for use in tactics.corrected if not use.comparable)
    if doubtful:
        notes.append(
            f"Tagged too unreliably to compare respondents: {', '.join(doubtful)} (precision "
            f"below {PRECISION:.0%} or recall below {RECALL:.0%}, or not known)."
        )
    return notes


def rating_associations(
    table: pl.DataFrame, columns: list[str], ratings: pl.DataFrame | None, notes: list[str]
) -> tuple[RatedStyle, ...]:
    if ratings is None or not ratings.height:
        return ()
    named = ratings.with_columns(
        pl.lit("").alias(name) for name in ("study", "dimension") if name not in ratings.columns
    )
    associations = []
    for (study, dimension), group in named.group_by("study", "dimension", maintain_order=True):
        relations = tuple(rating_relations(table, group, columns=columns))
        if all(relation.n == 0 for relation in relations):
            whose = study or "the file"
            sentence = f"No rating of {whose} belongs to a response whose style was measured."
            notes += [sentence] if sentence not in notes else []
            continue
        known = [relation for relation in relations if relation.sd > 0]
        rare = [relation for relation in known if relation.too_rare]
        if rare:
            sentence = (
                f"{len(rare)} of {len(known)} features were not tested against the ratings of "
                f"{study or 'the file'}: they vary in too few situations or raters (the "
                f"equivalent of fewer than {ENOUGH_CLUSTERS})."
            )
            notes += [sentence] if sentence not in notes else []
        associations.append(RatedStyle(str(study), str(dimension), relations))
    return tuple(associations)
