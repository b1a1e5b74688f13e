"""The charts of preferences, each with its name, title and note."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from empathylab.analysis.json_values import finite
from empathylab.analysis.preferences import PreferencesResult, proportion
from empathylab.report.blocks import Figure
from empathylab.report.estimate_charts import estimates_chart
from empathylab.stats.estimates import Estimate

_MOST_PAIRS = 15
_NOTE = (
    "Proportions of the Bradley–Terry model, with 95% intervals clustered by rater and situation."
)


def figures(result: PreferencesResult) -> Iterator[Figure]:
    """How often each arm is chosen; of several arms also pair by pair."""
    yield Figure(
        name="chosen",
        title=result.proportions_title,
        spec=_chart(result.proportions, who="arm", coloured=True),
        note=_NOTE,
    )
    pairs = {f"{pair.first} over {pair.second}": proportion(pair.effect) for pair in result.pairs}
    if 1 < len(pairs) <= _MOST_PAIRS:
        yield Figure(
            name="pairs",
            title="How often people chose the stronger of each pair",
            spec=_chart(pairs, who="pair", coloured=False),
            note=_NOTE,
        )


def _chart(proportions: Mapping[str, Estimate], *, who: str, coloured: bool) -> dict[str, Any]:
    rows = [
        {
            who: name,
            "estimate": chosen.estimate,
            "low": finite(chosen.low),
            "high": finite(chosen.high),
        }
        for name, chosen in proportions.items()
    ]
    return estimates_chart(
        rows, who=who, title="chosen", form=".0%", ends=(0.0, 1.0), guide=0.5, coloured=coloured
    )
