"""What a judge favours: long replies, its own family, positions, kinds of situations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from empathylab.analysis.judges.cards import LEVEL, BiasName, JudgeBias
from empathylab.analysis.text.notes import note_text
from empathylab.stats.corrections import holm
from empathylab.stats.judges.bias import Bias, position_bias, self_preference
from empathylab.stats.judges.scaled_bias import scaled_bias

_FEWEST_SITUATIONS = 20
"""Of an emotion or valence, and of all others: few clusters make a test find too much."""


def judge_biases(
    rows: pl.DataFrame,
    asked: pl.DataFrame,
    compared: pl.DataFrame,
    own: Sequence[str],
    *,
    confidence: float = 0.95,
) -> tuple[JudgeBias, ...]:
    """The judge's biases, p values corrected by Holm's method over those that could be tested.

    `rows` are people's ratings beside the judge's mean (`expected`), with what is known of the
    response; `asked` the judge's single answers; `compared` its choices between two replies;
    `own` the respondents of its family.
    """
    length = _length(rows, confidence)
    biases = [
        length,
        _self_preference(rows, own, length, confidence),
        _position(compared, confidence),
        _scale_order(rows, asked, confidence),
        _valence(rows, confidence),
    ]
    return corrected(biases)


def emotion_biases(rows: pl.DataFrame, *, confidence: float = 0.95) -> tuple[JudgeBias, ...]:
    """How far the judge rates each emotion's replies above people, against all other emotions."""
    emotions = rows["emotion"].drop_nulls().unique(maintain_order=True).sort().to_list()
    enough = [emotion for emotion in emotions if _enough(rows, "emotion", emotion)]
    if len(enough) < 2:
        return ()
    return corrected([_group(rows, "emotion", item, confidence) for item in enough])


def corrected(biases: Sequence[JudgeBias]) -> tuple[JudgeBias, ...]:
    """The biases with p values after Holm over those that have one."""
    adjusted = holm([bias.p for bias in biases])
    return tuple(
        replace(one, p_corrected=float(p)) for one, p in zip(biases, adjusted, strict=True)
    )


def same_over_orders(compared: pl.DataFrame) -> float:
    """The proportion of pairs shown in both orders in which the same reply won; NaN without any."""
    won = compared.with_columns(
        one=pl.min_horizontal("first", "second"),
        other=pl.max_horizontal("first", "second"),
        turned=pl.col("first") > pl.col("second"),
        winner=pl.when(pl.col("outcome") == "first")
        .then(pl.col("first"))
        .when(pl.col("outcome") == "second")
        .then(pl.col("second"))
        .otherwise(pl.lit("")),
    )
    both = won.group_by("situation", "one", "other").agg(
        orders=pl.col("turned").n_unique(), winners=pl.col("winner").n_unique()
    )
    winners = both.filter(pl.col("orders") == 2)["winners"].to_numpy()
    return float((winners == 1).mean()) if len(winners) else math.nan


def _length(rows: pl.DataFrame, confidence: float) -> JudgeBias:
    known = rows.drop_nulls(["words"]).filter(pl.col("words") > 0)
    if known.is_empty():
        return untested("length", "the replies' words are not known")
    # A preference for length, separated from a preference for a respondent who writes at length.
    several = known["respondent"].drop_nulls().n_unique() > 1
    doublings = known.with_columns(predictor=pl.col("words").log(2))
    scaled = scaled_bias(
        doublings,
        "predictor",
        prediction="expected",
        within="respondent" if several else None,
        rater=_rater(known),
        confidence=confidence,
    )
    bias = _as_bias("length", "", scaled)
    if scaled.note is not None and scaled.note.code == "nothing_to_compare":
        return replace(bias, note="all replies are equally long")
    return bias


def _self_preference(
    rows: pl.DataFrame, own: Sequence[str], length: JudgeBias, confidence: float
) -> JudgeBias:
    known = rows.drop_nulls(["respondent"])
    present = [name for name in own if name in known["respondent"].to_list()]
    if known.is_empty():
        return untested("self_preference", "who wrote the replies is not known")
    if not present:
        return untested("self_preference", "no reply is by the judge's own family")
    note = ""
    if length.p < LEVEL:
        # A judge that likes length likes a family that writes at length, for that alone.
        per_doubling = length.estimate * pl.col("words").log() / math.log(2)
        known = known.with_columns(expected=pl.col("expected") - per_doubling)
        note = "adjusted for its preference for length"
    gap = _gap(known, pl.col("respondent").is_in(present), confidence)
    bias = _as_bias("self_preference", ", ".join(present), gap)
    if math.isnan(bias.estimate) and known["respondent"].is_in(present).all():
        note = "there are no responses by others"
        return replace(bias, note=note)
    return replace(bias, note="; ".join(part for part in (bias.note, note) if part))


def _position(compared: pl.DataFrame, confidence: float) -> JudgeBias:
    if compared.is_empty():
        return untested("position", "it was not asked to choose between two replies")
    bias = position_bias(compared, confidence=confidence)
    return _as_bias("position", "", bias)


def _scale_order(rows: pl.DataFrame, asked: pl.DataFrame, confidence: float) -> JudgeBias:
    """Whether the end of the scale that is shown first draws the judge, in points.

    The judge minus people where the highest point came first, compared with where the lowest did;
    both directions of one response, where it was asked in both, form one cluster.
    """
    ways = (
        asked.drop_nulls(["turned"])
        .group_by("response", "turned", maintain_order=True)
        .agg(pl.coalesce("expected", "rating").mean().alias("expected"))
        .with_columns(turned=pl.when("turned").then(pl.lit("first")).otherwise(pl.lit("last")))
    )
    known = rows.drop("expected").join(ways, on="response", maintain_order="left")
    if known["turned"].n_unique() < 2:
        return untested("scale_order", "the scale was shown in one direction only")
    bias = self_preference(
        known,
        ["first"],
        respondent="turned",
        prediction="expected",
        rater=_rater(known),
        confidence=confidence,
    )
    return _as_bias("scale_order", "", bias)


def _valence(rows: pl.DataFrame, confidence: float) -> JudgeBias:
    values = rows["valence"].drop_nulls().unique().sort(descending=True).to_list()
    enough = [value for value in values if _enough(rows, "valence", value)]
    if len(enough) < 2:
        return untested("valence", "the situations are not of two valences")
    return _group(rows, "valence", enough[0], confidence)


def _group(rows: pl.DataFrame, column: BiasName, value: str, confidence: float) -> JudgeBias:
    """How much further above people the judge rates this group than the others."""
    known = rows.drop_nulls([column])
    return _as_bias(column, value, _gap(known, pl.col(column) == value, confidence))


def _gap(known: pl.DataFrame, inside: pl.Expr, confidence: float) -> Bias:
    """How much further above people the judge rates the rows inside than the others."""
    return scaled_bias(
        known.with_columns(predictor=inside.cast(pl.Float64)),
        "predictor",
        prediction="expected",
        rater=_rater(known),
        confidence=confidence,
    )


def _enough(rows: pl.DataFrame, column: str, value: str) -> bool:
    known = rows.drop_nulls([column])
    inside = known.filter(pl.col(column) == value)["situation"].n_unique()
    return min(inside, known["situation"].n_unique() - inside) >= _FEWEST_SITUATIONS


def _rater(rows: pl.DataFrame) -> str | None:
    return "rater" if rows["rater"].null_count() == 0 else None


def untested(name: BiasName, note: str) -> JudgeBias:
    """A bias that could not be looked at, and why."""
    nothing = (math.nan, math.nan, math.nan, math.nan, math.nan)
    return JudgeBias(name, "", *nothing, n=0, note=note)


def _as_bias(name: BiasName, about: str, bias: Bias) -> JudgeBias:
    ends = (bias.estimate, bias.low, bias.high, bias.p)
    return JudgeBias(name, about, *ends, p_corrected=math.nan, n=bias.n, note=note_text(bias.note))
