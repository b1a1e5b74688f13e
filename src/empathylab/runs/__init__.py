"""The resumable runner: many requests, every answer durable once."""

from empathylab.runs.batching import Batching
from empathylab.runs.limits import Limits
from empathylab.runs.plans import (
    Answered,
    Exchange,
    FollowUp,
    Interpreter,
    Plan,
    Reading,
    Request,
    Thread,
)
from empathylab.runs.runner import Job, require_price, run
from empathylab.runs.shards import Shard
from empathylab.runs.tally import Tally

__all__ = [
    "Answered",
    "Batching",
    "Exchange",
    "FollowUp",
    "Interpreter",
    "Job",
    "Limits",
    "Plan",
    "Reading",
    "Request",
    "Shard",
    "Tally",
    "Thread",
    "require_price",
    "run",
]
