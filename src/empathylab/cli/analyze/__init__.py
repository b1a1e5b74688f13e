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

app = typer.Typer(
    no_args_is_help=True,
    help="Statistics on the data in the lab.",
    epilog="Example: `empathylab analyze appraisal --json`",
)
app.command("ratings", epilog=ratings.EXAMPLE)(ratings.ratings)
app.command("style", epilog=style.EXAMPLE)(style.style)
app.command("agreement", epilog=agreement.EXAMPLE)(agreement.agreement)
app.command("judges", epilog=judges.EXAMPLE)(judges.judges)
app.command("leaderboard", epilog=leaderboard.EXAMPLE)(leaderboard.leaderboard)
app.command("changes", epilog=changes.EXAMPLE)(changes.changes)
app.command("compare", epilog=compare.EXAMPLE)(compare.compare)
app.command("preferences", epilog=preferences.EXAMPLE)(preferences.preferences)
app.command("norming", epilog=norming.EXAMPLE)(norming.norming)
app.command("recipients", epilog=recipients.EXAMPLE)(recipients.recipients)
app.command("conversations", epilog=conversations.EXAMPLE)(conversations.conversations)
app.command("appraisal", epilog=appraisal.EXAMPLE)(appraisal.appraisal)
