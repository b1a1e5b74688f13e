"""Protocols that plugins bring: what a model is asked, planned by another package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from empathylab.errors import UnknownName
from empathylab.plugins import plugin_part, plugins, require_function
from empathylab.runs import Plan
from empathylab.store import Lab

PlanProtocol = Callable[[Lab, str, Mapping[str, str]], Sequence[Plan]]
"""What a package offers as `empathylab.protocols`: plans, of lab, respondent and settings."""


def open_protocol(name: str) -> PlanProtocol:
    """The plugin's function that plans the protocol."""
    if name not in plugins("protocols"):
        remedy = "Install a package that offers it; `empathylab plugins` lists them."
        raise UnknownName("protocol", name, plugins("protocols"), remedy=remedy)
    return plugin_part("protocols", name, protocol_plugin)


def protocol_plugin(name: str, part: PlanProtocol) -> PlanProtocol:
    """The plugin's function that plans; an error where it cannot be one."""
    require_function(name, part)
    return part
