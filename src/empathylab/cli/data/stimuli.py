"""`empathylab data stimuli`: transcripts that people can rate in a study."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

EXAMPLE = "Example: `empathylab data stimuli talks --unit turn`"


def stimuli(
    name: Annotated[str, typer.Argument(help="The id of the set that a study file names.")],
    unit: Annotated[
        Literal["conversation", "turn"],
        typer.Option(help="Whole conversations, or each reply with the chat before it."),
    ] = "conversation",
    respondent: Annotated[
        list[str] | None, typer.Option(help="Only conversations with this one; repeatable.")
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Turns scored conversations into a set of situations with replies, for a rated study.

    Once people have rated them, `empathylab analyze conversations --study STUDY` compares the
    simulated feelings with their ratings.
    """
    from pathlib import Path

    from empathylab.analysis.conversations import from_lab
    from empathylab.analysis.conversations.stimuli import transcript_release
    from empathylab.cli.data.imports.options import own_set_id
    from empathylab.cli.tables import print_rows
    from empathylab.store import Lab
    from empathylab.store.imports.releases import import_release
    from empathylab.store.inserts import hash_of

    with Lab.open(lab, create=False) as opened:
        release = transcript_release(
            from_lab(opened),
            name=own_set_id(name, Path(name)),
            unit=unit,
            respondents=respondent or (),
        )
        fingerprint = hash_of(
            [release.situation_set.fingerprint, [[*one.key, one.text] for one in release.replies]]
        )
        done = import_release(
            opened,
            release,
            kind="stimuli",
            source=name,
            fingerprint=fingerprint,
            replace=True,
        )
    row = {
        "set": done.situation_set,
        "version": done.version,
        "situations": len(release.situation_set),
        "responses": len(release.replies),
        "change": done.change,
    }
    print_rows([row], "stimuli", as_json=json)
