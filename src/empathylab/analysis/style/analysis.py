"""The style of a lab's or a table's responses, analysed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from empathylab.analysis.cache import cached
from empathylab.analysis.run_selection import selected_runs
from empathylab.analysis.style.estimates import (
    RULES,
    Depth,
    StyleEstimates,
    authorship_plan,
    estimate_tactics,
    opening_notes,
    rating_associations,
    read_responses,
    tactic_notes,
    varying_features,
)
from empathylab.analysis.style.result import StyleResult
from empathylab.analysis.style.texts import read_texts, tagged_sentences
from empathylab.errors import InputError
from empathylab.store import Lab, responses_frame, runs_frame
from empathylab.store.ratings import lab_studies, ratings_frame
from empathylab.study.admin.embargo import is_running
from empathylab.style import Lexicon, diversity, emoji_counts, profiles, sentiment_missing
from empathylab.style.chunks import read_chunk
from empathylab.style.differences import FeatureDifference, feature_differences
from empathylab.style.responses import (
    RESPONDENT,
    SITUATION,
    TEXT,
    require_respondent,
    usable_responses,
)
from empathylab.style.tactics.tagging import Tagger, tactic_table

_PEOPLE = "human"
_MANY = 1_000
_MOST_DESCRIBED = 10


def from_lab(
    lab: Lab,
    *,
    dictionaries: Sequence[Lexicon] = (),
    lists: Path | None = None,
    against: str | None = None,
    folds: int = 5,
    seed: int = 1,
    depth: Depth | None = None,
    tagger: Tagger | None = None,
    tagger_name: str = RULES,
    tactic_labels: pl.DataFrame | None = None,
    only: Sequence[str] | None = None,
) -> StyleResult:
    """How the lab's respondents write, and how that is associated with ratings.

    If a respondent has several runs over one set, the most recent counts, as in the report.
    Replies that failed a check are excluded. Ratings are those of people, not of judges.
    `only` names the respondents to describe.
    """
    frame = lab_responses(lab)
    if only is not None:
        frame = frame.filter(pl.col("respondent").is_in(list(only)))
    if not frame.height:
        raise InputError(
            "the lab has no usable responses",
            remedy="Run `empathylab respond MODEL`, import some with `empathylab data import`, or "
            "name a file: `empathylab analyze style FILE`.",
        )
    inputs: dict[str, Any] = {
        "ratings": _ratings(lab),
        "dictionaries": dictionaries,
        "lists": lists,
        "against": against,
        "folds": folds,
        "seed": seed,
        "depth": depth,
        "tagger": tagger,
        "tagger_name": tagger_name,
        "tactic_labels": tactic_labels,
    }
    # A tagger is a function and a list a file, whose hash cannot be used: those are not kept.
    return cached(lab, "style", [frame, inputs], lambda: from_table(frame, **inputs))


def from_table(
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
    tactic_labels: pl.DataFrame | None = None,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
) -> StyleResult:
    """How the respondents of a table write: a row per response, with respondent, situation, text.

    `ratings` has the columns respondent, situation and rating (a number, the best highest), maybe
    also sample, rater, study and dimension. What cannot be estimated (one respondent, a package
    that is not installed) is skipped, with a sentence in `notes`. `lists` are word lists that
    replace the built-in ones of the same name. `tactic_labels` are labelled responses, as
    `style.tactic_labels` gives them, by which the tagger's errors are estimated.

    Raises InputError for a respondent without a single letter, digit or symbol in any reply.
    """
    _require_characters(frame, respondent, text)
    depth = depth or Depth()
    used, dropped = read_responses(frame, respondent, situation, text)
    names = [str(name) for name in used[RESPONDENT].unique(maintain_order=True)]
    if against is not None:
        require_respondent(against, names)
    notes = opening_notes(dropped, names, dictionaries)
    sentiment = sentiment_missing()
    notes += [sentiment] if sentiment else []
    authorship = None
    if len(names) > 1 and depth.predict:
        authorship = authorship_plan(used, folds, seed, depth, notes)
    built_in = tagger is None
    read = partial(read_chunk, dictionaries=tuple(dictionaries), lists=lists, tagged=built_in)
    compare = partial(_differences, against=against, permutations=depth.permutations, seed=seed)
    texts = read_texts(used, read, authorship, names, against, seed, compare)
    table = texts.features
    tagged = (
        tagged_sentences(texts.sentences, used) if built_in else tactic_table(used, tagger=tagger)
    )
    texts.sentences.clear()
    tactics = estimate_tactics(tagged, used, tagger_name, tactic_labels, built_in=built_in)
    del tagged  # a row per sentence: what follows needs the memory
    notes += [*tactic_notes(tactics), *texts.notes]
    by_name = {profile.respondent: profile for profile in profiles(table)}
    estimates = StyleEstimates(
        respondents=tuple(names),
        situations=used[SITUATION].n_unique(),
        responses=used,
        features=table,
        profiles=tuple(by_name[name] for name in names),
        diversity=tuple(sorted(diversity(used), key=lambda row: names.index(row.respondent))),
        emoji=emoji_counts(used),
        distinctive=texts.distinctive,
        differences=tuple(texts.differences),
        predictability=None if authorship is None else authorship.result(texts.authorship),
        tactics=tactics,
        reuse=texts.reuse,
        rated=rating_associations(table, varying_features(table), ratings, notes),
        against=against,
        dictionaries=tuple(dictionaries),
        seed=seed,
        dropped=dropped,
        notes=tuple(notes),
    )
    return StyleResult(estimates)


def _differences(
    table: pl.DataFrame, *, against: str | None, permutations: int, seed: int
) -> list[FeatureDifference]:
    return feature_differences(
        table,
        columns=varying_features(table),
        against=against,
        permutations=permutations,
        seed=seed,
    )


def _require_characters(frame: pl.DataFrame, respondent: str, text: str) -> None:
    if not {respondent, text} <= set(frame.columns) or frame[text].dtype != pl.String:
        return  # said where the columns are read
    visible = pl.col(text).str.contains(r"[\p{L}\p{N}\p{P}\p{S}]").fill_null(value=False)
    silent = (
        frame.group_by(respondent, maintain_order=True).agg(visible.any()).filter(~pl.col(text))
    )
    if silent.height:
        raise InputError(
            "a respondent's replies contain no letters, digits or symbols",
            got=str(silent[respondent][0]),
            remedy="Remove these replies, or check how the file was written.",
        )


def report_style(lab: Lab) -> StyleResult | None:
    """The analysis that the report shows, within seconds; None where there is nothing to describe.

    With more than 1,000 responses authors are identified from the whole text only, and from at most
    4,000 responses. Three respondents or more are each compared with people where there are any:
    all pairs would fill pages. Of very many respondents those with most responses are described.
    """
    frame = lab_responses(lab)
    if not usable_responses(frame).frame.height:
        return None
    described = report_respondents(frame)
    result = from_lab(
        lab, against=described.against, depth=report_depth(frame), only=described.names
    )
    if described.of == len(described.names):
        return result
    note = (
        f"Of {described.of} respondents, the {len(described.names)} with most responses are "
        "described; `empathylab analyze style` describes all."
    )
    estimates = dataclasses.replace(result.estimates, notes=(*result.estimates.notes, note))
    return StyleResult(estimates)


@dataclass(frozen=True, slots=True)
class Described:
    """Whom the report describes, out of how many, and whom it compares them with."""

    names: tuple[str, ...]
    of: int
    against: str | None
    """People; None where each is compared with all others."""


def report_respondents(frame: pl.DataFrame) -> Described:
    """Those with most responses, people first; compared with people where there are several."""
    counts = frame["respondent"].value_counts()
    # By name where counts are the same: a report and a package must describe the same ones.
    counts = counts.sort("count", "respondent", descending=[True, False])
    names = counts["respondent"].to_list()
    people = [_PEOPLE] if _PEOPLE in names else []
    shown = people + [name for name in names if name != _PEOPLE]
    against = _PEOPLE if len(names) > 2 and _PEOPLE in names else None
    return Described(tuple(shown[:_MOST_DESCRIBED]), len(names), against)


def report_depth(frame: pl.DataFrame) -> Depth:
    """How deep a report of these responses goes, so that it takes seconds."""
    return Depth(ablations=frame.height <= _MANY, most_predicted=4 * _MANY, permutations=999)


def lab_responses(lab: Lab) -> pl.DataFrame:
    """The lab's usable responses: respondent, situation (with its set), sample, text."""
    frame = responses_frame(lab).filter(outcome="valid")
    runs = selected_runs(runs_frame(lab))["run"].to_list()
    kept = pl.col("run").is_null() | pl.col("run").is_in(runs)
    # People come first, as among the arms of a study, so that colours mean the same everywhere.
    people_first = frame.filter(kept).sort(pl.col("kind") != "human", maintain_order=True)
    return _named_by_set(people_first).select("respondent", "situation", "sample", "text")


def _ratings(lab: Lab) -> pl.DataFrame | None:
    parts = [
        ratings_frame(lab, name).filter(rater_kind="person").with_columns(study=pl.lit(name))
        for name, study in lab_studies(lab).items()
        if not is_running(study)
    ]
    if not parts:
        return None
    every = _named_by_set(pl.concat(parts))
    columns = ["respondent", "situation", "sample", "rater", "study", "dimension", "rating"]
    return every.select(columns)


def _named_by_set(frame: pl.DataFrame) -> pl.DataFrame:
    """Two sets may each have a situation of the same name."""
    return frame.with_columns(situation=pl.format("{}/{}", "set", "situation"))
