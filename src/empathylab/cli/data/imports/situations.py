"""`empathylab data import`: EmotionBench's files and a user's own situations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.data.imports.options import LicenceOption, MapOption, own_set_id
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, argument, option
from empathylab.cli.tables import print_json, print_notes, print_rows
from empathylab.tables import first_row, key_values, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from empathylab.store.imports.files import ImportedFile

EMOTIONBENCH_EXAMPLE = "Example: `empathylab data import emotionbench ~/src/EmotionBench`"
SITUATIONS_EXAMPLE = "Example: `empathylab data import situations mine.csv --name mine`"


def emotionbench(
    path: Annotated[Path, argument("A folder, a checkout or one file.")],
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports EmotionBench's files: situations, questionnaires, results, people.

    Accepts result files of any model and any scale. Importing a file again changes nothing.
    """
    from empathylab.store import Lab
    from empathylab.store.imports.emotionbench import import_emotionbench

    with Lab.open(lab) as opened:
        print_imported(import_emotionbench(opened, path), as_json=json)


def situations(
    path: Annotated[
        Path,
        argument(
            "A CSV, JSONL or Parquet file with the columns id, text and emotion (or topic), and "
            "optionally valence, factor, topic, title, utterance and counterpart."
        ),
    ],
    name: Annotated[str | None, option("The set's ID. Default: the file's name.")] = None,
    title: Annotated[str | None, option("The set's title.")] = None,
    language: Annotated[
        str,
        option(
            "The language of the texts, such as de. With --language es, commands use the set "
            "dialogues-es instead of dialogues.",
            metavar="CODE",
        ),
    ] = "en",
    licence: LicenceOption = "not stated",
    emotions: MapOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports your own situations. New texts under an existing name become its next version."""
    from collections import Counter

    from empathylab.situations.emotions import (
        APPRAISAL_EMOTIONS,
        DIALOGUE_EMOTIONS,
        emotion_warnings,
    )
    from empathylab.situations.sources.tables import situations_from
    from empathylab.store import Lab
    from empathylab.store.imports.files import ImportedFile
    from empathylab.store.situations import save_situation_set

    chosen = situations_from(
        read_table(path),
        where=path.name,
        set_id=own_set_id(name, path),
        title=title or path.stem,
        licence=licence,
        language=language,
        emotions=key_values(emotions, option="--map"),
        first_row=first_row(path),
    )
    with Lab.open(lab) as opened, opened.writing() as connection:
        stored = save_situation_set(connection, chosen)
    note = f"set {stored.situation_set.id}, version {stored.situation_set.version}"
    done = ImportedFile(path.name, "situations", stored.change, count=len(chosen), note=note)
    print_imported([done], as_json=json)
    counts = Counter(item.emotion for item in chosen if item.emotion)
    print_notes(emotion_warnings(counts, {*APPRAISAL_EMOTIONS, *DIALOGUE_EMOTIONS}))


def print_imported(done: Sequence[ImportedFile], *, as_json: bool) -> None:
    """What became of each file; what could not be used is counted by reason."""
    if as_json:
        print_json({"files": done})
        return
    rows: list[dict[str, Any]] = [
        {
            "file": item.file,
            "holds": item.holds,
            "change": item.change,
            "count": item.count or None,
            "respondent": item.respondent,
            "scale": item.scale,
            "invalid": sum(item.invalid.values()) if item.respondent else None,
        }
        for item in done
    ]
    print_rows(rows)
    for item in done:
        for reason, count in {**item.invalid, **item.ignored}.items():
            kind = (
                "administrations are invalid" if reason in item.invalid else "columns are ignored"
            )
            typer.echo(f"{item.file}: {count} {kind}: {reason}", err=True)
        if item.note:
            typer.echo(f"{item.file}: {item.note}", err=True)
