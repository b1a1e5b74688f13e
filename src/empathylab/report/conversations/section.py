"""The conversations' part of the report: curves, tables, and some chats with their feelings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.report.appraisal.section import Figure
from empathylab.report.conversations.charts import curve_chart, final_chart
from empathylab.report.conversations.tables import (
    Rows,
    comparison_table,
    effect_table,
    need_table,
    outcome_table,
    respondent_table,
    safety_table,
    style_table,
    turning_point_table,
)

_MOST_CHATS = 24
_LONGEST = 2_000
_WIDTH, _HEIGHT, _EDGE = 220, 120, 8


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One message on the page."""

    role: str
    text: str
    feeling: float | None
    """Of the person, when they wrote it."""
    change: float | None
    """What the reply before it did."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation as the page shows it, with the feelings as points of a small curve."""

    id: str
    title: str
    outcome: str
    final: float | None
    turns: tuple[ChatTurn, ...]
    points: tuple[tuple[float, float, float], ...]
    """x and y in the picture, and the feeling."""
    described: str

    @property
    def line(self) -> str:
        """The points as an SVG polyline takes them."""
        return " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in self.points)


@dataclass(frozen=True, slots=True)
class ConversationSection:
    """What the page shows of conversations."""

    sentences: tuple[str, ...]
    caveats: tuple[str, ...]
    respondents: Rows
    tables: tuple[tuple[str, Rows], ...]
    """Each with its title."""
    chats: tuple[Chat, ...]
    left_out: int
    """Conversations that are not shown as chats."""
    figures: tuple[Figure, ...]
    specs: tuple[dict[str, Any], ...]


def conversation_section(result: ConversationsAnalysis | None) -> ConversationSection:
    """The section; empty where the lab holds no conversation."""
    if result is None:
        return ConversationSection((), (), (), (), (), 0, (), ())
    figures, specs = _figures(result)
    tables = {
        "comparisons": comparison_table(result),
        "outcomes": outcome_table(result),
        "effects of single replies": effect_table(result),
        "turning points": turning_point_table(result),
        "needs": need_table(result),
        "claims and safety": safety_table(result),
        "style in the course of conversations": style_table(result),
    }
    chats = _chats(result)
    return ConversationSection(
        sentences=tuple(str(one) for one in result.conclusions),
        caveats=tuple(result.caveats),
        respondents=respondent_table(result),
        tables=tuple((title, rows) for title, rows in tables.items() if rows),
        chats=chats,
        left_out=result.conversations.height - len(chats),
        figures=figures,
        specs=specs,
    )


def _figures(
    result: ConversationsAnalysis,
) -> tuple[tuple[Figure, ...], tuple[dict[str, Any], ...]]:
    drawn: dict[str, dict[str, Any] | None] = {
        "Final feeling by respondent and simulator": final_chart(result.tables["respondents"])
    }
    curves = result.tables["curves"]
    for simulator in curves["simulator"].unique(maintain_order=True) if curves.height else ():
        title = f"Feeling in the course of conversations, simulator {simulator}"
        drawn[title] = curve_chart(curves.filter(simulator=simulator))
    figures: list[Figure] = []
    specs: list[dict[str, Any]] = []
    for title, spec in drawn.items():
        if spec is not None:
            caption = "Mean with 95% interval over personas; ended conversations keep their value."
            figures.append(Figure("conversations", title, len(specs), caption))
            specs.append(spec)
    return tuple(figures), tuple(specs)


def _chats(result: ConversationsAnalysis) -> tuple[Chat, ...]:
    """Of each respondent and simulator the best, the middle and the worst conversation."""
    picked: list[dict[str, Any]] = []
    grouped = result.conversations.group_by("respondent", "simulator", maintain_order=True)
    for _, part in grouped:
        scored = part.filter("scored").sort("final", "conversation", descending=[True, False])
        places = sorted({0, scored.height // 2, scored.height - 1}) if scored.height else []
        picked += [scored.row(place, named=True) for place in places]
        failed = part.filter(~pl.col("scored"))
        picked += failed.head(1).to_dicts()
    turns = result.turns.partition_by("conversation", as_dict=True)
    return tuple(
        _chat(row, turns[row["conversation"],], number)
        for number, row in enumerate(picked[:_MOST_CHATS], start=1)
        if (row["conversation"],) in turns
    )


def _chat(row: dict[str, Any], turns: pl.DataFrame, number: int) -> Chat:
    shown: list[ChatTurn] = []
    felt: list[float] = []
    before: float | None = None
    for role, text, feeling in turns.sort("position")["role", "text", "feeling"].iter_rows():
        change = None if feeling is None or before is None else feeling - before
        before = feeling if feeling is not None else before
        if feeling is not None:
            felt.append(feeling)
        cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        shown.append(ChatTurn(role, cut, feeling, change))
    if row["final"] is not None and turns.sort("position")["role"][-1] == "respondent":
        felt.append(row["final"])
    title = f"{row['respondent']} with {row['persona']} (simulator {row['simulator']})"
    return Chat(
        id=f"chat-{number}",
        title=title,
        outcome=str(row["outcome"]).replace("_", " "),
        final=row["final"],
        turns=tuple(shown),
        points=_points(felt),
        described="Feeling from first to last: " + ", ".join(f"{value:g}" for value in felt),
    )


def _points(felt: list[float]) -> tuple[tuple[float, float, float], ...]:
    step = (_WIDTH - 2 * _EDGE) / max(1, len(felt) - 1)
    high = _HEIGHT - 2 * _EDGE
    return tuple(
        (_EDGE + place * step, _EDGE + high * (1 - min(100.0, max(0.0, value)) / 100), value)
        for place, value in enumerate(felt)
    )
