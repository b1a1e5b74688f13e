"""`empathylab study status` and `audit`: how far a study is, and who did what with it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.options import DEFAULT_LAB, JsonOption, LabOption, option
from empathylab.cli.study.actions import NameArgument, running
from empathylab.cli.tables import print_json, print_rows, show_rows

if TYPE_CHECKING:
    from empathylab.study.admin.monitoring import StudyStatus
    from empathylab.study.session.visits import ArmStatus

STATUS_EXAMPLE = "Example: `empathylab study status my-study --watch`"
_JSON_KEYS = (
    *("name", "version", "title", "status", "launched_at", "closed_at", "arrivals", "opened"),
    *("arms", "outcomes", "drop_outs", "seconds", "attention", "replies", "ratings"),
    *("simulated", "tests"),
)
AUDIT_EXAMPLE = "Example: `empathylab study audit my-study --json`"


def status(
    name: NameArgument,
    watch: Annotated[bool, option("Refresh until you press Ctrl-C.", "--watch")] = False,
    every: Annotated[float, option("Seconds between refreshes.", min=0.2)] = 5.0,
    lab: LabOption = DEFAULT_LAB,
    json: JsonOption = False,
) -> None:
    """Shows the progress of a study, but no results. Simulated raters are not counted."""
    from empathylab.study.admin.monitoring import without_arms

    with running(lab, name) as service:
        while True:
            current = without_arms(service.actions.status())
            if json:
                print_json(status_row(current), indent=None if watch else 2)
            else:
                if watch:
                    typer.echo("\x1b[H\x1b[2J", nl=False)
                _print(current)
            if not watch:
                return
            time.sleep(every)


def status_row(current: StudyStatus) -> dict[str, Any]:
    """The status as plain values."""
    import dataclasses

    row = dataclasses.asdict(current) | {"seconds": current.seconds}
    for name in ("launched_at", "closed_at"):
        row[name] = row[name].isoformat() if row[name] is not None else None
    return {name: row[name] for name in _JSON_KEYS}


def _print(current: StudyStatus) -> None:
    since = f"{current.launched_at:%Y-%m-%d %H:%M}"
    typer.echo(f"{current.title} ({current.name}, version {current.version})")
    ended = f", closed {current.closed_at:%Y-%m-%d %H:%M}" if current.closed_at else ""
    typer.echo(f"{current.status}; launched {since} UTC{ended}\n")
    rows: list[dict[str, Any]] = [
        {
            "arm": arm.arm,
            "slots": arm.places,
            "finished": _count(arm.finished, arm),
            "in progress": _count(arm.live, arm),
            "ended early": "hidden" if arm.coarse else sum(arm.others.values()),
            "open": current.status == "open" and not arm.stopped,
        }
        for arm in current.arms
    ]
    print_rows(rows)
    if any(arm.coarse for arm in current.arms):
        typer.echo("Exact counts by arm are shown once the study is closed.", err=True)
    typer.echo(f"\n{_people(current.arrivals)} arrived; {current.ratings:,} ratings so far.")
    if current.opened:
        typer.echo(f"{current.opened:,} more opened the link and answered nothing.")
    for title, part in (
        ("Outcomes", current.outcomes),
        ("Replies to participants", current.replies),
        ("Dropped out at", current.drop_outs),
        (
            "Seconds on a page (median)",
            {k: round(v) or "under 60" for k, v in current.seconds.items()},
        ),
        (
            "Attention checks failed",
            {k: f"{check.failed} of {check.asked}" for k, check in current.attention.items()},
        ),
    ):
        if part:
            typer.echo(f"{title}: " + ", ".join(f"{key} {value}" for key, value in part.items()))
    if current.simulated or current.tests:
        typer.echo(
            f"Not counted: {current.simulated} simulated raters and {current.tests} test visits.",
            err=True,
        )


def _count(number: int, arm: ArmStatus) -> str | int:
    return f"{number} or more" if arm.coarse else number


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def audit(name: NameArgument, lab: LabOption = DEFAULT_LAB, json: JsonOption = False) -> None:
    """Lists what researchers did with a study, in order."""

    with running(lab, name) as service:
        entries = service.actions.audit()
    rows: list[dict[str, Any]] = [
        {
            "at": f"{entry.at:%Y-%m-%d %H:%M:%S}",
            "who": entry.who,
            "action": entry.action,
            "details": dict(entry.details)
            if json
            else ", ".join(
                f"{key}: {value}"
                for key, value in entry.details.items()
                if not isinstance(value, dict)  # a preregistration's plan; --json has it
            ),
        }
        for entry in entries
    ]
    show_rows(rows, "audit", as_json=json)
