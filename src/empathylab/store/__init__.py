"""The lab's database: SQLite or PostgreSQL."""

from empathylab.store.frames import read_frame
from empathylab.store.lab import Lab, has_lab
from empathylab.store.lab_scales import lab_scale, lab_scales
from empathylab.store.lab_situations import lab_situation_set, lab_situation_sets
from empathylab.store.queries import (
    failures_frame,
    outcomes_frame,
    responses_frame,
    runs_frame,
    situation_sets_frame,
)
from empathylab.store.writing import (
    add_item_answers,
    add_respondent,
    add_scale,
    add_situation_set,
    hash_of,
    insert_new,
    insert_numbered,
    now,
)

__all__ = [
    "Lab",
    "add_item_answers",
    "add_respondent",
    "add_scale",
    "add_situation_set",
    "failures_frame",
    "has_lab",
    "hash_of",
    "insert_new",
    "insert_numbered",
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
