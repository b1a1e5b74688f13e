"""The demonstration study: situations, replies and questions that ship, ready to be opened."""

from __future__ import annotations

from empathylab.study.demo.opening import demo_release, demo_study, furnish_demo, open_demo

__all__ = ["demo_release", "demo_study", "furnish_demo", "open_demo"]
