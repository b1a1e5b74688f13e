"""Results: shown once the study is closed, or earlier to an owner who says why."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from empathylab.store.studies.monitoring import rating_counts
from empathylab.study.admin.embargo import result_commands
from empathylab.study.web.console.actions import require_name
from empathylab.study.web.console.rendering import page
from empathylab.study.web.console.texts import text
from empathylab.study.web.console.visits import Visit


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each value of a dimension was given in each arm."""

    dimension: str
    labels: tuple[str, ...]
    arms: tuple[tuple[str, tuple[int, ...], int], ...]
    """Name, counts in the order of the labels, and their sum."""


def show_results(visit: Visit) -> Response:
    """The counts of a closed study, or once after a reason was given; else why they are hidden."""
    closed = visit.console.status() == "closed"
    peeked = not closed and visit.may("owner") and visit.is_recent("peeked_at")
    shown = closed or peeked
    return page(
        visit,
        "results",
        text("Results"),
        counts=_counts(visit) if shown else (),
        shown=shown,
        peeked=peeked,
        commands=_commands(visit, peeked=peeked),
    )


def peek(visit: Visit) -> Response:
    """Shows the counts of a study that is not closed, once the reason is on record."""
    reason = peek_reason(visit)
    visit.console.note(visit.who, "peek", reason=reason, shown="counts by arm")
    return visit.show_once("/console/results", peeked_at=visit.console.clock().isoformat())


def peek_reason(visit: Visit) -> str:
    """Why an owner wants to see results early; refuses without the study's name and a reason."""
    require_name(visit)
    return visit.reason_for_record(
        text("viewing results early needs a reason of 10 to 500 characters"),
        text("Give a reason that you would state in the paper."),
    )


def _commands(visit: Visit, *, peeked: bool) -> list[str]:
    """The commands that show more; only ratings can be seen before the study is closed."""
    commands = result_commands(visit.console.launched.study)
    return (
        [f'{item} --peek "…"' for item in commands if "ratings" in item]
        if peeked
        else list(commands)
    )


def _counts(visit: Visit) -> tuple[Counts, ...]:
    console = visit.console
    with console.lab.reading() as connection:
        rows = rating_counts(connection, console.launched.row)
    all_counts = []
    for dimension in console.launched.study.dimensions:
        own = {(row.arm, row.value): row.times for row in rows if row.dimension == dimension.name}
        labels = tuple(
            str(value) if label is None else label.in_language(console.launched.study.languages[0])
            for value, label in zip(dimension.values, dimension.labels, strict=True)
        )
        arms = []
        for arm in console.launched.arms:
            counts = tuple(own.get((arm, float(value)), 0) for value in dimension.values)
            arms.append((arm, counts, sum(counts)))
        all_counts.append(Counts(dimension.name, labels, tuple(arms)))
    return tuple(all_counts)
