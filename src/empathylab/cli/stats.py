"""`empathylab stats`: the statistics on anybody's table, without a lab."""

from __future__ import annotations

import typer

from empathylab.cli import stats_chi2, stats_mixed, stats_power, stats_preferences

app = typer.Typer(
    no_args_is_help=True,
    help="Statistics on any table of yours: mixed models, chi-square, preferences, power.",
    epilog="Example: `empathylab stats power --effect-w 0.3 --df 8`",
)
app.command("clmm", epilog=stats_mixed.CLMM_EXAMPLE)(stats_mixed.clmm)
app.command("lmm", epilog=stats_mixed.LMM_EXAMPLE)(stats_mixed.lmm)
app.command("chi2", epilog=stats_chi2.EPILOG)(stats_chi2.chi2)
app.command("power", epilog=stats_power.EPILOG)(stats_power.power)
app.command("preferences", epilog=stats_preferences.EXAMPLE)(stats_preferences.preferences)
