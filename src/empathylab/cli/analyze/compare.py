"""`empathylab analyze compare`: two respondents, arms or runs on the same situations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import (
    DEFAULT_LAB,
    JsonOption,
    LabOption,
    PeekOption,
    StudyOption,
    argument,
    column_option,
    option,
)
from empathylab.cli.tables import print_notes, print_rows, show
from empathylab.errors import InputError
from empathylab.tables import read_table

if TYPE_CHECKING:
    from empathylab.analysis.pairs import PairsResult

EXAMPLE = (
    "Example: `empathylab analyze compare gpt human` · "
    "`empathylab analyze compare scores.csv --unit item --group model --value score`"
)


def compare(
    names: Annotated[
        list[str],
        argument(
            "Two arms or respondents of the lab; or a table, and the two groups to compare if it "
            "has more.",
            metavar="A B | FILE [A B]",
        ),
    ],
    on: Annotated[
        Literal["ratings", "judge", "scales"],
        option("What to compare: people's ratings, a judge's scores, scale changes."),
    ] = "ratings",
    study: StudyOption = None,
    dimension: Annotated[
        str | None, option("The rated dimension, or the scale as SCALE/SUBSCALE.")
    ] = None,
    unit: Annotated[
        str | None, column_option("With a table: the column that pairs the values.")
    ] = None,
    group: Annotated[str | None, column_option("With a table: the column with the group.")] = None,
    value: Annotated[str | None, column_option("With a table: the column with the values.")] = None,
    cluster: Annotated[
        str | None, column_option("With a table: the column with clusters of units.")
    ] = None,
    peek: PeekOption = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares two arms or respondents on the situations that both have, paired, with clustered
    errors.

    Pairing removes differences between situations, so the interval is usually narrower than that of
    two separate means, which is shown beside it.
    """
    if (unit, group, value) != (None, None, None) or (len(names) != 2 and Path(names[0]).suffix):
        result = _of_table(names, unit, group, value, cluster)
    else:
        from empathylab.analysis.pairs import from_lab
        from empathylab.store import Lab

        if len(names) != 2:
            raise InputError(
                "two names are needed",
                got=" ".join(names),
                remedy="Give two arms or respondents, or a file with --unit, --group and --value.",
            )
        with Lab.open_to_analyse(lab) as opened:
            result = from_lab(
                opened,
                *names,
                on=on,
                study=study,
                dimension=dimension,
                peek=peek,
                who=operator(),
            )
    show(result, _print, as_json=json)


def _of_table(
    names: list[str], unit: str | None, group: str | None, value: str | None, cluster: str | None
) -> PairsResult:
    from empathylab.analysis.pairs import from_table

    if unit is None or group is None or value is None or len(names) not in (1, 2, 3):
        raise InputError(
            "a table needs three columns: unit, group and value",
            got=" ".join(names),
            remedy="Give FILE --unit COLUMN --group COLUMN --value COLUMN.",
        )
    file, *chosen = names
    first, second = (*chosen, None, None)[:2]
    return from_table(
        read_table(Path(file)),
        *(first, second),
        unit=unit,
        group=group,
        value=value,
        cluster=cluster,
        where=Path(file).name,
    )


def _print(result: PairsResult) -> None:
    from empathylab.analysis.text.numbers import number, p_value, signed

    for conclusion in result.conclusions:
        typer.echo(" ".join([str(conclusion), *conclusion.caveats]))
    rows = [
        {
            "comparison": row["comparison"],
            "difference": signed(row["difference"], 2),
            "interval": f"[{number(row['low'], 2)}, {number(row['high'], 2)}]",
            "p": p_value(row["p"]) if row["p"] is not None else "–",
        }
        for row in result.tables["comparison"].iter_rows(named=True)
    ]
    print_rows(rows)
    print_notes(result.caveats)
