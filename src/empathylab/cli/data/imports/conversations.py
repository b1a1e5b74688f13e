"""`empathylab data import sage` and `conversations`: talks of several turns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import show_rows
from empathylab.tables import key_values

SAGE_EXAMPLE = "Example: `empathylab data import sage results/`"
CONVERSATIONS_EXAMPLE = (
    "Example: `empathylab data import conversations talks.csv --respondent supporters`"
)


def sage(
    path: Annotated[
        Path,
        argument("A folder with <simulator>/<model>_result.jsonl, or one such file."),
    ],
    rename: Annotated[
        list[str] | None,
        option(
            "Another name for a model or a simulator, such as gpt-4o-0808=gpt-4o; repeatable.",
            metavar="OLD=NEW",
        ),
    ] = None,
    skip_invalid: Annotated[
        bool, option("Skip lines that cannot be read.", "--skip-invalid")
    ] = False,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports SAGE's result files: conversations, personas and the simulator's emotion points.

    The respondent is named after the file and the simulator after its folder. The personas can be
    played again: `empathylab converse MODEL --simulator MODEL --personas sage`.
    """
    from empathylab.store import Lab
    from empathylab.store.conversations import store_conversations
    from empathylab.store.imports.sage import read_sage, sage_files

    names = key_values(rename, option="--rename")
    # All are read before anything is stored, so that a broken file changes nothing.
    read = [
        read_sage(sage_file, names=names, skip_invalid=skip_invalid)
        for sage_file in sage_files(path)
    ]
    rows = []
    with Lab.open(lab) as opened:
        for item in read:
            change = store_conversations(opened, "sage", item.source, item.conversations)
            rows.append(
                {
                    "file": item.source,
                    "respondent": item.respondent,
                    "simulator": item.simulator,
                    "conversations": len(item.conversations),
                    "skipped": len(item.skipped),
                    "change": change,
                }
            )
    _print(rows, json)
    for entry in read:
        for line, reason in entry.skipped.items():
            typer.echo(f"{entry.source} line {line}: skipped, {reason}", err=True)


def conversations(
    path: Annotated[
        Path,
        argument(
            "A long table (conversation, turn, speaker, text, and optionally emotion, respondent, "
            "simulator, persona), a table with a column of transcripts, or a text file with lines "
            "that begin with 'Seeker:' and 'Supporter:'."
        ),
    ],
    respondent: Annotated[
        str | None, option("Who replied, if the file does not say. Default: the file's name.")
    ] = None,
    kind: Annotated[
        Literal["human", "model"], option("Whether people or a model replied.")
    ] = "human",
    simulator: Annotated[
        str | None, option("The model that played the person. Omit it for real people.")
    ] = None,
    language: Annotated[
        str | None, option("The language, such as en or zh; needed for some checks.")
    ] = None,
    success_at: Annotated[
        float | None,
        option("A conversation that ends at this emotion value or above is a success."),
    ] = None,
    failure_below: Annotated[
        float | None, option("A conversation that ends below this emotion value is a failure.")
    ] = None,
    speakers: Annotated[
        list[str] | None,
        option(
            "A speaker of the file, such as therapist=supporter; repeatable.",
            "--map",
            metavar="NAME=ROLE",
        ),
    ] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports conversations of your own or from a published file."""
    from empathylab.store import Lab
    from empathylab.store.conversations import store_conversations
    from empathylab.store.imports.conversation_files import (
        ConversationSource,
        read_conversations,
    )

    source = ConversationSource(
        respondent=respondent or path.stem,
        kind=kind,
        simulator=simulator,
        language=language,
        success_at=success_at,
        failure_below=failure_below,
        speakers=key_values(speakers, option="--map"),
    )
    read = read_conversations(path, source)
    with Lab.open(lab) as opened:
        change = store_conversations(opened, "conversations", path.name, read)
    row = {
        "file": path.name,
        "conversations": len(read),
        "turns": sum(len(item.turns) for item in read),
        "without_reply": sum(item.exchanges == 0 for item in read),
        "with_emotion": sum(item.final is not None for item in read),
        "change": change,
    }
    _print([row], json)
    if row["without_reply"]:
        typer.echo(
            f"{path.name}: conversations without a reply are kept and counted, but not scored "
            f"({row['without_reply']} of {row['conversations']}).",
            err=True,
        )


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    show_rows(rows, "files", as_json=as_json)
