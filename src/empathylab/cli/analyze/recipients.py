"""`empathylab analyze recipients`: ratings by the people who got the replies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, ConfidenceOption, JsonOption, LabOption, PeekOption
from empathylab.cli.tables import print_json, print_rows

if TYPE_CHECKING:
    from empathylab.analysis.recipients import RecipientsResult

EXAMPLE = (
    "Example: `empathylab analyze recipients recipients.csv --margin 0.5` · "
    "`empathylab analyze recipients --study helped --json`"
)


FileArgument = Annotated[
    Path | None,
    typer.Argument(
        help="A table with one row per participant and reply. Without one, a study of the lab."
    ),
]
StudyOption = Annotated[
    str | None,
    typer.Option(help="A study in the lab. Default, without a file: the only one with recipients."),
]
ResponseOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Who really wrote the reply.")
]
LabelOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The author named to the participant.")
]
ParticipantOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The participant who got the reply.")
]
ReplierOption = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The single person or model that wrote the reply."),
]
ReplyOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The id of the reply, for --ratings.")
]
OutcomeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="What was measured; repeatable. Default: all other columns of numbers.",
    ),
]
BeforeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="OUTCOME=COLUMN",
        help="The column with an outcome's value before the reply. mood_before is matched to mood "
        "or mood_after without this option.",
    ),
]
MarginOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[OUTCOME=]NUMBER",
        help="The smallest difference that matters, in points: conditions that differ by less are "
        "equivalent. Repeatable, once per outcome.",
    ),
]
RatingsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Ratings of the same replies by onlookers and judges: a table with the columns reply "
        "and rating, and optionally rater, rater_kind (person or model) and dimension.",
    ),
]
TableOption = Annotated[
    Literal["markdown", "latex", "csv"] | None,
    typer.Option(help="Print only the F tests, in this format."),
]
SeedOption = Annotated[int, typer.Option(help="Seed of the bootstrap.")]


def recipients(
    file: FileArgument = None,
    study: StudyOption = None,
    response: ResponseOption = None,
    label: LabelOption = None,
    participant: ParticipantOption = None,
    replier: ReplierOption = None,
    reply: ReplyOption = None,
    outcome: OutcomeOption = None,
    before: BeforeOption = None,
    margin: MarginOption = None,
    ratings: RatingsOption = None,
    table: TableOption = None,
    confidence: ConfidenceOption = 0.95,
    seed: SeedOption = 1,
    peek: PeekOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares replies by author and label, as rated by the people who received them.

    Computes F tests of author, label and their interaction (types II and III), differences with
    intervals, the change from before to after the reply, and equivalence tests. If participants got
    several replies, or one person wrote several, a mixed model takes this into account.
    """
    from empathylab.analysis.ratings.scales import by_dimension
    from empathylab.analysis.recipients.analysis import from_lab, from_table, with_ratings
    from empathylab.errors import InputError
    from empathylab.tables import key_values, read_table

    if file is not None and study is not None:
        raise InputError("give a file or --study, not both", remedy="Omit one of them.")
    columns = {
        "participant": participant,
        "response": response,
        "label": label,
        "replier": replier,
        "reply": reply,
    }
    options: dict[str, Any] = {
        "outcomes": outcome or (),
        "margin": by_dimension(margin, "--margin"),
        "confidence": confidence,
        "seed": seed,
    }
    if file is None:
        from empathylab.store import Lab

        with Lab.open_to_analyse(lab) as opened:
            result = from_lab(opened, study, peek=peek, who=operator(), **options)
    else:
        result = from_table(
            read_table(file),
            roles={role: column for role, column in columns.items() if column is not None},
            before=key_values(before, option="--before"),
            where=file.name,
            **options,
        )
    if ratings is not None:
        result = with_ratings(result, read_table(ratings), where=ratings.name, seed=seed)
    if json:
        print_json(result.to_dict())
    elif table is not None:
        from empathylab.analysis.recipients.rows import test_rows
        from empathylab.report.table_formats import table as formatted

        typer.echo(formatted(test_rows(result), table, caption=result.title), nl=False)
    else:
        _print(result)


def _print(result: RecipientsResult) -> None:
    from empathylab.analysis.recipients.rows import cell_rows, test_rows

    for conclusion in result.conclusions:
        typer.echo(f"- {conclusion}")
    tables = {"cells": cell_rows(result), "tests": test_rows(result)}
    for name, rows in tables.items():
        if rows:
            typer.echo()
            print_rows(rows, name, as_json=False)
    for caveat in result.caveats:
        typer.echo(caveat, err=True)
