"""The demonstration study: situations, replies and questions that ship, ready to be opened."""

from __future__ import annotations

from empathylab.study.demo.opening import demo_study, furnish_demo, open_demo
from empathylab.study.demo.replies import demo_release

__all__ = ["demo_release", "demo_study", "furnish_demo", "open_demo"]
