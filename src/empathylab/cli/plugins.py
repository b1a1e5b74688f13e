"""`empathylab plugins`: what installed packages add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from empathylab.cli.options import JsonOption
from empathylab.cli.tables import print_json, print_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

EXAMPLE = "Example: `empathylab plugins` · `empathylab plugins --json`"


def plugins(json: JsonOption = False) -> None:
    """Lists what installed packages add: models, scales, protocols, blocks, judges, exports.

    Each plugin is imported and checked. A broken plugin is listed with the reason. Other commands
    skip it, unless you ask for it by name.
    """
    from empathylab.plugins import GROUPS, BrokenPlugin, plugin_part
    from empathylab.plugins import plugins as installed

    readers, rows = _readers(), []
    for group in GROUPS:
        for plugin in installed(group).values():
            try:
                plugin_part(group, plugin.name, readers[group])
                problem = None
            except BrokenPlugin as error:
                problem = str(error.got)
            rows.append(
                {
                    "kind": group,
                    "name": plugin.name,
                    "package": plugin.package,
                    "version": plugin.version,
                    "target": plugin.target,
                    "problem": problem,
                }
            )
    if json:
        print_json({"plugins": rows})
    elif rows:
        print_rows(rows)
    else:
        typer.echo("No plugins are installed. How to write one: examples/plugin in the sources.")


def _readers() -> Mapping[str, Callable[[str, Any], object]]:
    """A function for each group that reads a plugin, or raises if it cannot be used."""
    from empathylab.export.folders import export_plugin
    from empathylab.judging.function_judges import judge_plugin
    from empathylab.models.registry import model_plugin
    from empathylab.protocols.plugin_protocols import protocol_plugin
    from empathylab.scales.definition import scale_plugin
    from empathylab.study.blocks.registry import block_plugin

    return {
        "models": model_plugin,
        "scales": scale_plugin,
        "protocols": protocol_plugin,
        "blocks": block_plugin,
        "judges": judge_plugin,
        "exports": export_plugin,
    }
