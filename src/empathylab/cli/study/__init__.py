"""`empathylab study`: studies with people, from the file to the data."""

from __future__ import annotations

from collections.abc import Callable

import typer

from empathylab.cli.study import (
    actions,
    arms,
    bots,
    console,
    deletion,
    demo,
    export,
    files,
    preregister,
    preview,
    prolific,
    recruiting,
    serve,
    status,
)

app = typer.Typer(
    no_args_is_help=True,
    help="Prepares, runs and closes studies with people, and exports their data.",
    epilog="Example: `empathylab study new my-study.yaml`, then `study check`, then `study serve`",
)
_COMMANDS: dict[str, dict[str, tuple[Callable[..., None], str]]] = {
    "Prepare a study": {
        "demo": (demo.demo, demo.EXAMPLE),
        "new": (files.new, files.NEW_EXAMPLE),
        "check": (files.check, files.CHECK_EXAMPLE),
        "preview": (preview.preview, preview.EXAMPLE),
        "preregister": (preregister.preregister, preregister.EXAMPLE),
        "bots": (bots.bots, bots.EXAMPLE),
        "prolific-codes": (prolific.prolific_codes, prolific.CODES_EXAMPLE),
        "invite": (recruiting.invite, recruiting.INVITE_EXAMPLE),
    },
    "Run a study": {
        "serve": (serve.serve, serve.EXAMPLE),
        "status": (status.status, status.STATUS_EXAMPLE),
        "console-link": (console.console_link, console.EXAMPLE),
        "queue": (recruiting.queue, recruiting.QUEUE_EXAMPLE),
        "sync": (recruiting.sync, recruiting.SYNC_EXAMPLE),
        "pause": (actions.pause, actions.PAUSE_EXAMPLE),
        "resume": (actions.resume, actions.RESUME_EXAMPLE),
        "stop-arm": (actions.stop_arm, actions.STOP_ARM_EXAMPLE),
        "add-arm": (arms.add_arm, arms.EXAMPLE),
        "exclude": (actions.exclude, actions.EXCLUDE_EXAMPLE),
    },
    "Afterwards": {
        "close": (actions.close, actions.CLOSE_EXAMPLE),
        "approvals": (recruiting.approvals, recruiting.APPROVALS_EXAMPLE),
        "prolific-group": (prolific.prolific_group, prolific.GROUP_EXAMPLE),
        "export": (export.export, export.EXAMPLE),
        "forget": (deletion.forget, deletion.FORGET_EXAMPLE),
        "retention": (deletion.retention, deletion.RETENTION_EXAMPLE),
        "audit": (status.audit, status.AUDIT_EXAMPLE),
    },
}
for _panel, _commands in _COMMANDS.items():
    for _name, (_command, _example) in _commands.items():
        app.command(_name, epilog=_example, rich_help_panel=_panel)(_command)
