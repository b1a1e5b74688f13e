"""The leaderboard as one HTML file that needs nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import empathylab
from empathylab.analysis.benchmark.leaderboard import LeaderboardResult
from empathylab.analysis.text.numbers import moment
from empathylab.report.benchmark.section import leaderboard_section
from empathylab.report.writing import page_asset, page_environment, write_whole


def render_leaderboard(board: LeaderboardResult) -> str:
    """The page's HTML."""
    return (
        page_environment()
        .get_template("leaderboard_page.html.j2")
        .render(
            board=leaderboard_section(board),
            style="".join(page_asset(name) for name in ("base.css", "leaderboard.css")),
            made_at=moment(datetime.now(UTC)),
            version=empathylab.__version__,
        )
    )


def write_leaderboard(path: Path, board: LeaderboardResult) -> Path:
    """Writes the page; its path."""
    return write_whole(path, render_leaderboard(board))
