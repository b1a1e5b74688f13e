"""The charts of preferences, each with its name, title and note."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from empathylab.analysis.json_values import finite
from empathylab.analysis.preferences import PreferencesResult, proportion
from empathylab.analysis.text.names import name_of
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
        spec=_chart([_row(arm, chosen) for arm, chosen in result.proportions.items()]),
        note=_NOTE,
    )
    places = {arm: place for place, arm in enumerate(result.proportions)}
    pairs = [
        _row(pair.first, proportion(pair.effect)) | {"pair": f"over {name_of(pair.second)}"}
        # The weakest arm is compared with all others, so its panel sets their order.
        for pair in sorted(result.pairs, key=lambda pair: -places[pair.second])
    ]
    if 1 < len(pairs) <= _MOST_PAIRS:
        yield Figure(
            name="pairs",
            title="How often people chose the stronger of each pair",
            spec=_chart(pairs, panels="pair"),
            note=_NOTE,
        )


def _row(arm: str, chosen: Estimate) -> dict[str, Any]:
    return {
        "arm": arm,
        "estimate": chosen.estimate,
        "low": finite(chosen.low),
        "high": finite(chosen.high),
    }


def _chart(rows: Sequence[dict[str, Any]], *, panels: str | None = None) -> dict[str, Any]:
    return estimates_chart(
        rows,
        who="arm",
        title="chosen",
        form=".0%",
        ends=(0.0, 1.0),
        guide=0.5,
        panels=panels,
    )
