"""`empathylab analyze conversations`: how people felt, and how far it depends on the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, file_option, option
from empathylab.cli.tables import print_rows, show
from empathylab.errors import InputError
from empathylab.files import write_bytes
from empathylab.tables import missing_as_null, read_table, table_bytes

if TYPE_CHECKING:
    from empathylab.analysis.conversations import ConversationsAnalysis

EXAMPLE = "Example: `empathylab analyze conversations --json`"


def conversations(
    confidence: Annotated[
        float, option("Confidence level of the intervals.", min=0.5, max=0.9999)
    ] = 0.95,
    ratings: Annotated[
        Path | None,
        file_option(
            "People's ratings of the transcripts: a table with the columns conversation and "
            "rating, and optionally turn (replies so far) and rater. Adds a card for each "
            "simulator."
        ),
    ] = None,
    study: Annotated[
        str | None, option("A study whose participants rated transcripts: see `data stimuli`.")
    ] = None,
    dimension: Annotated[str | None, option("The study's dimension. Default: the first.")] = None,
    scale: Annotated[
        tuple[float, float], option("The lowest and highest point of the raters' scale.")
    ] = (0.0, 100.0),
    transcripts: Annotated[
        Path | None,
        file_option(
            "Also write every turn to a CSV, JSONL or Parquet file, with the conversation's ID, "
            "for raters or another program."
        ),
    ] = None,
    seed: Annotated[int, option("Seed of the bootstrap.")] = 1,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Analyses all conversations in the lab: final feelings by respondent and simulator.

    Intervals and comparisons are over personas, paired where respondents talked with the same
    ones. Every result names its simulator; with two or more, the agreement of their rankings and
    their share of the variance are given.
    """
    from empathylab.analysis.conversations import from_lab
    from empathylab.store import Lab

    with Lab.open_to_analyse(lab) as opened:
        result = from_lab(opened, confidence=confidence, seed=seed)
        if study is not None:
            from empathylab.analysis.conversations.stimuli import with_study

            result = with_study(opened, result, study, dimension=dimension)
    if ratings is not None:
        table = missing_as_null(read_table(ratings))
        result = result.with_ratings(table, scale=scale, where=ratings.name)
    if transcripts is not None:
        _write(result, transcripts)
    show(result, print_conversations, as_json=json)


def print_conversations(result: ConversationsAnalysis) -> None:
    """The table of respondents, then conclusions and caveats."""
    from empathylab.analysis.text.numbers import number

    rows: list[dict[str, Any]] = [
        {
            "respondent": respondent.respondent,
            "simulator": respondent.simulator,
            "n": respondent.n,
            "mean final": number(respondent.mean_final, 2),
            "from": number(respondent.low),
            "to": number(respondent.high),
            "success": respondent.success,
            "failure": respondent.failure,
            "replies": number(respondent.turns_mean),
            "outcomes": ", ".join(
                f"{count} {name.replace('_', ' ')}" for name, count in respondent.outcomes.items()
            ),
        }
        for respondent in result.respondents
    ]
    print_rows(rows)
    typer.echo("")
    for card in result.cards:
        if card.verdict == "reacts to replies":  # caveats name the others
            typer.echo(card.sentence)
    typer.echo(result.summary())


def _write(result: ConversationsAnalysis, path: Path) -> None:
    """Every turn, with the columns that `data import conversations` reads."""

    kind = path.suffix.lower().lstrip(".")
    if kind not in ("csv", "jsonl", "parquet"):
        raise InputError(
            "this file type is not supported",
            where="--transcripts",
            got=path.name,
            remedy="Name a .csv, .jsonl or .parquet file.",
        )
    content = table_bytes(
        result.transcripts(), "csv" if kind == "csv" else "jsonl" if kind == "jsonl" else "parquet"
    )
    write_bytes(path, content)
    typer.echo(f"Transcripts: {path}", err=True)
