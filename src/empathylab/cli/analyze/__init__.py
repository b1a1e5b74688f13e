"""`empathylab analyze`: the statistics of what is in the lab."""

from __future__ import annotations

import typer

from empathylab.cli.analyze import (
    agreement,
    appraisal,
    changes,
    compare,
    conversations,
    judges,
    leaderboard,
    norming,
    preferences,
    ratings,
    recipients,
    style,
)
from empathylab.cli.options import add_commands

app = typer.Typer(
    no_args_is_help=True,
    help="Analyses the data in the lab, or a table of your own.",
    epilog="Example: `empathylab analyze appraisal --json`",
)
add_commands(
    app,
    ratings,
    style,
    agreement,
    judges,
    leaderboard,
    changes,
    compare,
    preferences,
    norming,
    recipients,
    conversations,
    appraisal,
)
