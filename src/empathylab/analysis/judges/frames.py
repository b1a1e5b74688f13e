"""People's ratings and judges' of the same responses, read from a table or from a lab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from empathylab.analysis.judges.cards import Perspective
from empathylab.columns import numbers, on_scale
from empathylab.errors import InputError, UnknownName
from empathylab.store.judgements import lab_judgements, lab_preferences
from empathylab.store.lab import Lab
from empathylab.store.ratings import lab_study, ratings_frame
from empathylab.tables import column_named
from empathylab.words import count_words

PEOPLE = {"response": pl.String, "dimension": pl.String, "rater": pl.String, "rating": pl.Float64}
JUDGES = {
    "judge": pl.String,
    "response": pl.String,
    "dimension": pl.String,
    "repeat": pl.String,
    "turned": pl.Boolean,
    "rating": pl.Float64,
    "expected": pl.Float64,
}
RESPONSES = {
    "response": pl.String,
    "situation": pl.String,
    "respondent": pl.String,
    "text": pl.String,
    "words": pl.Float64,
    "emotion": pl.String,
    "valence": pl.String,
}
COMPARISONS = {
    "judge": pl.String,
    "dimension": pl.String,
    "situation": pl.String,
    "first": pl.String,
    "second": pl.String,
    "outcome": pl.String,
    "first_response": pl.String,
    "second_response": pl.String,
}
KINDS = ("person", "model")
_NEEDED = ("situation", "rater", "rater_kind")
_ONLY = "rating"
"""What a dimension is called where a table names none."""


@dataclass(frozen=True, slots=True)
class JudgedRatings:
    """The ratings that people and judges gave to responses, and what is known of each response."""

    people: pl.DataFrame
    """response, dimension, rater, rating."""
    judges: pl.DataFrame
    """judge, response, dimension, repeat, turned, rating, expected: one row for each answer.
    `expected` is the mean of the judge's distribution over the points, where it gives one;
    `turned` says that the scale was shown with its highest point first."""
    responses: pl.DataFrame
    """response, situation, respondent, text, words, emotion, valence: one row for each."""
    comparisons: pl.DataFrame
    """judge, dimension, situation, first, second, outcome: which of two replies, as shown, and
    `first_response` and `second_response` where it is known which they are."""
    scales: Mapping[str, tuple[float, ...]] = field(default_factory=dict, hash=False)
    """By dimension the points of its scale, where they are known."""
    study: str = ""
    dropped: int = 0
    """Rows dropped because a rating, a rater or a response was missing or unusable."""
    compared_with: Perspective = "onlookers"
    """Whose ratings people's are: of readers of a reply to another person, or of recipients.
    In a lab's studies raters are onlookers."""
    setups: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Of each judge that was asked with several setups, how many; one of them is used."""

    @property
    def dimensions(self) -> list[str]:
        """Those that a judge or people rated, in their order."""
        named = [*self.people["dimension"], *self.judges["dimension"]]
        return list(dict.fromkeys(named))

    @property
    def judge_names(self) -> list[str]:
        """Who judged, in their order."""
        return list(dict.fromkeys([*self.judges["judge"], *self.comparisons["judge"]]))

    def by(self, people: Sequence[str]) -> JudgedRatings:
        """The same with the ratings of these people only."""
        known = self.people["rater"].unique().to_list()
        for name in people:
            if name not in known:
                raise UnknownName("rater", name, known)
        return replace(self, people=self.people.filter(pl.col("rater").is_in(list(people))))

    def with_judge(self, name: str, judgements: pl.DataFrame) -> JudgedRatings:
        """The same with one more judge; `judgements` has response, dimension, rating, expected."""
        if name in self.judge_names:
            raise InputError(
                f"there is already a judge called {name!r}", remedy="Rename it in the table."
            )
        added = judgements.with_columns(
            judge=pl.lit(name), repeat=pl.lit("1"), turned=pl.lit(None, dtype=pl.Boolean)
        )
        own = _shaped(added, JUDGES)
        return replace(self, judges=pl.concat([self.judges, own]))


def judged_from_table(
    frame: pl.DataFrame, *, where: str, levels: Sequence[str | float] | None = None
) -> JudgedRatings:
    """The ratings of a long table, one per row.

    Columns `situation`, `rater`, `rater_kind` (person or model) and `rating`; where they are there,
    `respondent`, `response` (what was rated; else situation and respondent together), `dimension`,
    `repeat`, `turned`, `text` or `words`, `emotion`, `valence`, `perspective` (onlooker or
    recipient; of people). Rows of a judge that have
    `outcome` (first, second or tie), `first` and `second` compare two replies. `levels` names the
    scale's points from lowest to highest, where ratings are words.

    A row without rating, rater or situation is dropped and counted. Raises InputError for a table
    without these columns, without people, or without a judge.
    """
    for column in _NEEDED:
        if column not in frame.columns:
            remedy = (
                "Put the ratings of people and judges into one table with the columns "
                f"{', '.join(_NEEDED)} (person or model) and rating."
            )
            raise UnknownName("column", column, frame.columns, where=where, remedy=remedy)
    _check_kinds(frame, where)
    texts = frame.with_columns(
        pl.col(name).cast(pl.String)
        for name in frame.columns
        if name not in ("rating", "words", "turned")
    )
    compared = _comparisons(texts, where)
    rows, scale = _rated(texts, where, levels)
    if "outcome" in rows.columns:
        rows = rows.filter(pl.col("outcome").is_null())
    whole = rows.drop_nulls(["situation", "rater", "rating"])
    people = whole.filter(rater_kind="person")
    judges = whole.filter(rater_kind="model").with_columns(judge=pl.col("rater"))
    if people.is_empty():
        raise InputError(
            "no calibration is possible: the table contains no ratings by people",
            where=where,
            remedy="Add people's ratings of the same responses, with rater_kind person.",
        )
    dimensions = whole["dimension"].unique().to_list()
    return JudgedRatings(
        people=_shaped(people, PEOPLE),
        judges=judge_rows(judges),
        responses=_responses(whole),
        comparisons=compared,
        scales=dict.fromkeys(dimensions, scale) if scale else {},
        dropped=len(rows) - len(whole),
        compared_with=_perspective(people, where),
    )


def judged_from_lab(lab: Lab, study: str | None = None) -> JudgedRatings:
    """The lab's judgements of a study's responses, with people's ratings of them.

    Models among the study's raters, as an imported table may bring them, are judges too. Without a
    name, of the only study there is. The caller must check that the study is closed. Raises
    InputError for a study without ratings.
    """
    chosen = lab_study(lab, study)
    where = f"study {chosen.name}"
    rated = ratings_frame(lab, chosen.name)
    people = rated.filter(rater_kind="person")
    if people.is_empty():
        raise InputError(
            "no calibration is possible: no person has rated the study's responses",
            where=where,
            remedy="Let people rate some of them, or calibrate the judge on another study.",
        )
    rated_by_people = people["response"].unique().to_list()
    judged = lab_judgements(lab, chosen.name, about=[rated_by_people])
    usable = judged.filter(pl.col("value").is_not_null())
    compared = lab_preferences(lab, chosen.name, about=rated_by_people)
    decided = compared.filter(pl.col("preferred").is_not_null())
    imported = imported_judges(rated.filter(rater_kind="model"), judged["judge"].to_list())
    known = [people, usable, imported]
    return JudgedRatings(
        people=_shaped(people, PEOPLE),
        judges=judge_rows(usable, imported),
        responses=_responses(pl.concat([_shaped(item, RESPONSES) for item in known])),
        comparisons=_shaped(decided.with_columns(outcome=pl.col("preferred")), COMPARISONS),
        scales={dimension.name: dimension.values for dimension in chosen.dimensions},
        study=chosen.name,
        dropped=len(judged) - len(usable) + len(compared) - len(decided),
        setups=_setups(judged, compared),
    )


def _setups(*frames: pl.DataFrame) -> dict[str, int]:
    """Of each judge that was asked with several setups, the most on any dimension."""
    counts = pl.concat([frame.select("judge", pl.col("ways").cast(pl.Int64)) for frame in frames])
    most = counts.group_by("judge", maintain_order=True).agg(pl.col("ways").max())
    return dict(most.filter(pl.col("ways") > 1).iter_rows())


def imported_judges(ratings: pl.DataFrame, judges: Sequence[str]) -> pl.DataFrame:
    """Models' ratings with their judge's name, which differs from that of a judge the lab asked."""
    there = pl.col("rater").is_in(list(dict.fromkeys(judges)))
    named = pl.when(there).then(pl.col("rater") + " (imported)").otherwise(pl.col("rater"))
    return ratings.with_columns(judge=named)


def _perspective(people: pl.DataFrame, where: str) -> Perspective:
    """Whose ratings they are, by the column `perspective`."""
    if "perspective" not in people.columns:
        return "onlookers"
    named = people["perspective"].drop_nulls().str.to_lowercase().str.strip_suffix("s")
    strange = named.filter(~named.is_in(["onlooker", "recipient"]))
    if len(strange):
        raise InputError(
            "'perspective' must be onlooker or recipient",
            where=where,
            got=strange[0],
            remedy="Write recipient if the rater is the person who received the reply.",
        )
    if "recipient" not in named.to_list():
        return "onlookers"
    everybody = len(named) == len(people) and "onlooker" not in named.to_list()
    return "recipients" if everybody else "onlookers and recipients"


def _check_kinds(frame: pl.DataFrame, where: str) -> None:
    kinds = frame["rater_kind"].cast(pl.String)
    wrong = (kinds.is_not_null() & ~kinds.is_in(list(KINDS))).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            "'rater_kind' must be person or model",
            where=f"{where} row {row + 2}",
            got=kinds[row],
            remedy="Write person for people and model for judges.",
        )
    if "model" not in kinds.to_list() and "text" not in frame.columns:
        raise InputError(
            "the table contains no ratings by a judge",
            where=where,
            remedy="Add rows with rater_kind model, or the replies' text for the style judge.",
        )


def _rated(
    frame: pl.DataFrame, where: str, levels: Sequence[str | float] | None
) -> tuple[pl.DataFrame, tuple[float, ...]]:
    """The rows with numbers for ratings and an id for what was rated, and the scale if named."""
    column_named(frame, "rating", where=where)
    scale: tuple[float, ...] = ()
    if levels and isinstance(levels[0], str):
        places = {str(one): float(place) for place, one in enumerate(levels, start=1)}
        words = on_scale(frame, "rating", levels, where=where)
        values = words.replace_strict(places, return_dtype=pl.Float64)
        scale = tuple(places.values())
    else:
        values = numbers(frame, "rating", where=where)
        endless = values.is_infinite().fill_null(value=False).arg_true()
        if len(endless):
            raise InputError(
                "'rating' must be finite",
                where=f"{where} row {int(endless[0]) + 2}",
                remedy="Fix the row.",
            )
        scale = tuple(float(level) for level in levels or ())
    wanted = [name for name in ("respondent",) if name in frame.columns]
    key = pl.concat_str(["situation", *wanted], separator="\x1f", ignore_nulls=True)
    made = frame.with_columns(
        values.fill_nan(None).alias("rating"),
        response=pl.col("response") if "response" in frame.columns else key,
        dimension=pl.col("dimension").fill_null(_ONLY)
        if "dimension" in frame.columns
        else pl.lit(_ONLY),
    )
    if "words" in frame.columns:
        made = made.with_columns(numbers(frame, "words", where=where).alias("words"))
    if "turned" in frame.columns:
        said = pl.col("turned").cast(pl.String).str.to_lowercase()
        made = made.with_columns(turned=said.is_in(["true", "1", "1.0", "yes"]))
    return made, scale


def _comparisons(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    if "outcome" not in frame.columns:
        return pl.DataFrame(schema=COMPARISONS)
    for column in ("first", "second"):
        column_named(frame, column, where=where)
    own = frame.filter(pl.col("outcome").is_not_null(), rater_kind="model")
    named = pl.col("dimension").fill_null(_ONLY) if "dimension" in own.columns else pl.lit(_ONLY)
    return _shaped(own.with_columns(judge=pl.col("rater"), dimension=named), COMPARISONS)


def _shaped(
    frame: pl.DataFrame, schema: Mapping[str, type[pl.DataType] | pl.DataType]
) -> pl.DataFrame:
    """The frame's columns of that schema; null where it has none."""
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in schema.items()
    )


def judge_rows(*judgements: pl.DataFrame) -> pl.DataFrame:
    """The judgements with the columns of `JUDGES`, repeats of one response numbered in order.

    A lab's judgements call the rating `value`.
    """
    named = [
        frame.with_columns(rating="value") if "rating" not in frame.columns else frame
        for frame in judgements
    ]
    rows = pl.concat([_shaped(frame, JUDGES) for frame in named])
    order = pl.int_range(1, pl.len() + 1).over("judge", "response", "dimension").cast(pl.String)
    return rows.with_columns(repeat=order)


def _responses(rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each response, with what any of its rows says about it."""
    shaped = _shaped(rows, RESPONSES)
    known = [pl.col(name).drop_nulls().first() for name in RESPONSES if name != "response"]
    responses = shaped.group_by("response", maintain_order=True).agg(known)
    if responses["text"].null_count() == len(responses):
        return responses
    counted = [count_words(text) if text is not None else None for text in responses["text"]]
    words = pl.Series("words", counted, pl.Float64)
    return responses.with_columns(pl.coalesce("words", words))
