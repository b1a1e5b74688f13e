"""`empathylab study add-arm`: a new model in a study that others were measured in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json, print_notes

EXAMPLE = (
    "Example: `empathylab study add-arm my-study --respondent openai/gpt-4o-mini`, "
    "then `empathylab study serve my-study`"
)


def add_arm(
    name: Annotated[str, argument("A study that ran here or was imported.", metavar="STUDY")],
    respondent: Annotated[str, option("Whose replies are rated, such as openai/gpt-4o-mini.")],
    arm: Annotated[
        str | None, option("The arm's name. Default: the respondent's name without its provider.")
    ] = None,
    prompt: Annotated[
        str | None,
        option(
            "Which replies, if the lab has the respondent's replies to several prompts.",
            metavar="NAME@VERSION",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        option(
            "The study's file. It says how people are recruited, and has the texts if the lab has "
            "only ratings.",
            metavar="STUDY.yaml",
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Adds an arm to a study: the same situations, scales and texts, with new raters.

    A closed study reopens for the new arm only. An imported study is launched in this lab with the
    new arm only. Raters must see exactly what earlier raters saw: the protocol's hash is checked.
    """
    from empathylab.store import Lab
    from empathylab.store.inserts import now
    from empathylab.study.added_arms.joining import add_arm as join
    from empathylab.study.design.reading import read_study

    definition = None if file is None else read_study(file)
    with Lab.open(lab, create=False) as opened:
        done = join(
            opened,
            name,
            respondent,
            now=now(),
            arm=arm,
            prompt=prompt,
            file=definition,
            who=operator(),
        )
    if json:
        print_json(done)
        return
    change = {
        "joined": "was added; the study continues with all arms that are not stopped",
        "reopened": "was added; the study is reopened for this arm only",
        "launched": "was added; the study is launched in this lab with this arm only",
        "unchanged": "already exists; nothing was changed",
    }[done.change]
    typer.echo(f"{done.study}: arm {done.arm} ({done.respondent}) {change}.")
    typer.echo(f"It needs {done.places:,} raters. Protocol {done.protocol_hash}.")
    print_notes(done.notes)
