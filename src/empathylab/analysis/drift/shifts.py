"""Figures and verdicts on two occasions: one shape for all kinds of figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from empathylab.analysis.json_values import json_value, picked
from empathylab.stats.arms import ClusteredDifference
from empathylab.stats.corrections import benjamini_hochberg, holm

Row = dict[str, Any]
_FIGURES = "before after difference low high p p_holm p_bh n_before n_after"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """One figure on two occasions."""

    about: Mapping[str, str | None] = field(hash=False)
    """Whose figure it is, and which: respondent, scale, study, judge, measure …"""
    before: float
    after: float
    difference: float
    low: float
    high: float
    """The ends of the difference's interval; NaN where there is none."""
    p: float
    n_before: int
    n_after: int
    details: Mapping[str, Any] = field(hash=False)
    """What else is known of this kind of figure: paired, raters, note …"""
    p_holm: float = math.nan
    p_bh: float | None = None
    """After Benjamini and Hochberg; None for figures that are corrected by Holm's method only."""

    def to_dict(self) -> Row:
        """The figure as one row, unrounded; null where a number is not defined."""
        figures = picked(self, _FIGURES)
        if self.p_bh is None:
            del figures["p_bh"]
        return {**self.about, **figures, **json_value(self.details)}


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A verdict on two occasions."""

    about: Mapping[str, str] = field(hash=False)
    """Whose verdict it is: a respondent and a scale, or a judge, a study and a dimension."""
    before: str
    after: str

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def sentence(self) -> str:
        """From what to what it changed."""
        if "judge" in self.about:
            subject = "Judge {judge}, {study}, {dimension}".format(**self.about)
        else:
            subject = "Self-reports of {respondent}, {scale}".format(**self.about)
        return f"{subject}: {self.before} before, {self.after} after."

    def to_dict(self) -> Row:
        """The verdicts as one row."""
        return {**self.about, **picked(self, "before after changed")}


def clustered_shift(
    about: Mapping[str, str | None],
    means: Sequence[float],
    n: Sequence[int],
    test: ClusteredDifference,
    **details: Any,
) -> Shift:
    """A figure whose difference was tested by clusters; `means` and `n` are before and after."""
    before, after = means
    return Shift(
        about=about,
        before=before,
        after=after,
        difference=after - before,
        low=test.difference.low,
        high=test.difference.high,
        p=test.p,
        n_before=n[0],
        n_after=n[1],
        details=details,
    )


def corrected(shifts: Sequence[Shift]) -> list[Shift]:
    """The figures with p values after Holm, and after Benjamini and Hochberg."""
    p = [shift.p for shift in shifts]
    return [
        replace(shift, p_holm=float(strict), p_bh=float(loose))
        for shift, strict, loose in zip(shifts, holm(p), benjamini_hochberg(p), strict=True)
    ]
