"""`empathylab data import recipients`: released data of people who were helped."""

from __future__ import annotations

from typing import Annotated

from empathylab.cli.data.imports.options import LicenceOption, NameOption, TableArgument, slug
from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, column_option, option
from empathylab.cli.tables import show_rows
from empathylab.tables import key_value, read_table

EXAMPLE = (
    "Example: `empathylab data import recipients recipients.csv --name yin-2024` · "
    "`empathylab data import recipients mine.csv --map writer=response --map shown=label`"
)


def recipients(
    path: TableArgument,
    name: NameOption = None,
    title: Annotated[str | None, option("What the report calls the study.")] = None,
    columns: Annotated[
        list[str] | None,
        option(
            "Map a column of the file to participant, response (who really wrote the reply), label "
            "(the author named to participants), replier or reply; repeatable. Common names are "
            "recognised.",
            "--map",
            metavar="COLUMN=ROLE",
        ),
    ] = None,
    outcome: Annotated[
        list[str] | None,
        column_option(
            "What was measured; repeatable. Default: all other columns of numbers. mood_before and "
            "mood_after are one outcome, mood."
        ),
    ] = None,
    licence: LicenceOption = "not stated",
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Imports a table with one row per participant and reply: author, label and outcomes.

    `empathylab analyze recipients --study NAME` analyses it, and the report shows it.
    """
    from empathylab.analysis.recipients.columns import read_columns
    from empathylab.store import Lab
    from empathylab.store.recipients import store_recipients

    pairs = [key_value(pair, option="--map") for pair in columns or ()]
    roles = {role: column for column, role in pairs}
    table = read_columns(read_table(path), roles=roles, outcomes=outcome or (), where=path.name)
    study = name or slug(path.stem)
    with Lab.open(lab) as opened:
        rows = table.rows()
        change = store_recipients(
            opened,
            study,
            rows,
            title=title or study,
            source=path.name,
            licence=licence,
            outcomes=table.outcomes,
        )
    counts = {
        "study": study,
        "participants": len({row["participant"] for row in rows}),
        "replies": table.frame.height,
        "outcomes": ", ".join(table.outcomes),
        "columns_not_used": ", ".join(table.ignored) or None,
        "change": change,
    }
    show_rows([counts], "recipients", as_json=json)
