"""`empathylab data import`: published files and users' own situations into the lab."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.data import import_conversations, import_rated, import_study
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.store.imports.files import ImportedFile

app = typer.Typer(
    no_args_is_help=True,
    help="Bring files into the lab.",
    epilog="Example: `empathylab data import situations mine.csv`",
)
app.command("welivita", epilog=import_rated.WELIVITA_EXAMPLE)(import_rated.welivita)
app.command("empatheticdialogues", epilog=import_rated.DIALOGUES_EXAMPLE)(
    import_rated.empatheticdialogues
)
app.command("posts", epilog=import_rated.POSTS_EXAMPLE)(import_rated.posts)
app.command("responses", epilog=import_rated.RESPONSES_EXAMPLE)(import_rated.responses)
app.command("ratings", epilog=import_rated.RATINGS_EXAMPLE)(import_rated.ratings)
app.command("study", epilog=import_study.EXAMPLE)(import_study.study)
app.command("sage", epilog=import_conversations.SAGE_EXAMPLE)(import_conversations.sage)
app.command("conversations", epilog=import_conversations.CONVERSATIONS_EXAMPLE)(
    import_conversations.conversations
)


@app.command(
    "emotionbench", epilog="Example: `empathylab data import emotionbench ~/src/EmotionBench`"
)
def emotionbench(
    path: Annotated[Path, typer.Argument(help="A folder, a checkout or one file.")],
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports EmotionBench's files: situations, questionnaires, results, people.

    Result files of any model and any scale are taken. What is already there changes nothing.
    """
    from empathylab.store import Lab
    from empathylab.store.imports.emotionbench import import_emotionbench

    with Lab.open(lab) as opened:
        print_imported(import_emotionbench(opened, path), as_json=json)


@app.command(
    "situations", epilog="Example: `empathylab data import situations mine.csv --name mine`"
)
def situations(
    path: Annotated[
        Path,
        typer.Argument(
            help="A CSV, JSONL or Parquet file with the columns id, text, emotion (or topic), and "
            "if wanted valence, factor, topic, title, utterance, counterpart."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="The set's id; the file's name, if not given.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The set's title.")] = None,
    licence: import_rated.LicenceOption = "not stated",
    emotions: import_rated.MapOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports situations of your own; other texts under a known name become its next version."""
    from collections import Counter

    from empathylab.situations.emotions import (
        APPRAISAL_EMOTIONS,
        DIALOGUE_EMOTIONS,
        emotion_warnings,
    )
    from empathylab.situations.sources.tables import situations_from
    from empathylab.store import Lab
    from empathylab.store.imports.files import ImportedFile
    from empathylab.store.lab_situations import store_set
    from empathylab.tables import first_row, mapped, read_table

    chosen = situations_from(
        read_table(path),
        where=path.name,
        set_id=own_set_id(name, path),
        title=title or path.stem,
        licence=licence,
        emotions=dict(mapped(one, option="--map") for one in emotions or ()),
        first_row=first_row(path),
    )
    with Lab.open(lab) as opened, opened.writing() as connection:
        stored = store_set(connection, chosen)
    note = f"set {stored.situation_set.id}, version {stored.situation_set.version}"
    done = ImportedFile(path.name, "situations", stored.change, count=len(chosen), note=note)
    print_imported([done], as_json=json)
    counts = Counter(one.emotion for one in chosen if one.emotion)
    for sentence in emotion_warnings(counts, {*APPRAISAL_EMOTIONS, *DIALOGUE_EMOTIONS}):
        typer.echo(sentence, err=True)


def own_set_id(name: str | None, path: Path) -> str:
    """The id of a set of the user's own: as named, or after the file."""
    set_id = name or slug(path.stem)
    _refuse_builtin(set_id, path.name)
    return set_id


def slug(stem: str) -> str:
    import re

    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or "situations"


def _refuse_builtin(set_id: str, where: str) -> None:
    from empathylab.errors import InputError
    from empathylab.situations import builtin_sets
    from empathylab.situations.sources.emotionbench import SET_ID, TESTED_ID

    if set_id in (*builtin_sets(), SET_ID, TESTED_ID):
        raise InputError(
            "this name belongs to another set",
            where=where,
            got=set_id,
            remedy="Give yours another with --name.",
        )


def print_imported(done: Sequence[ImportedFile], *, as_json: bool) -> None:
    """What became of each file; what could not be used is counted by reason."""
    from empathylab.cli.tables import print_rows

    if as_json:
        print_rows([dataclasses.asdict(one) for one in done], "files", as_json=True)
        return
    rows: list[dict[str, Any]] = [
        {
            "file": one.file,
            "holds": one.holds,
            "change": one.change,
            "count": one.count or None,
            "respondent": one.respondent,
            "scale": one.scale,
            "invalid": sum(one.invalid.values()) if one.respondent else None,
        }
        for one in done
    ]
    print_rows(rows, "files", as_json=False)
    for one in done:
        for reason, count in {**one.invalid, **one.ignored}.items():
            kind = "administrations are invalid" if reason in one.invalid else "columns are ignored"
            typer.echo(f"{one.file}: {count} {kind}: {reason}", err=True)
        if one.note:
            typer.echo(f"{one.file}: {one.note}", err=True)
