"""Figures of the mixed models of a rated study, and of the power of such a study."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import altair as alt

from empathylab.analysis.ratings.mixed_models import doubtful, mean_rows
from empathylab.analysis.ratings.model import DimensionModel
from empathylab.analysis.ratings.power import DIFFERENCES, PowerSetting, power_curve
from empathylab.report.chart_parts import number_tooltip, spec_of
from empathylab.report.colours import GROUND, GUIDE, ordered_colours
from empathylab.report.estimate_charts import estimates_chart
from empathylab.stats.mixed import Clmm


def forest_chart(models: Sequence[DimensionModel]) -> dict[str, Any] | None:
    """Every coefficient with its 95% interval, models below each other; None without a model.

    Coefficients without a usable interval are omitted.
    """
    rows: list[dict[str, Any]] = []
    for model in models:
        if model.model is None:
            continue
        unsure = doubtful(model.model)
        for name, effect in model.model.coefficients.items():
            if name in unsure or name == "Intercept":
                continue
            rows.append(
                {
                    "term": _term(
                        model, name, several=len({each.dimension for each in models}) > 1
                    ),
                    "model": model.model.formula,
                    "estimate": effect.estimate,
                    "low": effect.low,
                    "high": effect.high,
                    "p": effect.p,
                    **(
                        {"odds ratio": math.exp(effect.estimate)}
                        if isinstance(model.model, Clmm) and model.model.link == "logit"
                        else {}
                    ),
                }
            )
    if not rows:
        return None
    ordinal = all(isinstance(model.model, Clmm) for model in models if model.model is not None)
    title = "log odds of a better rating" if ordinal else "effect on the rating"
    more = [alt.Tooltip("p:Q", format=".2~g")]
    more += [number_tooltip("odds ratio", "odds ratio")] if ordinal else []
    return estimates_chart(
        rows, who="term", title=title, form="+.2f", zero=True, coloured=False, more=more
    )


def _term(model: DimensionModel, name: str, *, several: bool) -> str:
    """The coefficient's name, with what distinguishes its model from the others."""
    shown = term_name(name)
    details = [model.dimension] if several else []
    details += ["with valence"] if model.by_valence else []
    return f"{shown} ({', '.join(details)})" if details else shown


def term_name(coefficient: str) -> str:
    """The levels that the coefficient is about, without the names of their factors."""
    parts = re.split(r":(?=arm|valence)", coefficient)
    return " × ".join(re.sub(r"^(?:arm|valence)(?=.)", "", part) for part in parts)


def group_name(effect: str) -> str:
    """The random effect, with the arm of a slope named without its factor."""
    return re.sub(r"(?<![^\s])arm(?=[^\s:|])", "", effect).replace("(Intercept)", "intercept")


def model_means_chart(model: DimensionModel) -> dict[str, Any] | None:
    """Each arm's mean rating with its 95% interval as the mixed model estimates it.

    Of an ordinal model the mean category, the worst being 1. None where the model has no means.
    """
    if model.model is None or model.by_valence or doubtful(model.model):
        return None
    found = [
        row
        for row in mean_rows(model.model, "arm")
        if row.get("scale", "expected") == "expected" and row["estimate"] is not None
    ]
    if not found:
        return None
    rows = [
        {name: row[name] for name in ("low", "high")}
        | {"arm": row["level"], "mean": row["estimate"]}
        for row in found
    ]
    ordinal = isinstance(model.model, Clmm)
    title = f"mean {model.dimension}" + (" (1 is worst)" if ordinal else "")
    return estimates_chart(rows, who="arm", title=title, estimate="mean", form=".2f")


def power_chart(given: PowerSetting) -> dict[str, Any]:
    """The power to find a difference in good ratings, by the number of raters per arm."""
    rows: list[dict[str, Any]] = [
        {
            "difference": f"{100 * item.difference:.0f} points",
            "raters": item.raters,
            "power": item.power,
        }
        for item in power_curve(given)
    ]
    order = [f"{100 * points:.0f} points" for points in DIFFERENCES]
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
                scale=alt.Scale(domain=order, range=ordered_colours(len(order) + 1)[1:]),
                legend=None,
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
        .encode(alt.X("had:Q", title="raters per arm"), color=alt.value(GUIDE))
    )
    return spec_of(alt.layer(lines, had, *_curve_names(lines, rows, order)), 240)


def _curve_names(
    lines: alt.Chart, rows: list[dict[str, Any]], order: Sequence[str]
) -> list[alt.Chart]:
    """The name of each curve beside it, the steepest at the top: all end at the same height."""
    heights = [0.5 + 0.4 * place / max(1, len(order) - 1) for place in range(len(order))]
    places = [
        min(
            (row for row in rows if row["difference"] == name),
            key=lambda row: abs(row["power"] - height),
        )
        for name, height in zip(order, heights, strict=True)
    ]
    look: dict[str, Any] = {"align": "left", "dx": 7, "dy": 9, "fontSize": 12, "fontWeight": 600}
    named = lines.properties(data=alt.InlineData(values=places)).encode(text="difference:N")
    halo = named.mark_text(**look, stroke=GROUND, strokeWidth=4, strokeJoin="round")
    return [halo.encode(color=alt.value(GROUND)), named.mark_text(**look)]
