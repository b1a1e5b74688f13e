"""How empathetic replies are by the rubric, as a judge scores them."""

from empathylab.analysis.scores.analysis import from_lab, from_table
from empathylab.analysis.scores.estimates import RespondentScores, Score
from empathylab.analysis.scores.result import ScoresResult

__all__ = ["RespondentScores", "Score", "ScoresResult", "from_lab", "from_table"]
