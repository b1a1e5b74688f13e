"""`empathylab analyze recipients`: ratings by the people who got the replies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import (
    DEFAULT_LAB,
    ConfidenceOption,
    JsonOption,
    LabOption,
    PeekOption,
    TableFormat,
    argument,
    column_option,
    file_option,
    option,
    table_option,
)
from empathylab.cli.tables import print_formatted, print_notes, print_titled, show
from empathylab.errors import InputError
from empathylab.tables import key_values, read_table

if TYPE_CHECKING:
    from empathylab.analysis.recipients import RecipientsResult

EXAMPLE = (
    "Example: `empathylab analyze recipients recipients.csv --margin 0.5` · "
    "`empathylab analyze recipients --study helped --json`"
)


StudyOption = Annotated[
    str | None, option("A study in the lab. Default, without a file: the only one with recipients.")
]


def recipients(
    file: Annotated[
        Path | None,
        argument(
            "A table with one row per participant and reply. Without one, a study of the lab."
        ),
    ] = None,
    study: StudyOption = None,
    response: Annotated[str | None, column_option("Who really wrote the reply.")] = None,
    label: Annotated[str | None, column_option("The author named to the participant.")] = None,
    participant: Annotated[str | None, column_option("The participant who got the reply.")] = None,
    replier: Annotated[
        str | None, column_option("The single person or model that wrote the reply.")
    ] = None,
    reply: Annotated[str | None, column_option("The id of the reply, for --ratings.")] = None,
    outcome: Annotated[
        list[str] | None,
        column_option("What was measured; repeatable. Default: all other columns of numbers."),
    ] = None,
    before: Annotated[
        list[str] | None,
        option(
            "The column with an outcome's value before the reply. mood_before is matched to mood "
            "or mood_after without this option.",
            metavar="OUTCOME=COLUMN",
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        option(
            "The smallest difference that matters, in points: conditions that differ by less are "
            "equivalent. Repeatable, once per outcome.",
            metavar="[OUTCOME=]NUMBER",
        ),
    ] = None,
    ratings: Annotated[
        Path | None,
        file_option(
            "Ratings of the same replies by onlookers and judges: a table with the columns reply "
            "and rating, and optionally rater, rater_kind (person or model) and dimension."
        ),
    ] = None,
    table: Annotated[TableFormat | None, table_option("the F tests")] = None,
    confidence: ConfidenceOption = 0.95,
    seed: Annotated[int, option("Seed of the bootstrap.")] = 1,
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
    from empathylab.analysis.recipients.rows import test_rows

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
    if table is not None and not json:
        print_formatted(test_rows(result), table, caption=result.title)
    else:
        show(result, _print, as_json=json)


def _print(result: RecipientsResult) -> None:
    from empathylab.analysis.recipients.rows import cell_rows, test_rows

    for conclusion in result.conclusions:
        typer.echo(f"- {conclusion}")
    print_titled("", cell_rows(result))
    print_titled("", test_rows(result))
    print_notes(result.caveats)
