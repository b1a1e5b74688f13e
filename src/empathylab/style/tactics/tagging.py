"""Which tactics of empathic language a response uses, sentence by sentence, and in which order.

The ten tactics are validation, paraphrasing, emotional expression, empowerment, information,
reappraisal, self-disclosure, advice, assistance and questioning. Rules find them by wording (see
`tactic_rules`), weighed by a classifier; any other tagger, such as a model, can replace both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from empathylab.errors import InputError
from empathylab.style.responses import RESPONDENT, SITUATION, TEXT, usable_responses
from empathylab.style.tactics.classifier import classify
from empathylab.style.tactics.rules import TacticRules, tactic_rules
from empathylab.style.text.language import english
from empathylab.style.text.sentences import sentence_lists

Tagger = Callable[[Sequence[str]], Sequence[Collection[str]]]
"""Given sentences, the tactics of each, in the order in which they occur in it."""

START, END = "start", "end"
_TACTICS = pl.List(pl.String)
_LONGEST = 2**32 - 1


@dataclass(frozen=True, slots=True)
class TacticUse:
    """How much one respondent uses one tactic."""

    respondent: str
    tactic: str
    share: float
    """Of the respondent's responses, those that use it at least once."""
    low: float
    high: float
    per_response: float
    """Sentences with the tactic, per response."""
    position: float
    """Where in the response it stands on average: 0 the first sentence, 1 the last; NaN if unused
    or only in responses of one sentence."""
    responses: int
    """Of the respondent, in a language that the tagger knows."""
    situations: int


@dataclass(frozen=True, slots=True)
class Template:
    """A sequence of tactics that occurs in several responses."""

    tactics: tuple[str, ...]
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class Templates:
    """How far one respondent's responses follow the same order of tactics."""

    respondent: str
    commonest: tuple[Template, ...]
    """The most frequent first. A template is the order of the tactics, each run written once."""
    different: int
    responses: int
    """Responses with at least one tactic: the shares are of these."""
    untagged: int
    """Responses in which no tactic was found."""
    recurrence: float
    """The chance that two of the responses follow the same template; NaN below two."""


def tag(sentences: Sequence[str], tagger: Tagger | None = None) -> list[tuple[str, ...]]:
    """The tactics of each sentence, in the order in which they occur in it.

    By default rules and a classifier find them; they know English only.
    """
    return list(map(tuple, _tags(_series(sentences), tagger).to_list()))


def by_rules(rules: TacticRules | None = None) -> Tagger:
    """A tagger that uses only these rules, or the built-in ones without their classifier."""
    used = rules or tactic_rules()
    return lambda sentences: _ordered(used.positions(_series(sentences))).to_list()


def _tags(sentences: pl.Series, tagger: Tagger | None) -> pl.Series:
    """The tactics of each sentence as a list."""
    if tagger is None:
        return _by_classifier(sentences)
    tagged = [list(tactics) for tactics in tagger(sentences.to_list())]
    if len(tagged) != len(sentences):
        raise InputError(
            "the tagger must give one answer per sentence",
            where="tactics",
            got=f"{len(tagged)} answers for {len(sentences)} sentences",
            remedy="Return an empty collection for a sentence without a tactic.",
        )
    return pl.Series("tactics", tagged, dtype=_TACTICS)


def _by_classifier(sentences: pl.Series) -> pl.Series:
    """By the built-in rules, weighed by the classifier; what no rule found comes last."""
    tagged, places = classify(sentences, tactic_rules())
    end = pl.lit(_LONGEST, dtype=pl.UInt32)
    return _ordered(
        places.select(
            pl.when(pl.Series(tagged[:, column])).then(pl.col(name).fill_null(end)).alias(name)
            for column, name in enumerate(places.columns)
        )
    )


def _series(sentences: Sequence[str]) -> pl.Series:
    return pl.Series("sentence", sentences, dtype=pl.String)


def _ordered(places: pl.DataFrame) -> pl.Series:
    """Per row, the tactics with a place, in the order of their places."""
    numbered = places.with_row_index("number")
    tactics = (
        numbered.unpivot(index="number", variable_name="tactics", value_name="place")
        .drop_nulls("place")
        .sort("number", "place", maintain_order=True)
        .group_by("number", maintain_order=True)
        .agg("tactics")
    )
    return (
        numbered.select("number")
        .join(tactics, on="number", how="left", maintain_order="left")["tactics"]
        .fill_null(pl.Series([[]], dtype=_TACTICS))
    )


def tactic_table(
    frame: pl.DataFrame,
    *,
    tagger: Tagger | None = None,
    respondent: str = RESPONDENT,
    situation: str = SITUATION,
    text: str = TEXT,
) -> pl.DataFrame:
    """One row per sentence: response, respondent, situation, place, sentences, sentence, tactics.

    `response` is the row in the frame given, `place` counts the response's sentences from 0,
    `sentences` is how many it has. Each different sentence is tagged once. The built-in tagger
    knows English only: `tactics` is null for sentences of responses in another language.
    """
    responses = usable_responses(frame, respondent=respondent, situation=situation, text=text).frame
    known = english(responses[TEXT]) if tagger is None else pl.lit(value=True)
    table = (
        responses.select(
            *("response", RESPONDENT, SITUATION),
            known=known,
            sentence=sentence_lists(responses[TEXT]),
        )
        .with_columns(sentences=pl.col("sentence").list.len())
        .explode("sentence", empty_as_null=False, keep_nulls=False)
        .with_columns(place=pl.int_range(pl.len()).over("response"))
    )
    different = table.filter("known")["sentence"].unique(maintain_order=True)
    tags = pl.DataFrame(
        {
            "sentence": different,
            "tactics": _tags(different, tagger),
            "known": pl.repeat(value=True, n=len(different), eager=True),
        },
        schema_overrides={"known": pl.Boolean},
    )
    columns = ["response", RESPONDENT, SITUATION, "place", "sentences", "sentence", "tactics"]
    return table.join(tags, on=["sentence", "known"], how="left", maintain_order="left").select(
        columns
    )


def not_english(table: pl.DataFrame) -> dict[str, int]:
    """Per respondent, the responses in another language, of which the tactics are not known."""
    counts = (
        table.filter(pl.col("tactics").is_null())
        .group_by(RESPONDENT, maintain_order=True)
        .agg(pl.col("response").n_unique())
    )
    return dict(counts.iter_rows())


def tactic_uses(table: pl.DataFrame, *, confidence: float = 0.95) -> list[TacticUse]:
    """How many of each respondent's responses use each tactic, and where in the response.

    `table` comes from `tactic_table`. The interval of the share is Wilson's, with the number of
    situations as the sample size where a situation has several responses.
    """
    from empathylab.stats.intervals import wilson

    table = table.drop_nulls("tactics")
    base = table.group_by(RESPONDENT, maintain_order=True).agg(
        pl.col("response").n_unique().alias("responses"),
        pl.col(SITUATION).n_unique().alias("situations"),
    )
    uses = _uses(table)
    counted = uses.group_by(RESPONDENT, "tactic").agg(
        pl.col("response").n_unique().alias("using"),
        pl.len().alias("sentences_with"),
        pl.col("relative").mean().alias("position"),
    )
    tactics = uses["tactic"].unique().sort().to_frame()
    joined = base.join(tactics, how="cross", maintain_order="left").join(
        counted, on=[RESPONDENT, "tactic"], how="left", maintain_order="left"
    )
    results = []
    for row in joined.iter_rows(named=True):
        responses, using = row["responses"], row["using"] or 0
        size = min(row["situations"], responses)
        low, high = map(float, wilson(using / responses, size, confidence=confidence))
        results.append(
            TacticUse(
                respondent=row[RESPONDENT],
                tactic=row["tactic"],
                share=using / responses,
                low=low,
                high=high,
                per_response=(row["sentences_with"] or 0) / responses,
                position=np.nan if row["position"] is None else row["position"],
                responses=responses,
                situations=row["situations"],
            )
        )
    return results


def tactic_transitions(table: pl.DataFrame) -> pl.DataFrame:
    """How often each tactic follows another: respondent, before, after, count, share.

    Runs of one tactic count once; `start` and `end` stand at both ends of a response. `share` is
    of all transitions that leave `before`.
    """
    sequences = _sequences(table)
    pairs = sequences.select(
        RESPONDENT,
        before=pl.concat_list(pl.lit(START), "tactics"),
        after=pl.concat_list("tactics", pl.lit(END)),
    ).explode("before", "after", empty_as_null=False, keep_nulls=False)
    counted = pairs.group_by(RESPONDENT, "before", "after").agg(pl.len().alias("count"))
    return counted.with_columns(
        share=pl.col("count") / pl.col("count").sum().over(RESPONDENT, "before")
    ).sort(_in_order(table), -pl.col("count").cast(pl.Int64), "before", "after")


def tactic_places(table: pl.DataFrame, *, parts: int = 3) -> pl.DataFrame:
    """Where in responses each tactic occurs: respondent, tactic, part (1 to `parts`), count, share.

    The first sentence of a response lies in the first part and the last in the last, the others
    evenly between; a sentence that stands alone is a first one. `share` is of all sentences of
    the respondent in that part, `count` how many of them have the tactic.
    """
    last = pl.max_horizontal(pl.col("sentences").cast(pl.Int64) - 1, 1)
    # Halves go to the later part.
    part = (pl.col("place") * (parts - 1) * 2 + last) // (2 * last) + 1
    placed = table.drop_nulls("tactics").with_columns(part=part)
    sizes = placed.group_by(RESPONDENT, "part").agg(pl.len().alias("size"))
    counted = (
        placed.explode("tactics", empty_as_null=False, keep_nulls=False)
        .group_by(RESPONDENT, "part", tactic="tactics")
        .agg(pl.len().alias("count"))
    )
    return (
        counted.join(sizes, on=[RESPONDENT, "part"])
        .select(RESPONDENT, "tactic", "part", "count", share=pl.col("count") / pl.col("size"))
        .sort(_in_order(table), "tactic", "part")
    )


def tactic_templates(table: pl.DataFrame, *, top: int = 10) -> list[Templates]:
    """The most common tactic sequences per respondent, and how often they recur."""
    table = table.drop_nulls("tactics")
    sequences = _sequences(table)
    every = table.group_by(RESPONDENT, maintain_order=True).agg(pl.col("response").n_unique())
    templates = []
    for name, responses in every.iter_rows():
        mine = sequences.filter(pl.col(RESPONDENT) == name)["tactics"]
        counts = Counter(tuple(order) for order in mine)
        n = len(mine)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        alike = sum(count * (count - 1) for count in counts.values())
        templates.append(
            Templates(
                respondent=name,
                commonest=tuple(Template(order, c, c / n) for order, c in ranked[:top]),
                different=len(counts),
                responses=n,
                untagged=responses - n,
                recurrence=alike / (n * (n - 1)) if n > 1 else float("nan"),
            )
        )
    return templates


def _in_order(table: pl.DataFrame) -> pl.Expr:
    """What sorts respondents by their first response."""
    return pl.col(RESPONDENT).cast(pl.Enum(table[RESPONDENT].unique(maintain_order=True)))


def _uses(table: pl.DataFrame) -> pl.DataFrame:
    last = pl.col("sentences") - 1
    relative = pl.when(last > 0).then(pl.col("place") / last)
    return table.select(RESPONDENT, "response", relative=relative, tactic="tactics").explode(
        "tactic", empty_as_null=False, keep_nulls=False
    )


def _sequences(table: pl.DataFrame) -> pl.DataFrame:
    """Per response with a tactic, its tactics in order, each run written once."""
    uses = table.select("response", RESPONDENT, tactic="tactics").explode(
        "tactic", empty_as_null=False, keep_nulls=False
    )
    repeated = (
        (pl.col("tactic") == pl.col("tactic").shift(1)).over("response").fill_null(value=False)
    )
    return (
        uses.filter(~repeated)
        .group_by("response", RESPONDENT, maintain_order=True)
        .agg(pl.col("tactic").alias("tactics"))
    )
