"""Conversations as the analysis reads them: which count, which are scored, and the feelings."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from empathylab.errors import InputError
from empathylab.protocols.converse.outcomes import COMPLETED, Fault, transcript_faults
from empathylab.protocols.converse.transcript import Turn
from empathylab.store import Lab
from empathylab.store.conversations import conversations_frame, turns_frame
from empathylab.tables import require_columns

PEOPLE = "people"
"""Stands where no model simulated the person."""


def lab_frames(lab: Lab) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Conversations that count, and their turns."""
    conversations = _with_personas(_latest(conversations_frame(lab)))
    turns = turns_frame(lab).join(conversations.select("conversation"), on="conversation")
    return _with_faults(conversations, turns), turns.sort("conversation", "position")


def _latest(frame: pl.DataFrame) -> pl.DataFrame:
    """Of several runs of a respondent with a simulator, only the one that was used last."""
    own = frame.filter(pl.col("run").is_not_null())
    last = (
        own.sort("used", "run")
        .group_by("respondent", "simulator", maintain_order=True)
        .agg(pl.col("run").last())
    )
    kept = own.join(last, on=["respondent", "simulator", "run"])
    return pl.concat([kept, frame.filter(pl.col("run").is_null())]).sort("conversation")


def _with_personas(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds what the personas say about themselves, and names what has no name."""
    definitions: list[dict[str, Any]] = [json.loads(text or "{}") for text in frame["definition"]]
    named = {"emotion": pl.String, "need": pl.String, "culture": pl.String, "age": pl.Int64}
    return frame.drop("definition").with_columns(
        *(
            pl.Series(name, [item.get(name) for item in definitions], dtype=kind)
            for name, kind in named.items()
        ),
        pl.Series("crisis", [bool(item.get("crisis")) for item in definitions], dtype=pl.Boolean),
        pl.Series("claim", [item.get("claim") for item in definitions], dtype=pl.String),
        pl.col("simulator").fill_null(PEOPLE),
        pl.col("persona").fill_null(pl.col("key")),
    )


def _with_faults(conversations: pl.DataFrame, turns: pl.DataFrame) -> pl.DataFrame:
    """Adds `scored` and `faults`; imported conversations are looked through here.

    An imported score was published with its faults, so it stays and they are counted beside it.
    """
    imported = conversations.filter(pl.col("run").is_null())
    settings = {
        number: (language, simulator != PEOPLE)
        for number, language, simulator in imported[
            "conversation", "language", "simulator"
        ].iter_rows()
    }
    by_conversation = turns.join(imported.select("conversation"), on="conversation").partition_by(
        "conversation", as_dict=True
    )
    faults: dict[int, list[Fault]] = {}
    for (number, *_), part in by_conversation.items():
        spoken = [
            Turn(role, text) for role, text in part.sort("position")["role", "text"].iter_rows()
        ]
        language, simulated = settings[number]
        faults[int(number)] = transcript_faults(spoken, language, simulated=simulated)
    names = [[fault.outcome for fault in faults.get(n, [])] for n in conversations["conversation"]]
    scored = (pl.col("outcome") == COMPLETED) & pl.col("final").is_not_null()
    return conversations.with_columns(
        pl.Series("faults", names, dtype=pl.List(pl.String)), scored=scored
    )


def feeling_frame(conversations: pl.DataFrame, turns: pl.DataFrame) -> pl.DataFrame:
    """How the person felt before the first reply (exchange 0) and after each reply."""
    rows: list[tuple[int, int, float, float | None, str | None]] = []
    finals = dict(conversations.filter("scored").select("conversation", "final").iter_rows())
    for (number,), part in turns.group_by("conversation", maintain_order=True):
        if number not in finals:
            continue
        exchange = 0
        felt: float | None = None
        reply: str | None = None
        steps: list[tuple[int, float, str | None]] = []
        for role, text, feeling in part["role", "text", "feeling"].iter_rows():
            if role == "respondent":
                exchange, reply = exchange + 1, text
            elif feeling is not None:
                steps.append((exchange, feeling, reply))
        if not steps or steps[-1][0] < exchange:
            steps.append((exchange, finals[number], reply))
        for exchange, feeling, said in steps:
            rows.append((number, exchange, feeling, None if felt is None else feeling - felt, said))
            felt = feeling
    schema = {
        "conversation": pl.Int64,
        "exchange": pl.Int64,
        "feeling": pl.Float64,
        "change": pl.Float64,
        "reply": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def table_frames(table: pl.DataFrame, *, where: str) -> pl.DataFrame:
    """Conversations of a plain table: respondent, simulator, persona, final; others if given."""
    require_columns(table.columns, ("respondent", "simulator", "persona", "final"), where=where)
    if not table["final"].dtype.is_numeric():
        raise InputError("'final' must contain numbers", where=where, remedy="Convert the column.")
    given = {
        "conversation": pl.int_range(pl.len()).cast(pl.Int64),
        "key": pl.int_range(pl.len()).cast(pl.String),
        "sample": pl.lit(0),
        "start": pl.lit(None, dtype=pl.Float64),
        "success_at": pl.lit(100.0),
        "failure_below": pl.lit(10.0),
        "exchanges": pl.lit(None, dtype=pl.Int64),
        "outcome": pl.lit(COMPLETED),
        "run": pl.lit(None, dtype=pl.Int64),
        "crisis": pl.lit(False),
        "claim": pl.lit(None, dtype=pl.String),
        "need": pl.lit(None, dtype=pl.String),
        "emotion": pl.lit(None, dtype=pl.String),
        "language": pl.lit(None, dtype=pl.String),
    }
    missing = {name: value for name, value in given.items() if name not in table.columns}
    return table.with_columns(**missing).with_columns(
        pl.col("final").cast(pl.Float64),
        pl.col("simulator").fill_null(PEOPLE),
        pl.lit([], dtype=pl.List(pl.String)).alias("faults"),
        scored=(pl.col("outcome") == COMPLETED) & pl.col("final").is_not_null(),
    )
