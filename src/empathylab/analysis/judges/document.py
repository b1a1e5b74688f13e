"""The judges' cards as plain values: what `analyze judges --json` prints."""

from __future__ import annotations

import math
from typing import Any

from empathylab.analysis.judges.analysis import JudgesAnalysis
from empathylab.analysis.judges.cards import JudgeBias, JudgeCard
from empathylab.analysis.judges.prose import good_for, not_for, reasons
from empathylab.stats.agreement import Coefficient
from empathylab.stats.judges.calibration import Measured
from empathylab.stats.judges.preference_agreement import Agreeing


def judges_document(analysis: JudgesAnalysis) -> dict[str, Any]:
    """Everything, unrounded; null where a figure is not defined."""
    return {
        "study": analysis.study or None,
        "judges": [card_row(one) for one in analysis.cards],
        "notes": list(analysis.notes),
    }


def card_row(card: JudgeCard) -> dict[str, Any]:
    """One card as plain values."""
    row: dict[str, Any] = {
        "judge": card.judge,
        "dimension": card.dimension,
        "n": card.n,
        "n_ratings": card.n_ratings,
        "n_situations": card.n_situations,
        "n_people": card.n_people,
        "respondents": list(card.respondents),
        **_coefficient("weighted_kappa", card.weighted_kappa),
        **_coefficient("weighted_kappa_ranks", card.weighted_kappa_ranks),
        **_coefficient("spearman", card.spearman),
        "spearman_within": plain(card.spearman_within),
        "spearman_within_low": plain(card.spearman_within_low),
        "people_kappa": plain(card.people_kappa),
        "judge_person_kappa": plain(card.judge_person_kappa),
        "alt_test": _test(card),
        "bias": {one.name: bias_row(one) for one in card.biases},
    }
    if card.members:
        row["panel"] = {
            "members": list(card.members),
            "own_family": {member: list(names) for member, names in card.kin},
        }
    row["bias"]["emotion"] = [bias_row(one) for one in card.emotions]
    return row | {
        "stability": _stability(card),
        "same_over_orders": plain(card.same_over_orders),
        "preferences": _preferences(card),
        "calibration": _calibration(card),
        "confusion": card.confusion
        and {
            "categories": list(card.confusion.categories),
            "people_by_judge": [list(one) for one in card.confusion.counts],
        },
        "decision": card.decision,
        "verdict": card.verdict,
        "reasons": list(reasons(card)),
        "good_for": list(good_for(card)),
        "not_for": list(not_for(card)),
    }


def bias_row(bias: JudgeBias) -> dict[str, Any]:
    """One bias as plain values."""
    row: dict[str, Any] = {"about": bias.about} if bias.about else {}
    for name in ("estimate", "low", "high", "p", "p_corrected"):
        row[name] = plain(getattr(bias, name))
    return row | {"n": bias.n, "found": bias.found, "note": bias.note or None}


def plain(value: float) -> float | None:
    """The number, or null where it is none."""
    return value if math.isfinite(value) else None


def _coefficient(name: str, one: Coefficient) -> dict[str, Any]:
    return {
        name: plain(one.estimate),
        f"{name}_low": plain(one.low),
        f"{name}_high": plain(one.high),
    }


def _test(card: JudgeCard) -> dict[str, Any]:
    test = card.alt_test
    row: dict[str, Any] = {"winning_rate": None, "epsilon": card.epsilon, "passes": None}
    if test is None or not test.comparisons:
        return row | {"note": card.untested}
    return row | {
        "winning_rate": plain(test.winning_rate),
        "passes": test.passes,
        "people_are": card.people_are,
        "advantage": plain(test.advantage),
        "advantage_low": plain(test.advantage_low),
        "advantage_high": plain(test.advantage_high),
        "smallest_epsilon": plain(test.smallest_epsilon),
        "constant_passes": card.constant_passes,
        "over_constant": card.over_constant and _measured(card.over_constant),
        "n": test.n,
        "left_out": list(test.left_out),
        "comparisons": [
            {
                "rater": one.rater,
                "n": one.n,
                "advantage": plain(one.advantage),
                "person_advantage": plain(one.person_advantage),
                "p": plain(one.p),
                "p_corrected": plain(one.p_corrected),
                "judge_wins": one.judge_wins,
            }
            for one in test.comparisons
        ],
        "note": test.note or None,
    }


def _stability(card: JudgeCard) -> dict[str, Any] | None:
    steady = card.stability
    if steady is None:
        return None
    return {
        **_coefficient("alpha", steady.alpha),
        "same": steady.same,
        "sd": plain(steady.sd),
        "responses": steady.responses,
        "repeats": steady.repeats,
        "scale_turned": steady.turned,
    }


def _preferences(card: JudgeCard) -> dict[str, Any] | None:
    found = card.preferences
    if found is None:
        return None
    return {
        "choices": _agreeing(found.choices),
        "consistent": _agreeing(found.consistent),
        "ties": found.ties,
        "inconsistent_pairs": found.inconsistent,
        "people_even": found.even,
        "people_unrated": found.unrated,
    }


def _agreeing(one: Agreeing) -> dict[str, Any]:
    return {"agree": plain(one.share), "low": plain(one.low), "high": plain(one.high), "n": one.n}


def _calibration(card: JudgeCard) -> dict[str, Any] | None:
    if card.curve is None or card.map is None:
        return None
    scores = card.scores
    return {
        "mean_difference": _measured(card.curve.bias),
        "slope": _measured(card.curve.slope),
        "points": [
            {"judge": one.judge, "people": _measured(one.people), "n": one.n}
            for one in card.curve.points
        ],
        "map": {
            "categories": list(card.map.categories),
            "at": list(card.map.at),
            "shares": card.map.shares(card.map.at).tolist(),
        },
        "skill": scores and plain(scores.skill),
        "gain": scores and _measured(scores.gain),
    }


def _measured(one: Measured) -> dict[str, float | None]:
    return {"estimate": plain(one.estimate), "low": plain(one.low), "high": plain(one.high)}
