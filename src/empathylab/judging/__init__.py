"""Models as raters, and how far their ratings can be taken for people's."""

from empathylab.judging.asking import Asking
from empathylab.judging.calibration import CalibrationPlan, calibrate
from empathylab.judging.cards import JudgeCard
from empathylab.judging.compare import Comparing, plan_comparing
from empathylab.judging.instruments import Instrument, default_instrument, study_instrument
from empathylab.judging.judged_frames import JudgedRatings, judged_from_lab, judged_from_table
from empathylab.judging.rate import Judging, plan_judging
from empathylab.judging.style_judge import style_judgements

__all__ = [
    "Asking",
    "CalibrationPlan",
    "Comparing",
    "Instrument",
    "JudgeCard",
    "JudgedRatings",
    "Judging",
    "calibrate",
    "default_instrument",
    "judged_from_lab",
    "judged_from_table",
    "plan_comparing",
    "plan_judging",
    "study_instrument",
    "style_judgements",
]
