"""`empathylab stats`: statistics on any table, without a lab."""

from __future__ import annotations

import typer

from empathylab.cli.options import add_commands
from empathylab.cli.stats import anova, chi2, mixed, power, preferences

app = typer.Typer(
    no_args_is_help=True,
    help=(
        "Computes statistics on your own tables: mixed models, analysis of variance, "
        "chi-square, preferences, power."
    ),
    epilog="Example: `empathylab stats power --effect-w 0.3 --df 8`",
)
app.command("clmm", epilog=mixed.CLMM_EXAMPLE)(mixed.clmm)
app.command("lmm", epilog=mixed.LMM_EXAMPLE)(mixed.lmm)
add_commands(app, anova, chi2, power, preferences)
