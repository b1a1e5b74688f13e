"""Simulated raters: they walk a study's real pages over HTTP, and count in no result."""

from empathylab.study.bots.behaviours import BEHAVIOURS, Behaviour, mixed
from empathylab.study.bots.loopback import served
from empathylab.study.bots.reports import BlockReport, BotReport
from empathylab.study.bots.walking import Settings, walk

__all__ = [
    "BEHAVIOURS",
    "Behaviour",
    "BlockReport",
    "BotReport",
    "Settings",
    "mixed",
    "served",
    "walk",
]
