"""Tables joined along their references, for queries that give names in place of numbers."""

from __future__ import annotations

from empathylab.store.schema import (
    arms,
    raters,
    ratings,
    respondents,
    responses,
    situation_sets,
    situations,
    studies,
)

RESPONSES = responses.join(respondents).join(situations).join(situation_sets)
"""Responses with who wrote them and to what."""
RATED = (
    ratings.join(raters)
    .join(studies)
    .join(responses)
    .join(respondents)
    .outerjoin(arms, arms.c.id == ratings.c.arm_id)
)
"""Ratings with who gave them in which study, whose response was rated, and its arm."""
RATINGS = RATED.join(situations).join(situation_sets)
"""The same, with what was responded to."""
SITUATION = (situation_sets.c.name.label("set"), situations.c.key.label("situation"))
"""A situation by name: its set and its id there."""
