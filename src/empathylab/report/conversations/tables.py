"""The numbers of conversations as people read them."""

from __future__ import annotations

from typing import Any

from empathylab.analysis.conversations import ConversationsAnalysis
from empathylab.analysis.text.numbers import number, p_value, percent, signed

Rows = tuple[dict[str, Any], ...]

_SAFETY = {
    "claim_agreed": "confirmed the person's false or harmful claim",
    "claim_questioned": "questioned the claim",
    "crisis_concern": "at risk: showed concern",
    "crisis_help_offered": "at risk: offered help (simulator)",
    "crisis_help_named": "at risk: named help (word list)",
    "crisis_harmful": "at risk: encouraged harm",
}


def respondent_table(result: ConversationsAnalysis) -> Rows:
    """One row per respondent and simulator; how many are scored only where some are not."""
    pairs = result.conversations.select("respondent", "simulator").rows()
    unscored = len(pairs) > sum(respondent.n for respondent in result.respondents)
    return tuple(
        {
            "respondent": respondent.respondent,
            "simulator": respondent.simulator,
            "conversations": number(pairs.count((respondent.respondent, respondent.simulator)), 0),
            **({"scored": number(respondent.n, 0)} if unscored else {}),
            "mean final feeling": number(respondent.mean_final),
            "95% from": number(respondent.low),
            "to": number(respondent.high),
            "success": number(respondent.success, 0),
            "failure": number(respondent.failure, 0),
            "replies": number(respondent.turns_mean),
        }
        for respondent in result.respondents
    )


def outcome_table(result: ConversationsAnalysis) -> Rows:
    """What became of all conversations."""
    names = list(
        dict.fromkeys(name for respondent in result.respondents for name in respondent.outcomes)
    )
    return tuple(
        {
            "respondent": respondent.respondent,
            "simulator": respondent.simulator,
            **{
                name.replace("_", " "): number(respondent.outcomes.get(name, 0), 0)
                for name in names
            },
        }
        for respondent in result.respondents
    )


def comparison_table(result: ConversationsAnalysis) -> Rows:
    """Pairs of respondents, and of simulators."""
    return tuple(
        {
            "conversations with": comparison.respondent,
            "simulator": comparison.simulator,
            "minus those with": comparison.reference,
            "and simulator": comparison.reference_simulator,
            "difference": signed(comparison.difference.estimate),
            "95% from": signed(comparison.difference.low),
            "to": signed(comparison.difference.high),
            "p (Holm)": p_value(comparison.p_holm),
            "personas": number(comparison.difference.n, 0),
            "paired": "yes" if comparison.difference.paired else "no",
        }
        for comparison in result.comparisons
    )


def effect_table(result: ConversationsAnalysis) -> Rows:
    """What single replies do."""
    return tuple(
        {
            "respondent": row["respondent"],
            "simulator": row["simulator"],
            "replies": number(row["replies"], 0),
            "mean change": signed(row["mean_change"]),
            "raised": percent(row["raised"]),
            "lowered": percent(row["lowered"]),
            "unchanged": percent(row["unchanged"]),
        }
        for row in result.tables["effects"].to_dicts()
    )


def safety_table(result: ConversationsAnalysis) -> Rows:
    """Claims and personas at risk."""
    return tuple(
        {
            "respondent": row["respondent"],
            "simulator": row["simulator"],
            "conversations in which a reply …": _SAFETY[row["measure"]],
            "count": f"{row['count']} of {row['n']}",
            "proportion": percent(row["proportion"]),
            "95% from": percent(row["low"]),
            "to": percent(row["high"]),
        }
        for row in result.tables["safety"].to_dicts()
    )


def need_table(result: ConversationsAnalysis) -> Rows:
    """Needs, met at the end or not."""
    return tuple(
        {
            "respondent": row["respondent"],
            "simulator": row["simulator"],
            "need": row["need"],
            "met": f"{row['met']} of {row['n']}",
            "partly": number(row["partly"], 0),
            "proportion": percent(row["proportion"]),
        }
        for row in result.tables["needs"].to_dicts()
    )


def style_table(result: ConversationsAnalysis) -> Rows:
    """Questions, advice and repetition in the course of conversations."""
    return tuple(
        {
            "respondent": row["respondent"],
            "simulator": row["simulator"],
            "asks in first reply": percent(row["question_in_first_reply"]),
            "advises in first reply": percent(row["advice_in_first_reply"]),
            "first advice (median reply)": number(row["first_advice_median"], 0),
            "never advises": percent(row["never_advises"]),
            "repeated 4-word phrases": percent(row["repeated_phrases"]),
        }
        for row in result.tables["style"].to_dicts()
    )


def style_by_turn_table(result: ConversationsAnalysis) -> Rows:
    """How both sides write in each turn; tactics where any conversation is in English."""
    found = result.tables["style_by_turn"].to_dicts()
    english = any(row["advice"] is not None for row in found)
    return tuple(
        {
            "respondent": row["respondent"],
            "simulator": row["simulator"],
            "written by": "person" if row["role"] == "person" else "respondent",
            "after replies": number(row["exchange"] - (row["role"] == "respondent"), 0),
            "messages": number(row["turns"], 0),
            "words": number(row["words_mean"]),
            "asks a question": percent(row["asks_question"]),
            **({"advises": percent(row["advice"])} if english else {}),
            **({"validates": percent(row["validation"])} if english else {}),
            "repeated 4-word phrases": percent(row["repeated_phrases"]),
        }
        for row in found
    )


def simulator_table(result: ConversationsAnalysis) -> Rows:
    """Whether each simulator can play a person."""
    return tuple(
        {
            "simulator": card.simulator,
            "verdict": card.verdict,
            "stayed in its role": f"{card.usable} of {card.conversations}",
            "attentive minus cold listener": signed(card.control.estimate) if card.control else "–",
            "95% from": signed(card.control.low) if card.control else "–",
            "to": signed(card.control.high) if card.control else "–",
            "personas": number(card.control.n, 0) if card.control else "–",
        }
        for card in result.cards
    )


def turning_point_table(result: ConversationsAnalysis) -> Rows:
    """The replies that changed the feeling most."""
    return tuple(
        {
            "respondent": row["respondent"],
            "simulator": row["simulator"],
            "persona": row["persona"],
            "reply": number(row["exchange"], 0),
            "change": signed(row["change"]),
            "text": _short(row["reply"] or ""),
        }
        for row in result.tables["turning_points"].to_dicts()
    )


def _short(text: str, most: int = 140) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]}…"
