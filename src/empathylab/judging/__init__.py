"""Models as raters: what they are asked, and how their answers are read."""

from empathylab.judging.asking import Asking
from empathylab.judging.instruments import (
    Instrument,
    JudgedDimension,
    default_instrument,
    study_instrument,
)
from empathylab.judging.pairs import Comparing, plan_comparing
from empathylab.judging.single import Judging, plan_judging

__all__ = [
    "Asking",
    "Comparing",
    "Instrument",
    "JudgedDimension",
    "Judging",
    "default_instrument",
    "plan_comparing",
    "plan_judging",
    "study_instrument",
]
