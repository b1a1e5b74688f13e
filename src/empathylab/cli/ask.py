"""`empathylab ask`: the protocol of a plugin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from empathylab.api.run_options import RunKeywords
from empathylab.cli.options import (
    JsonOption,
    ReportOption,
    argument,
    command_lab,
    option,
    with_run_options,
)
from empathylab.errors import InputError

EXAMPLE = "Example: `empathylab ask one-sentence local/smollm2 --setting situations=2`"


@with_run_options
def ask(
    protocol: Annotated[str, argument("The protocol's name; see `empathylab plugins`.")],
    model: Annotated[list[str], argument("provider/name, one or more.")],
    setting: Annotated[
        list[str] | None,
        option("A setting of the protocol; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    json: JsonOption = False,
    report: ReportOption = False,
    *,
    lab: Path,
    run: RunKeywords,
) -> None:
    """Runs a plugin's protocol with models.

    An installed package offers protocols through the entry point `empathylab.protocols`. Runs can
    be resumed, limits apply, and answers are stored as with the built-in protocols.
    """
    from empathylab.cli.model_runs import show

    settings = _settings(setting or [])
    with command_lab(lab) as opened:
        result = opened.ask(protocol, *model, settings=settings, report=report, **run)
    show(result, as_json=json)


def _settings(given: list[str]) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in given]
    for entry, (key, equals, _) in zip(given, pairs, strict=True):
        if not key or not equals:
            raise InputError(
                "a setting must be written as KEY=VALUE",
                where="--setting",
                got=entry,
                remedy="For example --setting situations=2.",
            )
    return {key: value for key, _, value in pairs}
