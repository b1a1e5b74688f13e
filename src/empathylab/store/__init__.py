"""The lab's database: SQLite or PostgreSQL."""

from empathylab.store.frames import read_frame
from empathylab.store.inserts import (
    add_item_answers,
    add_respondent,
    add_scale,
    add_situation_set,
    hash_of,
    insert_or_ignore,
    insert_returning_ids,
    now,
)
from empathylab.store.lab import Lab, has_lab
from empathylab.store.queries import (
    failures_frame,
    outcomes_frame,
    responses_frame,
    runs_frame,
    situation_sets_frame,
)
from empathylab.store.scales import lab_scale, lab_scales
from empathylab.store.situations import lab_situation_set, lab_situation_sets

__all__ = [
    "Lab",
    "add_item_answers",
    "add_respondent",
    "add_scale",
    "add_situation_set",
    "failures_frame",
    "has_lab",
    "hash_of",
    "insert_or_ignore",
    "insert_returning_ids",
    "lab_scale",
    "lab_scales",
    "lab_situation_set",
    "lab_situation_sets",
    "now",
    "outcomes_frame",
    "read_frame",
    "responses_frame",
    "runs_frame",
    "situation_sets_frame",
]
