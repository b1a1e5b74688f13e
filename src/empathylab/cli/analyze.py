"""`empathylab analyze`: the statistics of what is in the lab."""

from __future__ import annotations

import typer

from empathylab.cli import (
    analyze_agreement,
    analyze_appraisal,
    analyze_judges,
    analyze_leaderboard,
    analyze_ratings,
    analyze_style,
    compare,
)

app = typer.Typer(
    no_args_is_help=True,
    help="The statistics of what is in the lab.",
    epilog="Example: `empathylab analyze appraisal --json`",
)
app.command("ratings", epilog=analyze_ratings.EXAMPLE)(analyze_ratings.ratings)
app.command("style", epilog=analyze_style.EXAMPLE)(analyze_style.style)
app.command("agreement", epilog=analyze_agreement.EXAMPLE)(analyze_agreement.agreement)
app.command("judges", epilog=analyze_judges.EXAMPLE)(analyze_judges.judges)
app.command("leaderboard", epilog=analyze_leaderboard.EXAMPLE)(analyze_leaderboard.leaderboard)
app.command("changes", epilog=compare.EXAMPLE)(compare.changes)
app.command("appraisal", epilog=analyze_appraisal.EXAMPLE)(analyze_appraisal.appraisal)
