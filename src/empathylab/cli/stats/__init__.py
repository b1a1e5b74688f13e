"""`empathylab stats`: statistics on any table, without a lab."""

from __future__ import annotations

import typer

from empathylab.cli.stats import anova, chi2, mixed, power, preferences

app = typer.Typer(
    no_args_is_help=True,
    help="Statistics on your own tables: mixed models, analysis of variance, chi-square, "
    "preferences, power.",
    epilog="Example: `empathylab stats power --effect-w 0.3 --df 8`",
)
app.command("clmm", epilog=mixed.CLMM_EXAMPLE)(mixed.clmm)
app.command("lmm", epilog=mixed.LMM_EXAMPLE)(mixed.lmm)
app.command("anova", epilog=anova.EPILOG)(anova.anova)
app.command("chi2", epilog=chi2.EPILOG)(chi2.chi2)
app.command("power", epilog=power.EPILOG)(power.power)
app.command("preferences", epilog=preferences.EXAMPLE)(preferences.preferences)
