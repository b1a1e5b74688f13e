"""The analysis of conversations: one result, whatever their source."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.cache import cached
from empathylab.analysis.conversations.estimates import (
    Comparison,
    RespondentResult,
    comparisons,
    respondent_results,
)
from empathylab.analysis.conversations.frames import (
    PEOPLE,
    feeling_frame,
    lab_frames,
    table_frames,
)
from empathylab.analysis.conversations.measures import (
    curve_rows,
    effect_rows,
    need_rows,
    safety_rows,
    turning_points,
)
from empathylab.analysis.conversations.people import PeopleCard, people_cards
from empathylab.analysis.conversations.prose import (
    caveats,
    comparison_conclusions,
    model_conclusions,
    people_conclusions,
    score_conclusions,
    simulator_conclusions,
)
from empathylab.analysis.conversations.simulator_cards import SimulatorCard, simulator_cards
from empathylab.analysis.conversations.simulators import (
    ConversationModel,
    SimulatorSensitivity,
    conversation_model,
    simulator_sensitivity,
)
from empathylab.analysis.conversations.turn_style import (
    style_by_conversation,
    style_by_turn,
    turn_features,
)
from empathylab.analysis.json_values import finite, picked
from empathylab.analysis.results import (
    Conclusion,
    ModelChoice,
    Result,
    row_frames,
)
from empathylab.errors import InputError
from empathylab.protocols.converse.controls import CONTROLS
from empathylab.store import Lab
from empathylab.store.conversations import has_conversations

_NO_TURNS = {
    "conversation": pl.Int64,
    "position": pl.Int64,
    "role": pl.String,
    "text": pl.String,
    "feeling": pl.Float64,
    "state": pl.String,
}


@dataclass(frozen=True)
class ConversationsAnalysis(Result):
    """What conversations show about respondents, and how far it depends on the simulator."""

    main_table: ClassVar[str] = "respondents"
    conversations: pl.DataFrame
    turns: pl.DataFrame
    feelings: pl.DataFrame
    respondents: tuple[RespondentResult, ...]
    comparisons: tuple[Comparison, ...]
    simulators: SimulatorSensitivity
    cards: tuple[SimulatorCard, ...]
    mixed: ConversationModel | None
    confidence: float
    unvalidated: bool
    """Whether personas took part that are not validated."""
    people: tuple[PeopleCard, ...] = ()
    """Simulators compared with people's ratings of the same transcripts."""

    @property
    def design(self) -> Mapping[str, Any]:
        frame = self.conversations
        return {
            "conversations": frame.height,
            "scored": frame.filter("scored").height,
            "respondents": frame["respondent"].n_unique(),
            "simulators": list(self.simulators.names),
            "personas": frame["persona"].n_unique(),
            "paired_by_persona": any(
                comparison.difference.paired for comparison in self.comparisons
            ),
        }

    @property
    def failed_simulators(self) -> Mapping[str, SimulatorCard]:
        """Those that cannot simulate a person: no result with them means anything."""
        return {
            card.simulator: card
            for card in self.cards
            if card.verdict == "cannot simulate a person"
        }

    @property
    def model(self) -> ModelChoice | None:
        if self.mixed is None:
            return ModelChoice(
                name="t intervals over personas",
                reason="one conversation per respondent, simulator and persona, one simulator",
            )
        return ModelChoice(
            name="linear mixed model",
            formula=self.mixed.formula,
            reason=self.mixed.reason,
            dropped=self.mixed.dropped,
        )

    @cached_property
    def conclusions(self) -> Sequence[Conclusion]:
        return (
            *score_conclusions(self.respondents),
            *comparison_conclusions(self.comparisons),
            *model_conclusions(self.mixed, self.simulators.names),
            *simulator_conclusions(self.simulators),
            *people_conclusions(self.people),
        )

    @cached_property
    def caveats(self) -> Sequence[str]:
        return (
            *(card.sentence for card in self.cards if card.verdict != "reacts to replies"),
            *caveats(
                self.respondents,
                self.simulators,
                self.mixed,
                unvalidated=self.unvalidated,
                compared=bool(self.people),
            ),
        )

    @cached_property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        features = turn_features(self.conversations, self.turns)
        rows = {
            "respondents": self._respondent_rows(),
            "comparisons": self._comparison_rows(),
            "curves": curve_rows(self.conversations, self.feelings, confidence=self.confidence),
            "effects": effect_rows(self.conversations, self.feelings),
            "turning_points": turning_points(self.conversations, self.feelings),
            "needs": need_rows(self.conversations, self.turns),
            "safety": safety_rows(self.conversations, self.turns),
            "style_by_turn": style_by_turn(features),
            "style": style_by_conversation(features),
        }
        return row_frames({name: _flat(part) for name, part in rows.items()})

    def to_dict(self) -> dict[str, Any]:
        named = ("curves", "effects", "turning_points", "needs", "safety", "style", "style_by_turn")
        return {
            "respondents": self._respondent_rows(),
            "simulators": self._simulator_document(),
            "comparisons": self._comparison_rows(),
            "simulator_cards": [card.to_dict() for card in self.cards],
            "people_cards": [card.to_dict() for card in self.people],
            **self.stated(),
            "design": dict(self.design),
            "model": self.model.to_dict() if self.model else None,
            **{name: self.tables[name].to_dicts() for name in named},
        }

    def with_ratings(
        self, ratings: pl.DataFrame, *, scale: tuple[float, float], where: str = "ratings"
    ) -> ConversationsAnalysis:
        """The same with people's ratings of the transcripts beside the simulated feelings."""
        cards = people_cards(
            self.conversations,
            self.feelings,
            ratings,
            scale=scale,
            where=where,
            confidence=self.confidence,
        )
        return dataclasses.replace(self, people=tuple(cards))

    def transcripts(self) -> pl.DataFrame:
        """Every turn: conversation, turn, speaker, text, emotion, and who talked with whom."""
        known = self.conversations.select("conversation", "respondent", "simulator", "persona")
        return self.turns.join(known, on="conversation").select(
            "conversation",
            pl.col("position").alias("turn") + 1,
            pl.col("role").alias("speaker"),
            "text",
            pl.col("feeling").alias("emotion"),
            "respondent",
            "simulator",
            "persona",
        )

    def _respondent_rows(self) -> list[dict[str, Any]]:
        return [
            picked(
                respondent,
                "respondent simulator n mean_final low high success failure turns_mean outcomes "
                "success_at failure_below personas flagged mean_unflagged mean_with_faults",
            )
            for respondent in self.respondents
        ]

    def _simulator_document(self) -> dict[str, Any]:
        sensitivity = self.simulators
        return {
            "rank_correlation": finite(sensitivity.ranks.correlation),
            "rank_correlation_low": finite(sensitivity.ranks.low),
            "rank_correlation_high": finite(sensitivity.ranks.high),
            **picked(sensitivity, "variance_share names rankings"),
            "shared_respondents": list(sensitivity.shared),
        }

    def _comparison_rows(self) -> list[dict[str, Any]]:
        return [
            picked(comparison, "kind respondent reference simulator reference_simulator")
            | {"n": comparison.difference.n, "difference": finite(comparison.difference.estimate)}
            | picked(comparison.difference, "low high p")
            | {"p_holm": finite(comparison.p_holm), "paired": comparison.difference.paired}
            for comparison in self.comparisons
        ]


def _flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows for a frame: outcomes as text."""
    return [
        {
            name: ", ".join(f"{key} {count}" for key, count in value.items())
            if isinstance(value, dict)
            else value
            for name, value in row.items()
        }
        for row in rows
    ]


def from_lab(lab: Lab, *, confidence: float = 0.95, seed: int = 1) -> ConversationsAnalysis:
    """The analysis of all conversations in the lab, imported and own."""
    conversations, turns = lab_frames(lab)
    if not conversations.height:
        raise InputError(
            "the lab has no conversations",
            where=str(lab.folder),
            remedy="Run `empathylab converse MODEL --simulator MODEL`, or import some with "
            "`empathylab data import sage` or `empathylab data import conversations`.",
        )

    def analyse() -> ConversationsAnalysis:
        return _analysis(conversations, turns, confidence=confidence, seed=seed)

    return cached(lab, "conversations", [conversations, turns, confidence, seed], analyse)


def report_conversations(lab: Lab) -> ConversationsAnalysis | None:
    """The analysis for the report; None where the lab has no conversation."""
    return from_lab(lab) if has_conversations(lab) else None


def from_table(
    table: pl.DataFrame, *, where: str = "table", confidence: float = 0.95, seed: int = 1
) -> ConversationsAnalysis:
    """The analysis of a table of conversations: respondent, simulator, persona, final."""
    conversations = table_frames(table, where=where)
    turns = pl.DataFrame(schema=_NO_TURNS)
    return _analysis(conversations, turns, confidence=confidence, seed=seed)


def _analysis(
    conversations: pl.DataFrame, turns: pl.DataFrame, *, confidence: float, seed: int
) -> ConversationsAnalysis:
    cards = simulator_cards(conversations, confidence=confidence)
    conversations = conversations.filter(~pl.col("respondent").is_in(CONTROLS))
    scored = conversations.filter("scored")
    simulated = scored.filter(pl.col("simulator") != PEOPLE)
    return ConversationsAnalysis(
        conversations=conversations,
        turns=turns.join(conversations.select("conversation"), on="conversation"),
        feelings=feeling_frame(conversations, turns),
        respondents=tuple(respondent_results(conversations, confidence=confidence)),
        comparisons=tuple(comparisons(conversations, confidence=confidence)),
        simulators=simulator_sensitivity(simulated, seed=seed, confidence=confidence),
        cards=tuple(cards),
        mixed=conversation_model(simulated, confidence=confidence),
        confidence=confidence,
        unvalidated=bool(simulated.filter(pl.col("need").is_not_null()).height),
    )
