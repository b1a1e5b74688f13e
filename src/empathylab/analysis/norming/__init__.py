"""Norming: which situations evoke the feeling that they were written for."""

from empathylab.analysis.norming.analysis import Norming, from_answers, from_lab
from empathylab.analysis.norming.criteria import Criteria, NormedSituation

__all__ = ["Criteria", "NormedSituation", "Norming", "from_answers", "from_lab"]
