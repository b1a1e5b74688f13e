"""The criteria for normed situations, and raters' answers about one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from empathylab.analysis.json_values import picked


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a situation must meet."""

    top: float = 0.5
    """The least proportion of raters for whom the intended emotion is the strongest."""
    lead: float = 1.0
    """How far the intended emotion's mean must be above that of any other, in points."""
    realism: float = 5.0
    """The lowest mean realism, on a scale to 7."""
    raters: int = 20
    """With fewer raters nothing is decided."""


@dataclass(frozen=True, slots=True)
class NormedSituation:
    """Raters' answers about one situation."""

    situation: str
    emotion: str | None
    """The one it was written for."""
    raters: int
    top: float | None
    """The proportion for whom it is the strongest; raters with ties count in part."""
    top_low: float | None
    """The lower end of the 95% interval of that proportion."""
    intensity: float | None
    """The mean intensity of the intended emotion."""
    rival: str | None
    """The other emotion with the highest mean."""
    lead: float | None
    """The intended emotion's mean minus the rival's."""
    named: float | None
    """The proportion whose own words name the intended emotion."""
    means: dict[str, float]
    """All means: of every emotion, and pleasantness, arousal, realism, imaginability, distress."""
    failed: tuple[str, ...]
    """The criteria that it does not meet: `raters`, `emotion`, `top`, `lead`, `realism`."""

    @property
    def meets(self) -> bool:
        """Whether it meets all criteria."""
        return not self.failed

    def row(self) -> dict[str, Any]:
        """What raters said as plain values, the criteria that failed as one text."""
        return {
            "situation": self.situation,
            "emotion": self.emotion,
            "meets": self.meets,
            "failed": ", ".join(self.failed),
            **picked(self, "raters top top_low intensity rival lead named"),
            **self.means,
        }

    def norms(self) -> dict[str, float]:
        """What is stored with the situation."""
        known = {
            "raters": float(self.raters),
            "meets": float(self.meets),
            "top": self.top,
            "lead": self.lead,
            "named": self.named,
            **self.means,
        }
        return {name: round(value, 4) for name, value in known.items() if value is not None}
