"""Models as raters: what they are asked, and how their answers are read."""

from empathylab.judging.asking import Asking
from empathylab.judging.instruments import Instrument, default_instrument, study_instrument
from empathylab.judging.pairs import Comparing, plan_comparing
from empathylab.judging.single import Judging, plan_judging

__all__ = [
    "Asking",
    "Comparing",
    "Instrument",
    "Judging",
    "default_instrument",
    "plan_comparing",
    "plan_judging",
    "study_instrument",
]
