"""`empathylab analyze changes`: two labs, or two dates of one, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, file_option, option
from empathylab.cli.tables import print_titled, show
from empathylab.errors import InputError, LabError

if TYPE_CHECKING:
    from datetime import datetime

    from empathylab.analysis.drift import DriftResult
    from empathylab.store import Lab

EXAMPLE = (
    "Example: `empathylab analyze changes --with lab-of-march` · "
    "`empathylab analyze changes --before 2026-03-01 --html changes.html`"
)


def changes(
    other: Annotated[
        str | None,
        option(
            "The earlier lab: its folder, or the address of its database.", "--with", metavar="LAB"
        ),
    ] = None,
    before: Annotated[
        str | None,
        option(
            "Compare what this lab measured before this date or time (UTC) with what it measured "
            "since.",
            metavar="DATE",
        ),
    ] = None,
    confidence: Annotated[
        float, option("Confidence level of the intervals.", min=0.5, max=0.9999)
    ] = 0.95,
    html: Annotated[Path | None, file_option("Also write a self-contained HTML page.")] = None,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Compares two labs, or two dates of one: what changed, and what cannot be compared.

    Compares scores, verdicts, usable replies, style and people's ratings of respondents that were
    measured on both occasions, and judges' agreement with people. Gives intervals, corrected tests
    and every setting that differs. The same situations are compared with each other. What is
    identical on both occasions counts once.
    """
    result = _compared(lab, other, before, confidence)
    if html is not None:
        from empathylab.report.drift.page import write_changes

        write_changes(result, html)
    show(result, _print, as_json=json)
    if html is not None:
        typer.echo(f"Page: {html}", err=True)


def _compared(lab: Path, other: str | None, before: str | None, confidence: float) -> DriftResult:
    from empathylab.analysis import drift
    from empathylab.store import Lab

    if (other is None) == (before is None):
        raise InputError(
            "name either an earlier lab or a date",
            remedy="Give --with LAB or --before DATE, not both.",
        )
    if before is not None:
        moment = _moment(before)
        with Lab.open_to_analyse(lab) as opened:
            return drift.from_lab(opened, moment, name=before, confidence=confidence)
    titles = _titles(str(other), lab)
    with _earlier(str(other)) as earlier, Lab.open_to_analyse(lab) as later:
        if _place(later) == _place(earlier):
            raise InputError(
                "the two labs are the same",
                got=str(other),
                remedy="Name another lab with --with, or a date with --before.",
            )
        return drift.from_labs(earlier, later, titles=titles, confidence=confidence)


def _earlier(other: str) -> Any:
    """The other lab; a folder means the file in it, wherever EMPATHYLAB_DATABASE_URL points."""
    from empathylab.store import Lab
    from empathylab.store.lab import DATABASE_FILE

    if "://" in other:
        import tempfile

        return Lab.open(Path(tempfile.gettempdir()), database=other)
    folder = Path(other)
    file = folder / DATABASE_FILE
    if not file.is_file():
        raise LabError(
            "there is no lab here",
            where=other,
            remedy="Give the folder of a lab, or the address of its database, with --with.",
        )
    return Lab.open(folder, database=f"sqlite:///{file.resolve()}")


def _place(lab: Lab) -> str:
    """Where the lab's records are, so that two ways to name one place are the same."""
    url = lab.engine.url
    if url.get_backend_name() == "sqlite":
        return str(Path(url.database or "").resolve())
    return url.render_as_string(hide_password=True)


def _titles(other: str, lab: Path) -> tuple[str, str]:
    from sqlalchemy import make_url

    if "://" in other:
        return make_url(other).database or "the other lab", str(lab)
    first, second = Path(other).resolve(), lab.resolve()
    return (first.name, second.name) if first.name != second.name else (other, str(lab))


def _moment(text: str) -> datetime:
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(
            "--before needs a date",
            got=text,
            remedy="Write it as 2026-03-01, or with a time as 2026-03-01T12:00.",
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _print(result: DriftResult) -> None:
    from empathylab.analysis.drift.rows import changed_rows, shown_rows

    document = result.to_dict()
    typer.echo(f"Before: {result.before.title}\nAfter: {result.after.title}")
    typer.echo(f"Measured on both occasions: {', '.join(result.both) or 'nobody'}")
    for when, names in (("before", result.only_before), ("after", result.only_after)):
        if names:
            typer.echo(f"Only {when}: {', '.join(names)}")
    typer.echo(str(result.conclusions[0]))
    style = changed_rows(document["style"])
    tables = {
        "Scales, in points": (
            [row for row in document["scores"] if row["emotion"] is None],
            ("respondent", "scale", "subscale", "measure"),
            1,
        ),
        "Ratings": (document["ratings"], ("study", "arm", "dimension", "measure"), 1),
        "Judges compared with people": (
            document["judges"],
            ("study", "judge", "dimension", "measure"),
            2,
        ),
        "Usable replies": (document["usable_replies"], ("respondent",), 1),
        f"Style: {len(style)} of {len(document['style'])} figures changed": (
            style,
            ("respondent", "feature"),
            2,
        ),
    }
    for title, (rows, names, digits) in tables.items():
        print_titled(title, shown_rows(rows, {name: name for name in names}, digits=digits))
    plain = {
        "Verdicts on self-reports": document["verdicts"],
        "Verdicts on judges": document["judge_verdicts"],
        "Settings that differ": [_short(row) for row in document["settings"]],
    }
    for title, rows in plain.items():
        print_titled(title, rows)
    if result.incomparable:
        typer.echo("\nNot compared")
    for part in result.incomparable:
        typer.echo(f"{part.what}: {part.why}.")


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """A setting on one line; JSON and the page hold it whole."""
    most = 60
    cut = {
        name: value if len(value) <= most else f"{value[: most - 1]}…"
        for name, value in ((name, str(row[name] or "all")) for name in row)
    }
    return {name: " ".join(value.split()) for name, value in cut.items()}
