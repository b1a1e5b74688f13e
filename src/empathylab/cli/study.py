"""`empathylab study`: studies with people, from the file to the data."""

from __future__ import annotations

from collections.abc import Callable

import typer

from empathylab.cli import (
    study_acts,
    study_arms,
    study_bots,
    study_console,
    study_deleting,
    study_demo,
    study_export,
    study_files,
    study_recruiting,
    study_serve,
    study_status,
)

app = typer.Typer(
    no_args_is_help=True,
    help="Studies with people: design, check, serve, watch, close, export.",
    epilog="Example: `empathylab study new my-study.yaml`, then `study check`, then `study serve`",
)
_COMMANDS: dict[str, dict[str, tuple[Callable[..., None], str]]] = {
    "Before people come": {
        "demo": (study_demo.demo, study_demo.EXAMPLE),
        "new": (study_files.new, study_files.NEW_EXAMPLE),
        "check": (study_files.check, study_files.CHECK_EXAMPLE),
        "bots": (study_bots.bots, study_bots.EXAMPLE),
        "invite": (study_recruiting.invite, study_recruiting.INVITE_EXAMPLE),
    },
    "While people come": {
        "serve": (study_serve.serve, study_serve.EXAMPLE),
        "status": (study_status.status, study_status.STATUS_EXAMPLE),
        "console-link": (study_console.console_link, study_console.EXAMPLE),
        "sync": (study_recruiting.sync, study_recruiting.SYNC_EXAMPLE),
        "pause": (study_acts.pause, study_acts.PAUSE_EXAMPLE),
        "resume": (study_acts.resume, study_acts.RESUME_EXAMPLE),
        "stop-arm": (study_acts.stop_arm, study_acts.STOP_ARM_EXAMPLE),
        "add-arm": (study_arms.add_arm, study_arms.EXAMPLE),
        "exclude": (study_acts.exclude, study_acts.EXCLUDE_EXAMPLE),
    },
    "Afterwards": {
        "close": (study_acts.close, study_acts.CLOSE_EXAMPLE),
        "approvals": (study_recruiting.approvals, study_recruiting.APPROVALS_EXAMPLE),
        "export": (study_export.export, study_export.EXAMPLE),
        "forget": (study_deleting.forget, study_deleting.FORGET_EXAMPLE),
        "retention": (study_deleting.retention, study_deleting.RETENTION_EXAMPLE),
        "audit": (study_status.audit, study_status.AUDIT_EXAMPLE),
    },
}
for _panel, _commands in _COMMANDS.items():
    for _name, (_command, _example) in _commands.items():
        app.command(_name, epilog=_example, rich_help_panel=_panel)(_command)
