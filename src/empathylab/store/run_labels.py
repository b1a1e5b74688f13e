"""Runs by number or name: naming, pinning and deleting them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from empathylab.errors import InputError, UnknownName
from empathylab.store.inserts import now
from empathylab.store.lab import Lab
from empathylab.store.schema import answers, judgements, preferences, responses, runs
from empathylab.store.schema import shown_responses as shown


def find_run(lab: Lab, run: str) -> int:
    """The number of the run with that number or name."""
    with lab.reading() as connection:
        return int(_found(connection, run).id)


def replies_run(lab: Lab, run: str) -> int:
    """The same for a run that must hold replies."""
    with lab.reading() as connection:
        found = _found(connection, run)
    if found.protocol != "respond":
        raise InputError(
            "the baseline must be a run of replies",
            where=f"run {run}",
            got=found.protocol,
            remedy="Choose a respond run: see empathylab runs list.",
        )
    return int(found.id)


def require_run_name(name: str) -> None:
    """Refuses a name that could be taken for a number."""
    if not name.strip() or name.strip().isdecimal():
        raise InputError(
            "a run's name must not be a number",
            got=name,
            remedy="Choose a name such as release-2.",
        )


def name_run(lab: Lab, run: str, name: str | None, *, move: bool = False) -> int:
    """Gives the run a name of its own, or takes it away; its number.

    If another run has the name, that is an error, unless the name may move.
    """
    if name is not None:
        require_run_name(name)
        name = name.strip()
    with lab.writing() as connection:
        found = _found(connection, run)
        other = connection.execute(select(runs.c.id).where(runs.c.name == name)).scalar()
        if name is not None and other not in (None, found.id):
            if not move:
                raise InputError(
                    f"run {other} has this name",
                    got=name,
                    remedy="Choose another name, or move this one with --move.",
                )
            connection.execute(runs.update().where(runs.c.id == other).values(name=None))
        connection.execute(runs.update().where(runs.c.id == found.id).values(name=name))
    return int(found.id)


def pin_run(lab: Lab, run: str, *, pinned: bool) -> int:
    """Makes the report show this run before others of its kind, or no longer; its number."""
    with lab.writing() as connection:
        found = _found(connection, run)
        at = now() if pinned else None
        connection.execute(runs.update().where(runs.c.id == found.id).values(pinned_at=at))
    return int(found.id)


def delete_run(lab: Lab, run: str) -> int:
    """Deletes the run with its answers and all that was made of them; its number.

    Refuses a run whose replies a study shows, a named or pinned one, and one whose replies a
    judge has rated.
    """
    with lab.writing() as connection:
        found = _found(connection, run)
        if found.name or found.pinned_at:
            what = f"named {found.name!r}" if found.name else "pinned"
            raise InputError(
                f"the run is {what}, so it is kept",
                where=f"run {found.id}",
                remedy="Remove the name with `runs name RUN --remove`, or the pin with "
                "`runs pin RUN --remove`, first.",
            )
        _refuse_used(connection, int(found.id))
        connection.execute(runs.delete().where(runs.c.id == found.id))
    return int(found.id)


def _refuse_used(connection: Connection, run: int) -> None:
    own = select(answers.c.id).where(answers.c.run_id == run)
    mine = select(responses.c.id).where(responses.c.answer_id.in_(own))
    for column, what in (
        (shown.c.response_id, "a study shows its replies"),
        (judgements.c.response_id, "a judge has rated its replies"),
        (preferences.c.first_response_id, "a judge has compared its replies"),
        (preferences.c.second_response_id, "a judge has compared its replies"),
    ):
        if connection.execute(select(column).where(column.in_(mine)).limit(1)).first():
            raise InputError(
                f"{what}, so it is kept",
                where=f"run {run}",
                remedy=(
                    "Delete the judge's runs first. A run whose replies a study shows cannot "
                    "be deleted."
                ),
            )


def _found(connection: Connection, run: str) -> Row[Any]:
    rule = runs.c.id == int(run) if run.isdecimal() else runs.c.name == run
    found = connection.execute(select(runs).where(rule)).one_or_none()
    if found is None:
        known = connection.execute(select(runs.c.id, runs.c.name).order_by(runs.c.id)).all()
        names = [row.name for row in known if row.name] + [str(row.id) for row in known]
        raise UnknownName("run", run, names, remedy="See: empathylab runs list")
    return found
