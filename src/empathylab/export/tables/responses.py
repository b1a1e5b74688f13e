"""Situations, respondents, responses and how the responses are written."""

from __future__ import annotations

import polars as pl

from empathylab.export.source import LabSource
from empathylab.export.tables.columns import (
    DAY,
    IMPORTED_FROM,
    KIND,
    OUTCOME,
    RESPONSE,
    RUN,
    SET,
    SET_VERSION,
    SITUATION,
    VALENCE,
)
from empathylab.store.export_tables import respondent_table, set_table, situation_table
from empathylab.style import FEATURES, features
from empathylab.table_specs import ColumnSpec, TableSpec, flag, number, text, whole


def _style(source: LabSource) -> pl.DataFrame:
    """The features of each usable response, whether analyses count it or not."""
    usable = source.responses.filter(outcome="valid")
    counted = features(usable).drop("respondent", "situation", "sample")
    if "sentiment" not in counted.columns:  # without the extra `style`
        counted = counted.with_columns(sentiment=pl.lit(None, pl.Float64))
    who = usable.select("response", "respondent", "set", "situation", "sample")
    return pl.concat([who, counted], how="horizontal")


def _feature(name: str) -> ColumnSpec:
    feature = FEATURES[name]
    if feature.kind == "count":
        return whole(name, f"How many in the response: {feature.meaning}")
    return number(name, f"Of the response: {feature.meaning}")


SITUATION_SETS = TableSpec[LabSource](
    "situation_sets",
    "Sets of situations",
    (
        text("set", "The set's id"),
        whole("set_version", "Its version"),
        text("title", "Its title"),
        text("language", "The language of its texts"),
        text("licence", "The licence of its texts"),
        flag("validated", "Whether people have confirmed the emotions it names"),
        text("description", "What it is"),
        whole("situations", "How many situations it has"),
    ),
    lambda source: set_table(source.connection),
)

SITUATIONS = TableSpec[LabSource](
    "situations",
    "What a person experiences, one row per situation",
    (
        SET,
        SET_VERSION,
        SITUATION,
        text("text", "What a person experiences"),
        text("emotion", "The emotion it is about"),
        VALENCE,
        text("factor", "What causes the emotion"),
        text("topic", "The topic"),
        text("utterance", "What the person says"),
        text("counterpart", "The same situation without what evokes the emotion"),
        text("title", "The post's title"),
        text("context", "What was said before, as a JSON list: the person first, then in turns"),
    ),
    lambda source: situation_table(source.connection),
)

RESPONDENTS = TableSpec[LabSource](
    "respondents",
    "Who answers: models and groups of people",
    (
        text("respondent", "The respondent's name: provider/name of a model, or a group of people"),
        KIND,
        whole("responses", "How many responses are in the lab"),
        whole("administrations", "How many administrations are in the lab"),
    ),
    lambda source: respondent_table(source.connection),
)

RESPONSES = TableSpec[LabSource](
    "responses",
    "Replies to situations, usable or not",
    (
        whole("response", "The response's number, the same in all tables"),
        RUN,
        text("respondent", "Who wrote it"),
        KIND,
        SET,
        SET_VERSION,
        SITUATION,
        whole("sample", "The number of the respondent's reply to the situation, from 0"),
        text("prompt", "The prompt template, with its version"),
        text("text", "The reply"),
        OUTCOME,
        text("reason", "Which check the reply failed, and how"),
        text("finish_reason", "Why the model stopped, as its endpoint reports"),
        text("reported_model", "What the endpoint calls the model that answered"),
        whole("prompt_tokens", "Tokens of the request"),
        whole("completion_tokens", "Tokens of the answer"),
        number("seconds", "From the request to the complete answer"),
        DAY,
        IMPORTED_FROM,
        flag(
            "counted", "Whether analyses count it: usable, and imported or from the run used last"
        ),
    ),
    lambda source: source.responses.drop("answered_at"),
)

STYLE = TableSpec[LabSource](
    "style",
    "How each usable response is written, one column per feature",
    (
        RESPONSE,
        text("respondent", "Who wrote it"),
        SET,
        SITUATION,
        whole("sample", "The number of the respondent's reply to the situation, from 0"),
        *(_feature(name) for name in FEATURES),
    ),
    _style,
)
