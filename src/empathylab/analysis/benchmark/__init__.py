"""A new respondent compared with an existing study, and the leaderboard."""

from empathylab.analysis.benchmark.leaderboard import LeaderboardResult, leaderboard_from_lab
from empathylab.analysis.benchmark.result import BenchmarkResult, from_lab, from_table

__all__ = [
    "BenchmarkResult",
    "LeaderboardResult",
    "from_lab",
    "from_table",
    "leaderboard_from_lab",
]
