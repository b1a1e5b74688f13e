"""How judges compare with people, and whether they can replace human raters."""

from empathylab.analysis.judges.analysis import from_lab, from_table
from empathylab.analysis.judges.calibration import CalibrationPlan, calibrate
from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.judges.frames import JudgedRatings, judged_from_lab, judged_from_table
from empathylab.analysis.judges.result import JudgesResult
from empathylab.analysis.judges.style_judge import style_judgements

__all__ = [
    "CalibrationPlan",
    "JudgeCard",
    "JudgedRatings",
    "JudgesResult",
    "calibrate",
    "from_lab",
    "from_table",
    "judged_from_lab",
    "judged_from_table",
    "style_judgements",
]
