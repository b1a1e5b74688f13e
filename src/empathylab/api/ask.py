"""The protocols of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from empathylab.api.run_options import RunKeywords, RunOptions
from empathylab.api.workspace import Workspace

if TYPE_CHECKING:
    from empathylab.api.run_results import RunResult
    from empathylab.models import Model


def ask(
    workspace: Workspace,
    protocol: str,
    *models: str | Model,
    settings: Mapping[str, str] | None = None,
    report: bool = False,
    **options: Unpack[RunKeywords],
) -> RunResult:
    """Runs a plugin's protocol with models and the protocol's settings."""
    from empathylab.protocols.plugin_protocols import open_protocol

    plans = open_protocol(protocol)
    run = RunOptions.of(options)
    return workspace.ask(
        models, lambda lab, name: plans(lab, name, settings or {}), run, report=report
    )
