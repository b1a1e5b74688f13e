"""The lab's database: SQLite or PostgreSQL."""

from empathylab.store.lab import Lab, has_lab
from empathylab.store.queries import responses_frame, runs_frame
from empathylab.store.scales import lab_scale, lab_scales
from empathylab.store.situations import lab_situation_set, lab_situation_sets

__all__ = [
    "Lab",
    "has_lab",
    "lab_scale",
    "lab_scales",
    "lab_situation_set",
    "lab_situation_sets",
    "responses_frame",
    "runs_frame",
]
