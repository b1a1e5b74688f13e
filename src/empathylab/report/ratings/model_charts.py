"""Figures of the mixed models of a rated study, and of what a study of its kind can show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from empathylab.analysis.ratings.mixed_rows import doubtful, mean_rows
from empathylab.analysis.ratings.models import DimensionModel
from empathylab.stats.arms import ArmComparison
from empathylab.stats.mixed import Clmm
from empathylab.stats.power.analytic import design_effect, two_shares_power

_DIFFERENCES = (0.05, 0.10, 0.15)
_STEPS = 40
_BLUE = "#0072B2"


@dataclass(frozen=True, slots=True)
class PowerSetting:
    """What a power curve takes as given."""

    reference: str
    share: float
    """Of good ratings in the reference arm."""
    ratings_per_rater: int
    icc: float
    raters: int
    """That the study had, in the arm with fewest."""


def forest_chart(models: Sequence[DimensionModel]) -> dict[str, Any] | None:
    """Every coefficient with its 95% interval, models below each other; None without a model.

    Coefficients that must not be told with an interval are left out.
    """
    rows: list[dict[str, Any]] = []
    for one in models:
        if one.model is None:
            continue
        unsure = doubtful(one.model)
        for name, effect in one.model.coefficients.items():
            if name in unsure or name == "Intercept":
                continue
            rows.append(
                {
                    "term": _term(one, name, several=len({each.dimension for each in models}) > 1),
                    "model": one.model.formula,
                    "estimate": effect.estimate,
                    "low": effect.low,
                    "high": effect.high,
                    "p": effect.p,
                    **(
                        {"odds ratio": math.exp(effect.estimate)}
                        if isinstance(one.model, Clmm) and one.model.link == "logit"
                        else {}
                    ),
                }
            )
    if not rows:
        return None
    ordinal = all(isinstance(one.model, Clmm) for one in models if one.model is not None)
    title = "log odds of a better rating" if ordinal else "effect on the rating"
    order = [str(row["term"]) for row in rows]
    axis = alt.Axis(title=title, grid=True, tickCount=6)
    tooltip = [
        alt.Tooltip("term:N"),
        alt.Tooltip("estimate:Q", format="+.3f"),
        alt.Tooltip("low:Q", format="+.3f", title="95% from"),
        alt.Tooltip("high:Q", format="+.3f", title="to"),
        alt.Tooltip("p:Q", format=".2~g"),
    ]
    if ordinal:
        tooltip.append(alt.Tooltip("odds ratio:Q", format=".2f"))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("term:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=420)),
        tooltip=tooltip,
    )
    lines = base.mark_rule(strokeWidth=2, color=_BLUE).encode(
        alt.X("low:Q", axis=axis), alt.X2("high:Q")
    )
    points = base.mark_square(size=70, opacity=1, color=_BLUE).encode(
        alt.X("estimate:Q", axis=axis)
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(strokeDash=[2, 2])
        .encode(alt.X("zero:Q", axis=axis), color=alt.value("gray"))
    )
    return _spec(alt.layer(zero, lines, points), 30 * max(2, len(order)))


def _term(one: DimensionModel, name: str, *, several: bool) -> str:
    """The coefficient's name, with what tells its model from the others."""
    shown = name.replace(":", " × ")
    for factor in ("arm", "valence"):
        shown = " × ".join(
            part.removeprefix(factor) or part if part.startswith(factor) else part
            for part in shown.split(" × ")
        )
    told = [one.dimension] if several else []
    told += ["with valence"] if one.by_valence else []
    return f"{shown} ({', '.join(told)})" if told else shown


def model_means_chart(one: DimensionModel) -> dict[str, Any] | None:
    """Each arm's mean rating with its 95% interval as the mixed model estimates it.

    Of an ordinal model the mean category, the worst being 1. None where the model has no means.
    """
    if one.model is None or one.by_valence or doubtful(one.model):
        return None
    found = [
        row
        for row in mean_rows(one.model, "arm")
        if row.get("scale", "expected") == "expected" and row["estimate"] is not None
    ]
    if not found:
        return None
    rows = [
        {"arm": row["level"], "mean": row["estimate"], "low": row["low"], "high": row["high"]}
        for row in found
    ]
    ordinal = isinstance(one.model, Clmm)
    title = f"mean {one.dimension}" + (" (1 is worst)" if ordinal else "")
    axis = alt.Axis(title=title, grid=True, tickCount=6)
    scale = alt.Scale(zero=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y(
            "arm:N",
            sort=[str(row["arm"]) for row in rows],
            title=None,
            axis=alt.Axis(labelLimit=180, grid=False),
        ),
        tooltip=[
            alt.Tooltip("arm:N"),
            alt.Tooltip("mean:Q", format=".3f"),
            alt.Tooltip("low:Q", format=".3f", title="95% from"),
            alt.Tooltip("high:Q", format=".3f", title="to"),
        ],
    )
    lines = base.mark_rule(strokeWidth=2, color=_BLUE).encode(
        alt.X("low:Q", axis=axis, scale=scale), alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=64, opacity=1, color=_BLUE).encode(
        alt.X("mean:Q", axis=axis, scale=scale)
    )
    return _spec(alt.layer(lines, points), 34 * max(2, len(rows)))


def power_setting(comparison: ArmComparison, dimension: str) -> PowerSetting | None:
    """What the study says about the next one: its reference, its raters and how alike they are."""
    tests = [
        one
        for one in comparison.tests
        if one.dimension == dimension and one.kind == "all" and one.n_reference
    ]
    counts = [one for one in comparison.counts if one.dimension == dimension and one.kind == "all"]
    mine = [one for one in counts if one.arm == comparison.reference]
    if not tests or not mine or not mine[0].raters:
        return None
    share = mine[0].good / mine[0].n
    iccs = [value for one in tests for value in (one.clustered.icc, one.clustered.icc_reference)]
    known = [value for value in iccs if math.isfinite(value)]
    if not 0 < share < 1 or not known:
        return None
    icc = min(1.0, max(0.0, sum(known) / len(known)))
    each = max(1, round(mine[0].n / mine[0].raters))
    raters = min((one.raters for one in counts if one.raters), default=mine[0].raters)
    return PowerSetting(comparison.reference, share, each, icc, raters)


def power_chart(given: PowerSetting) -> dict[str, Any]:
    """With how many raters per arm a difference in good ratings is found how surely, at α = .05."""
    most = max(100, 2 * given.raters)
    effect = design_effect(given.icc, given.ratings_per_rater)
    rows = []
    for points in _DIFFERENCES:
        share = given.share + points if given.share + points < 1 else given.share - points
        for step in range(1, _STEPS + 1):
            raters = max(2, round(most * step / _STEPS))
            n = max(1, int(raters * given.ratings_per_rater / effect))
            rows.append(
                {
                    "difference": f"{100 * points:.0f} points",
                    "raters": raters,
                    "power": two_shares_power(share, given.share, n).power,
                }
            )
    order = [f"{100 * points:.0f} points" for points in _DIFFERENCES]
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2)
        .encode(
            alt.X("raters:Q", title="raters per arm", axis=alt.Axis(grid=True, tickCount=6)),
            alt.Y(
                "power:Q",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", grid=True, tickCount=5),
            ),
            alt.Color(
                "difference:N",
                scale=alt.Scale(domain=order),
                legend=alt.Legend(title=None, orient="top"),
            ),
            tooltip=[
                alt.Tooltip("difference:N"),
                alt.Tooltip("raters:Q", title="raters per arm"),
                alt.Tooltip("power:Q", format=".1%"),
            ],
        )
    )
    had = (
        alt.Chart(alt.InlineData(values=[{"had": given.raters}]))
        .mark_rule(strokeDash=[4, 3])
        .encode(alt.X("had:Q", title="raters per arm"), color=alt.value("gray"))
    )
    return _spec(alt.layer(lines, had), 240)


def _spec(chart: Any, height: int) -> dict[str, Any]:
    spec: dict[str, Any] = chart.properties(width="container", height=height).to_dict(
        validate=False
    )
    spec.pop("config", None)
    return spec
