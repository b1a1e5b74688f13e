"""A measurement against a study as JSON: unrounded, null where there is no figure."""

from __future__ import annotations

import math
from typing import Any

from empathylab.analysis.benchmark.measurements import Against, Difference, Estimate
from empathylab.analysis.benchmark.prose import rests_on


def against_document(found: Against) -> dict[str, Any]:
    """All figures of one respondent and judge, with what they rest on."""
    head = found.headline
    return {
        "respondent": found.respondent,
        "judge": found.judge,
        "panel": list(found.members) or None,
        "study": found.study,
        "dimension": found.dimension,
        "basis": found.basis,
        "rests_on_judge_alone": found.basis == "judge",
        "rests_on": list(rests_on(found)),
        "calibration": {
            "study": found.study,
            "respondents": list(found.calibrated_on),
            "ratings": found.calibration_ratings,
            "people": found.calibration_people,
            "situations": found.calibration_situations,
            "ratings_without_judgement": found.calibration_missed,
        }
        if found.judge is not None
        else None,
        "transfer": {
            "beyond_calibration": head.beyond,
            "rules_out": head.rules_out,
            "typical_error": _number(head.typical_error),
            "errors": [
                {
                    "respondent": one.respondent,
                    "foretold": one.foretold,
                    "people": one.people,
                    "error": one.error,
                    "n": one.n,
                }
                for one in head.errors
            ],
        }
        if head.basis == "judge"
        else None,
        "estimates": [_estimate(one) for one in found.estimates],
        "differences": [_difference(one) for one in found.differences],
        "groups_left_out": found.left_out,
        "ratings_too_few": found.few,
        "situations": found.situations,
        "notes": list(found.notes),
    }


def _estimate(one: Estimate) -> dict[str, Any]:
    return {
        **_about(one),
        "estimate": _number(one.estimate),
        "low": _number(one.low),
        "high": _number(one.high),
        "if_like_the_others": _pair(one.like_low, one.like_high),
        "if_it_errs_alike": _pair(one.alike_low, one.alike_high),
        "beyond_calibration": one.beyond if one.basis == "judge" else None,
        "people_alone": _pair(one.people_low, one.people_high),
        "trust": _number(one.trust),
        "n_ratings": one.n_ratings,
        "n_judged": one.n_judged,
        "n_unjudged": one.unjudged,
        "typical_error": _number(one.typical_error),
        "note": one.note,
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {
        **_about(one),
        "from": one.other,
        "difference": _number(one.difference),
        "low": _number(one.low),
        "high": _number(one.high),
        "if_it_errs_alike": _pair(one.alike_low, one.alike_high),
        "n_other": one.other_n,
    }


def _about(one: Estimate | Difference) -> dict[str, Any]:
    return {
        "outcome": one.outcome.kind,
        "label": one.outcome.label,
        "level": one.group.level,
        "group": one.group.name or None,
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _pair(low: float, high: float) -> list[float] | None:
    return [low, high] if math.isfinite(low) and math.isfinite(high) else None
