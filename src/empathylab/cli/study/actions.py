"""What a researcher does with a running study; every act is written into its audit log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from empathylab.cli.actor import operator
from empathylab.cli.options import DEFAULT_LAB, LabOption, argument, option
from empathylab.errors import InputError

if TYPE_CHECKING:
    import contextlib

    from empathylab.study.session.service import StudyService

PAUSE_EXAMPLE = "Example: `empathylab study pause my-study`"
RESUME_EXAMPLE = "Example: `empathylab study resume my-study --arm human`"
STOP_ARM_EXAMPLE = "Example: `empathylab study stop-arm my-study human`"
CLOSE_EXAMPLE = "Example: `empathylab study close my-study`"
EXCLUDE_EXAMPLE = (
    "Example: `empathylab study exclude my-study --person KEY --reason 'asked to be left out'`"
)

NameArgument = Annotated[
    str, argument("The launched study; NAME@1 for an older version.", metavar="NAME")
]
YesOption = Annotated[bool, option("Do not ask for confirmation.", "--yes")]


def running(lab: Path, name: str) -> contextlib.AbstractContextManager[StudyService]:
    """The launched study of that name, as long as the lab is open."""
    import contextlib

    from empathylab.store import Lab
    from empathylab.study.session.service import StudyService

    @contextlib.contextmanager
    def opened() -> Any:
        with Lab.open(lab, create=False) as open_lab:
            yield StudyService(open_lab, name)

    return opened()


def pause(name: NameArgument, lab: LabOption = DEFAULT_LAB) -> None:
    """Stops new participants; current ones can finish."""
    with running(lab, name) as service:
        service.actions.pause(who=operator())
    typer.echo(f"{name} is paused. To reopen it: empathylab study resume {name}", err=True)


def resume(
    name: NameArgument,
    arm: Annotated[str | None, option("Only this arm, which was stopped before.")] = None,
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Reopens a paused study, or a stopped arm, to new participants."""
    with running(lab, name) as service:
        service.actions.resume(arm, who=operator())
    what = name if arm is None else f"The arm {arm} of {name}"
    typer.echo(f"{what} is open to new participants again.", err=True)


def stop_arm(
    name: NameArgument,
    arm: Annotated[str, argument("The arm.")],
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Stops assigning new participants to an arm; the other arms continue."""
    with running(lab, name) as service:
        service.actions.stop_arm(arm, who=operator())
    typer.echo(
        f"The arm {arm} gets no new participants. To undo this: "
        f"empathylab study resume {name} --arm {arm}",
        err=True,
    )


def close(name: NameArgument, yes: YesOption = False, lab: LabOption = DEFAULT_LAB) -> None:
    """Closes a study permanently and makes its results available.

    Unfinished participants cannot finish. The retention period starts.
    """

    from empathylab.study.admin.embargo import result_commands

    with running(lab, name) as service:
        status = service.actions.status()
        if status.status != "closed":
            live = sum(arm.live for arm in status.arms)
            busy = f" Participants still taking part: {live}." if live else ""
            agreed(f"Close {name} permanently?{busy}", "the study was not closed", yes=yes)
            service.actions.close(who=operator())
        study = service.study.model_copy(update={"name": name})
    shown = " · ".join(result_commands(study))
    typer.echo(f"{name} is closed. See the results: {shown}")


def exclude(
    name: NameArgument,
    person: Annotated[str, option("The rater's key, as in the export.", metavar="KEY")],
    reason: Annotated[str, option("The reason, for the audit log.")] = "",
    undo: Annotated[
        bool, option("Undo the exclusion: analyses include them again.", "--undo")
    ] = False,
    lab: LabOption = DEFAULT_LAB,
) -> None:
    """Excludes a rater from every analysis and frees the slot. Needs a reason."""

    if not undo and not reason.strip():
        raise InputError(
            "an exclusion needs a reason", where="--reason", remedy="Give it with --reason."
        )
    with running(lab, name) as service:
        if undo:
            done = service.actions.include(person, who=operator())
        else:
            done = service.actions.exclude(person, reason.strip(), who=operator())
        if not done:
            raise InputError(
                "no participant with this key is excluded"
                if undo
                else "no participant with this key takes part in the study",
                where=f"study {name}",
                got=person,
                remedy="Take the key from the console or from `empathylab study export`.",
            )
    message = "Included in every analysis again." if undo else "Excluded from every analysis."
    typer.echo(message, err=True)


def agreed(question: str, otherwise: str, *, yes: bool) -> None:
    """Continues only after confirmation."""

    if yes:
        return
    try:
        answer = typer.confirm(question, err=True)
    except typer.Abort:
        answer = False
        typer.echo("", err=True)
    if not answer:
        raise InputError(otherwise, remedy="Answer y, or pass --yes.")
