"""The specification curve: one comparison under every reasonable choice."""

from __future__ import annotations

from typing import Any

import altair as alt

from empathylab.analysis.ratings.multiverse import Multiverse
from empathylab.analysis.results import ALPHA
from empathylab.analysis.text.names import name_of
from empathylab.report.chart_parts import plain_spec
from empathylab.report.colours import FOUND, NOT_FOUND

_CHOICES = ("outcome", "method", "clustering", "excluded")
_WIDTH = 560


def specification_chart(multiverse: Multiverse) -> dict[str, Any] | None:
    """Per comparison the estimates in rising order, and below which choices each made.

    None without a specification.
    """
    if not multiverse.specifications:
        return None
    parts = [_curve(multiverse, *key) for key in multiverse.comparisons]
    return plain_spec(alt.vconcat(*parts))


def _curve(multiverse: Multiverse, dimension: str, arm: str) -> alt.VConcatChart:
    rows, choices = [], []
    for place, one in enumerate(multiverse.of(dimension, arm), start=1):
        shown = "p < .05" if one.p < ALPHA else "p ≥ .05"
        rows.append(
            {"place": place, "SDs": one.estimate, "low": one.low, "high": one.high, "p": shown}
        )
        chosen = (one.outcome, one.method, one.clustering, one.exclusions)
        for kind, choice in zip(_CHOICES, chosen, strict=True):
            choices.append({"place": place, "choice": f"{kind}: {choice}", "p": shown})
    x = alt.X("place:O", axis=None)
    colour = alt.Color(
        "p:N",
        scale=alt.Scale(domain=["p < .05", "p ≥ .05"], range=[FOUND, NOT_FOUND]),
        legend=alt.Legend(title=None),
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(x, colour)
    title = "difference, standard deviations"
    rules = base.mark_rule().encode(alt.Y("low:Q", title=title), alt.Y2("high:Q"))
    points = base.mark_point(filled=True, size=45).encode(alt.Y("SDs:Q", title=title))
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[2, 2])
    above = alt.layer(zero.encode(alt.Y("zero:Q", title=title)), rules, points)
    below = (
        alt.Chart(alt.InlineData(values=choices))
        .mark_tick(thickness=2, orient="vertical")
        .encode(x, alt.Y("choice:N", title=None, axis=alt.Axis(labelLimit=300)), colour)
    )
    heading = f"{name_of(arm)} on {dimension}"
    return alt.vconcat(
        above.properties(width=_WIDTH, height=180, title=heading), below.properties(width=_WIDTH)
    )
