"""The result of validating judges against human ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from empathylab.analysis.json_values import interval_columns, json_value, picked, scalars
from empathylab.analysis.judges.cards import JudgeBias, JudgeCard
from empathylab.analysis.judges.prose import (
    good_for,
    not_for,
    reasons,
    verdict,
    verdict_sentence,
)
from empathylab.analysis.results import (
    Conclusion,
    Kind,
    ModelChoice,
    Result,
    row_frames,
)
from empathylab.analysis.text.notes import note_text
from empathylab.stats.judges.preference_agreement import Agreeing

_KINDS: Mapping[str, Kind] = {
    "may": "equivalent",
    "not": "inconclusive",
    "cannot tell": "inconclusive",
}


@dataclass(frozen=True, slots=True)
class JudgesResult(Result):
    """A card for each judge and dimension that people rated too."""

    main_table: ClassVar[str] = "judges"
    study: str
    """Empty for a table."""
    cards: tuple[JudgeCard, ...]
    notes: tuple[str, ...]
    """What was skipped, and why; a sentence each."""
    labels: Mapping[str, Mapping[float, str]] = field(default_factory=dict, hash=False)
    """By dimension the words for the points of its scale, where the study has them."""

    @property
    def design(self) -> Mapping[str, Any]:
        """Which judges were compared with how many people, on what."""
        return {
            "study": self.study or None,
            "judges": list(dict.fromkeys(card.judge for card in self.cards)),
            "dimensions": list(dict.fromkeys(card.dimension for card in self.cards)),
            "people": max((card.n_people for card in self.cards), default=0),
            "responses": max((card.n for card in self.cards), default=0),
            "people_are": self.cards[0].people_are if self.cards else None,
        }

    @property
    def model(self) -> ModelChoice | None:
        """The test behind the verdicts."""
        if not self.cards:
            return None
        card = self.cards[0]
        return ModelChoice(
            name="alternative annotator test",
            reason=f"ε = {card.epsilon:g}, because the people are treated as {card.people_are}.",
        )

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """Whether each judge can replace human raters, by dimension."""
        return tuple(_conclusion(card) for card in self.cards)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What was skipped, and why."""
        return self.notes

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The agreement of each judge with people, and the biases that were tested."""
        biases = [
            {"judge": card.judge, "dimension": card.dimension, "bias": bias.name} | _bias(bias)
            for card in self.cards
            for bias in (*card.biases, *card.emotions)
        ]
        return row_frames({"judges": [_flat(card) for card in self.cards], "biases": biases})

    def to_dict(self) -> dict[str, Any]:
        """What `analyze judges --json` prints."""
        return {
            "study": self.study or None,
            "judges": [card_dict(card) for card in self.cards],
            "notes": list(self.notes),
            **self.stated(),
        }


def _conclusion(card: JudgeCard) -> Conclusion:
    test = card.alt_test if card.alt_test is not None and card.alt_test.comparisons else None
    return Conclusion(
        kind=_KINDS[card.decision],
        sentence=verdict_sentence(card),
        subject=card.judge,
        reference="human raters",
        dimension=card.dimension,
        estimate=test.advantage if test else None,
        low=test.advantage_low if test else None,
        high=test.advantage_high if test else None,
        unit="proportion",
        n=card.n,
        model=f"alternative annotator test, ε = {card.epsilon:g}",
        basis=f"{card.n_ratings:,} ratings of {card.n:,} responses by {card.n_people:,} "
        f"{'people' if card.compared_with != 'recipients' else 'recipients'}",
        caveats=not_for(card),
    )


def _flat(card: JudgeCard) -> dict[str, Any]:
    """The card's figures without its lists."""
    test = card.alt_test
    rate = None if test is None else json_value(test.winning_rate)
    return scalars(card_dict(card)) | {"winning_rate": rate}


def card_dict(card: JudgeCard) -> dict[str, Any]:
    """One card as plain values."""
    row: dict[str, Any] = {
        **picked(card, "judge dimension n n_ratings n_situations n_people compared_with"),
        "respondents": list(card.respondents),
        **interval_columns("weighted_kappa", card.weighted_kappa),
        **interval_columns("weighted_kappa_ranks", card.weighted_kappa_ranks),
        **interval_columns("spearman", card.spearman),
        **picked(card, "spearman_within spearman_within_low people_kappa judge_person_kappa"),
        "alt_test": _test(card),
        "bias": {bias.name: _bias(bias) for bias in card.biases},
    }
    if card.members:
        row["panel"] = {
            "members": list(card.members),
            "own_family": {member: list(names) for member, names in card.own_families},
        }
    row["bias"]["emotion"] = [_bias(bias) for bias in card.emotions]
    return row | {
        "stability": _stability(card),
        "same_over_orders": json_value(card.same_over_orders),
        "preferences": _preferences(card),
        "calibration": _calibration(card),
        "confusion": card.confusion
        and {
            "categories": list(card.confusion.categories),
            "people_by_judge": [list(row) for row in card.confusion.counts],
        },
        "decision": card.decision,
        "verdict": verdict(card),
        "reasons": list(reasons(card)),
        "good_for": list(good_for(card)),
        "not_for": list(not_for(card)),
    }


def _bias(bias: JudgeBias) -> dict[str, Any]:
    """One bias as plain values."""
    row: dict[str, Any] = {"about": bias.about} if bias.about else {}
    row |= picked(bias, "estimate low high p p_corrected n found")
    return row | {"note": bias.note or None}


def _test(card: JudgeCard) -> dict[str, Any]:
    test = card.alt_test
    row: dict[str, Any] = {"winning_rate": None, "epsilon": card.epsilon, "passes": None}
    if test is None or not test.comparisons:
        return row | {"note": card.untested}
    return row | {
        "winning_rate": json_value(test.winning_rate),
        "passes": test.passes,
        "people_are": card.people_are,
        **picked(test, "advantage advantage_low advantage_high smallest_epsilon"),
        **picked(card, "constant_passes over_constant"),
        **picked(test, "n left_out comparisons"),
        "note": note_text(test.note) or None,
    }


def _stability(card: JudgeCard) -> dict[str, Any] | None:
    stability = card.stability
    if stability is None:
        return None
    return {
        **interval_columns("alpha", stability.alpha),
        **picked(stability, "same sd responses repeats"),
        "scale_turned": stability.turned,
    }


def _preferences(card: JudgeCard) -> dict[str, Any] | None:
    preferences = card.preferences
    if preferences is None:
        return None
    return {
        "choices": _agreeing(preferences.choices),
        "consistent": _agreeing(preferences.consistent),
        "ties": preferences.ties,
        "inconsistent_pairs": preferences.inconsistent,
        "people_even": preferences.even,
        "people_unrated": preferences.unrated,
    }


def _agreeing(choices: Agreeing) -> dict[str, Any]:
    return {"agree": json_value(choices.share), **picked(choices, "low high n")}


def _calibration(card: JudgeCard) -> dict[str, Any] | None:
    if card.curve is None or card.map is None:
        return None
    scores = card.scores
    return {
        "mean_difference": json_value(card.curve.bias),
        "slope": json_value(card.curve.slope),
        "points": [
            {"judge": point.judge, "people": json_value(point.people), "n": point.n}
            for point in card.curve.points
        ],
        "map": {
            "categories": list(card.map.categories),
            "at": list(card.map.at),
            "shares": card.map.shares(card.map.at).tolist(),
        },
        "skill": scores and json_value(scores.skill),
        "gain": scores and json_value(scores.gain),
    }
