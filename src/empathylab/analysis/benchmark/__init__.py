"""A new respondent compared with an existing study, and the leaderboard."""
