"""The tables of judges made from exported files: what they said, and their cards against people."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from empathylab.analysis.judges.analysis import analyse_judged
from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.judges.frames import JudgedRatings, judged_from_table
from empathylab.analysis.ratings.scales import labels_by_value
from empathylab.analysis.text.numbers import number
from empathylab.errors import UserError
from empathylab.export.replication.tables import (
    Read,
    ResultTable,
    exported_dimensions,
    file_name,
    flat,
    plain_table,
)
from empathylab.report.judges.tables import (
    bias_rows,
    card_rows,
    confusion_rows,
    curve_rows,
    tested,
)

_KEYS = ["judge", "study", "set", "dimension", "respondent"]


def judge_tables(read: Read) -> Iterator[ResultTable]:
    """The judges' means, and for each study that people rated the judges' cards."""
    judged = read("judgements")
    if judged is None:
        return
    yield from _means(judged.filter(outcome="valid"))
    studies, ratings = read("studies"), read("ratings")
    if studies is None or ratings is None:
        return
    names: set[str] = set()
    for row in studies.filter(~pl.col("results_hidden")).iter_rows(named=True):
        slug = file_name(row["study"], names)
        if not judged.filter(study=row["study"]).is_empty():
            yield from _of_study(read, row, slug)


def _means(judged: pl.DataFrame) -> Iterator[ResultTable]:
    values = (
        judged.group_by(_KEYS, maintain_order=True)
        .agg(
            pl.len().alias("n"),
            pl.col("value").mean().alias("mean"),
            pl.col("value").std().alias("sd"),
        )
        .to_dicts()
    )
    shown = [
        {name: row[name] or "" for name in _KEYS}
        | {"n": number(row["n"], 0)}
        | {name: "–" if row[name] is None else number(row[name], 2) for name in ("mean", "sd")}
        for row in values
    ]
    if values:
        yield ResultTable("judges-means", "Mean values that judges gave", values, shown)


def _of_study(read: Read, row: Mapping[str, Any], slug: str) -> Iterator[ResultTable]:
    title = f"Judges of {row['title']}"
    try:
        analysed = analyse_judged(_judged(read, row))
    except UserError as error:
        problem = {"study": row["study"], "not compared with people": str(error)}
        yield from plain_table(f"judges-{slug}", title, [problem])
        return
    values = [flat(card) for card in analysed.cards]
    yield ResultTable(f"judges-{slug}", title, values, card_rows(analysed.cards))
    used: set[str] = set()
    labels = labels_by_value(exported_dimensions(row))
    for card in analysed.cards:
        name = f"judges-{slug}-{file_name(f'{card.judge} {card.dimension}', used)}"
        yield from _of_card(card, name, labels.get(card.dimension, {}))


def _of_card(card: JudgeCard, name: str, labels: Mapping[float, str]) -> Iterator[ResultTable]:
    title = f"{card.judge}, {card.dimension}"
    counts = confusion_rows(card, labels)
    yield from plain_table(f"{name}-confusion", f"{title}: people by judge", counts)
    biases = [flat(item) for item in tested(card)]
    if biases:
        yield ResultTable(f"{name}-biases", f"{title}: biases", biases, bias_rows([card]))
    if card.curve is not None and card.curve.points:
        values = [flat(point) for point in card.curve.points]
        yield ResultTable(f"{name}-calibration", f"{title}: calibration", values, curve_rows(card))


def _judged(read: Read, row: Mapping[str, Any]) -> JudgedRatings:
    """Ratings of the study's responses by people and judges."""
    parts = [_people(read, row["study"]), _judgements(read, row["study"])]
    compared = _compared(read, row["study"])
    texts = _texts(read)
    frame = pl.concat([*parts, *compared], how="diagonal_relaxed").join(
        texts, on="response", how="left", maintain_order="left"
    )
    judged = judged_from_table(frame, where=f"study {row['study']}")
    scales = {
        exported_dimension.name: tuple(map(float, exported_dimension.values))
        for exported_dimension in exported_dimensions(row)
    }
    return dataclasses.replace(judged, scales=scales, study=row["study"])


def _people(read: Read, study: str) -> pl.DataFrame:
    """People's ratings, and those of models that an imported table brought among the raters."""
    ratings, raters = read("ratings"), read("raters")
    if ratings is None or raters is None:
        return pl.DataFrame()
    kinds = raters.filter(study=study).select("rater", rater_kind="kind")
    return (
        ratings.filter(study=study)
        .join(kinds, on="rater", how="left", maintain_order="left")
        .select(
            *("rater", "rater_kind", "situation", "emotion", "valence", "respondent"),
            *("response", "dimension", "rating"),
        )
        .sort(pl.col("rater_kind") != "person", maintain_order=True)
    )


def _judgements(read: Read, study: str) -> pl.DataFrame:
    judged = read("judgements")
    rows = judged.filter(study=study) if judged is not None else pl.DataFrame()
    return rows.select(
        *("situation", "emotion", "valence", "respondent", "response", "dimension", "turned"),
        "expected",
        rater="judge",
        rater_kind=pl.lit("model"),
        rating="value",
    )


def _compared(read: Read, study: str) -> list[pl.DataFrame]:
    """Which of two replies judges preferred; nothing where none was asked."""
    preferred = read("preferences")
    if preferred is None:
        return []
    rows = preferred.filter(study=study)
    return [
        rows.select(
            *("situation", "dimension", "first", "second", "first_response", "second_response"),
            rater="judge",
            rater_kind=pl.lit("model"),
            outcome="preferred",
        )
    ]


def _texts(read: Read) -> pl.DataFrame:
    responses = read("responses")
    if responses is None:
        return pl.DataFrame(schema={"response": pl.Int64, "text": pl.String})
    return responses.select("response", "text").unique("response", maintain_order=True)
