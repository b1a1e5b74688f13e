"""Results of a study that still takes people are not shown: whoever looks early stops at luck."""

from __future__ import annotations

from empathylab.errors import InputError
from empathylab.store import Lab
from empathylab.store import now as present
from empathylab.store.ratings import Study
from empathylab.store.studies.records import add_audit, find_study
from empathylab.study.design.definition import Study as StudyDefinition

RUNNING = frozenset({"open", "paused"})
"""The statuses of studies that this lab runs and has not closed; imported ones are closed."""


def is_running(study: Study) -> bool:
    """Whether a look at the study's results would be a peek."""
    return study.status in RUNNING


def result_commands(study: StudyDefinition) -> tuple[str, ...]:
    """The commands that show what came of a study, once it is closed."""
    commands = (one.analysis_command(study.name) for one in study.blocks)
    return tuple(dict.fromkeys(one for one in commands if one is not None))


def require_closed(
    lab: Lab, study: Study, *, peek: str | None = None, who: str = "researcher"
) -> None:
    """Raises where the study is not closed, unless there is a reason to peek, which is kept."""
    if not is_running(study):
        return
    reason = " ".join((peek or "").split())
    if not reason:
        raise InputError(
            f"the study is still {study.status}, so results by arm are not shown",
            where=f"study {study.name}",
            remedy=f"Run `empathylab study close {study.name}`, or give --peek with a reason, "
            "which the audit log keeps.",
        )
    name, _, version = study.name.partition("@")
    with lab.writing() as connection:
        row = find_study(connection, name, int(version) if version else None)
        if row is not None:
            add_audit(connection, row.id, present(), who, "peek", reason=reason[:500])
