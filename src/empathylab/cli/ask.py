"""`empathylab ask`: the protocol of a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from empathylab.cli.options import JsonOption, ReportOption, RunOptions, with_run_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.models import Model
    from empathylab.runs import Plan
    from empathylab.store import Lab

EXAMPLE = "Example: `empathylab ask one-sentence local/smollm2 --setting situations=2`"


@with_run_options
def ask(
    protocol: Annotated[str, typer.Argument(help="The protocol's name; see `empathylab plugins`.")],
    model: Annotated[list[str], typer.Argument(help="provider/name, one or several.")],
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="A setting that the protocol understands; repeatable."
        ),
    ] = None,
    json: JsonOption = False,
    report: ReportOption = False,
    *,
    run: RunOptions,
) -> None:
    """Asks models by the protocol of a plugin.

    An installed package offers protocols through the entry point `empathylab.protocols`. Runs
    resume, limits and costs are kept, and answers are stored as with the built-in protocols.
    """
    from empathylab.cli.model_runs import ask as carry_out
    from empathylab.cli.model_runs import conclude
    from empathylab.cli.summary import print_json, print_summary
    from empathylab.protocols.plugin_protocols import open_protocol

    plan = open_protocol(protocol)
    settings = _settings(setting or [])

    def plans(lab: Lab, asked: Model) -> Sequence[Plan]:
        return plan(lab, asked.name, settings)

    tallies, data, path = carry_out(model, plans, run, report=report)
    (print_json if json else print_summary)(data, tallies, path)
    conclude(tallies, run)


def _settings(given: list[str]) -> dict[str, str]:
    from empathylab.errors import InputError

    pairs = [entry.partition("=") for entry in given]
    for entry, (key, equals, _) in zip(given, pairs, strict=True):
        if not key or not equals:
            raise InputError(
                "a setting is written KEY=VALUE",
                where="--setting",
                got=entry,
                remedy="For example --setting situations=2.",
            )
    return {key: value for key, _, value in pairs}
