"""The section on conversations: final feelings, curves, tables and some of the chats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.report.blocks import (
    Fold,
    Partial,
    Section,
    Table,
    Text,
    conclusions_fold,
    kept,
    slug,
)
from empathylab.report.conversations.figures import figures
from empathylab.report.conversations.tables import (
    comparison_table,
    effect_table,
    need_table,
    outcome_table,
    respondent_table,
    safety_table,
    simulator_table,
    style_by_turn_table,
    style_table,
    turning_point_table,
)

_MOST_CHATS = 24
_LONGEST = 2_000
_WIDTH, _HEIGHT, _EDGE, _LEFT = 220, 120, 8, 28


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


_ABOUT = (
    "A person talks with each respondent for several turns. After each reply the person's feeling "
    "is noted, from 0 (worst) to 100 (best). Where a model plays the person, the result applies to "
    "that simulator only."
)
_SHOWN = (
    "For each respondent and simulator, the best, a middle and the worst conversation, and one "
    "that could not be scored."
)


def conversations_section(result: ConversationsAnalysis | None, lead: Sequence[str]) -> Section:
    """The section; without blocks where the lab has no conversation."""
    if result is None:
        return Section(id="conversations", title="Conversations", blocks=())
    tables = {
        "comparisons": comparison_table(result),
        "outcomes": outcome_table(result),
        "effects of single replies": effect_table(result),
        "turning points": turning_point_table(result),
        "needs": need_table(result),
        "claims and safety": safety_table(result),
        "style in the course of conversations": style_table(result),
        "style by turn": style_by_turn_table(result),
    }
    chats = chosen_chats(result)
    left_out = result.conversations.height - len(chats)
    more = f" {left_out} more are in the lab." if left_out else ""
    blocks = kept(
        Text((_ABOUT,) if any(respondent.n for respondent in result.respondents) else ()),
        *figures(result),
        Table(
            title="Conversations by respondent and simulator",
            rows=respondent_table(result),
            caption=_thresholds(result),
            paper=False,
        ),
        Table(title="Can the simulators play a person?", rows=simulator_table(result), paper=False),
        Text(tuple(result.caveats), "caveats"),
        conclusions_fold("conversations", result.conclusions),
        *(
            Fold(
                id=f"conversations-{slug(title)}",
                title=title.capitalize(),
                blocks=(Table(title=f"Conversations, {title}", rows=rows, paper=False),),
            )
            for title, rows in tables.items()
            if rows
        ),
        Fold(
            id="conversations-chats",
            title="1 example" if len(chats) == 1 else f"{len(chats)} examples",
            blocks=kept(
                Text((f"{_SHOWN}{more}",), "note"), Partial(template="chats.html.j2", data=chats)
            )
            if chats
            else (),
        ),
    )
    return Section(id="conversations", title="Conversations", blocks=blocks, lead=lead)


def _thresholds(result: ConversationsAnalysis) -> str:
    """What counts as success and failure."""
    known = {
        (respondent.success_at, respondent.failure_below)
        for respondent in result.respondents
        if respondent.n and respondent.success is not None
    }
    if not known:
        return ""
    [(success, failure), *others] = known
    if others or success is None or failure is None:
        return "Success and failure are as each persona's rule says."
    return f"Success: a final feeling of {success:g} or more. Failure: below {failure:g}."


def chosen_chats(result: ConversationsAnalysis) -> tuple[Chat, ...]:
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
    step = (_WIDTH - _LEFT - _EDGE) / max(1, len(felt) - 1)
    high = _HEIGHT - 2 * _EDGE
    return tuple(
        (_LEFT + place * step, _EDGE + high * (1 - min(100.0, max(0.0, value)) / 100), value)
        for place, value in enumerate(felt)
    )
