"""What `inspect eval` and `inspect score` find by the names `empathylab/…`."""

from empathylab.inspect_tasks.model_api import empathylab_models
from empathylab.inspect_tasks.scorers import (
    conversation,
    judge,
    reply_checks,
    scale_change,
    scale_scores,
)
from empathylab.inspect_tasks.tasks import appraise, converse, respond

__all__ = [
    "appraise",
    "conversation",
    "converse",
    "empathylab_models",
    "judge",
    "reply_checks",
    "respond",
    "scale_change",
    "scale_scores",
]
