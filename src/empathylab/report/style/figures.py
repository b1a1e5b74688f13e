"""The figures about style, each with its title and the table behind it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from empathylab.analysis.ratings.rows import plain
from empathylab.analysis.style.analysis import StyleAnalysis
from empathylab.analysis.style.tables import main_features
from empathylab.analysis.style.terms import shown_terms, spelled
from empathylab.report.style.charts import (
    ablation_chart,
    confusion_chart,
    distinctive_chart,
    emoji_chart,
    feature_profile_chart,
    tactic_flow_chart,
    tactic_transition_chart,
)
from empathylab.report.style.relation_chart import relation_chart
from empathylab.style.distinctive import DistinctiveTerms

_TERMS = 20


@dataclass(frozen=True, slots=True)
class StyleFigure:
    """A chart, what it shows, and the name of its file."""

    kind: str
    """`profile`, `distinctive`, `confusion`, `ablations`, `emoji`, `tactics`, `transitions` or
    `ratings`."""
    title: str
    name: str
    spec: dict[str, Any]


def style_figures(analysis: StyleAnalysis) -> list[StyleFigure]:
    """All figures that the analysis has something for."""
    return [
        StyleFigure(kind, title, name, plain(spec))
        for kind, title, name, spec in _drawn(analysis)
        if spec is not None
    ]


def write_figures(analysis: StyleAnalysis, folder: Path) -> list[Path]:
    """The figures as PNG, SVG and Vega-Lite JSON in that folder, and their paths."""
    import json

    from empathylab.report.pictures import png, svg

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for one in style_figures(analysis):
        path = folder / f"{one.name}.json"
        path.write_text(json.dumps(one.spec, ensure_ascii=False, indent=1), encoding="utf-8")
        path.with_suffix(".svg").write_text(svg(one.spec), encoding="utf-8")
        path.with_suffix(".png").write_bytes(png(one.spec))
        written += [path.with_suffix(ending) for ending in (".json", ".svg", ".png")]
    return written


def _drawn(
    analysis: StyleAnalysis,
) -> Iterator[tuple[str, str, str, dict[str, Any] | None]]:
    titles = main_features(analysis)
    names = analysis.respondents
    chart: dict[str, Any] | None
    if len(names) > 1 and titles:
        chart = feature_profile_chart(analysis.features, list(titles), titles=titles)
        yield "profile", "Features, against the mean of all", "profile", chart
    readable = [_readable(one) for one in analysis.distinctive]
    for place, one in enumerate(readable, start=1):
        chart = distinctive_chart(readable, one.respondent, top=_TERMS) if one.terms else None
        name = f"distinctive-{place}-{slug(one.respondent)}"
        against = one.against or "the others"
        yield "distinctive", f"{one.respondent}, against {against}", name, chart
    told = analysis.predictability
    if told is not None:
        yield "confusion", "Who was taken for whom", "confusion", confusion_chart(told)
        if told.ablations:
            yield "ablations", "Told from part of the text", "ablations", ablation_chart(told)
    yield "emoji", "Emoji per response", "emoji", emoji_chart(_every_respondent(analysis))
    flow = tactic_flow_chart(analysis.tactics.places)
    yield "tactics", "Where each tactic stands", "tactics", flow
    for place, who in enumerate(names, start=1):
        chart = tactic_transition_chart(analysis.tactics.transitions, who)
        yield "transitions", f"{who}: what follows what", f"transitions-{place}-{slug(who)}", chart
    for place, rated in enumerate(analysis.rated, start=1):
        chart = relation_chart(rated, titles)
        title = f"What goes with {rated.dimension or 'the'} ratings"
        named = f"{title}, {rated.study}" if rated.study else title
        yield "ratings", named, f"ratings-{place}", chart


def slug(name: str) -> str:
    """The name as part of a file's name on any machine."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40] or "respondent"


def _readable(one: DistinctiveTerms) -> DistinctiveTerms:
    terms = shown_terms(one.terms, _TERMS)
    return dataclasses.replace(
        one, terms=tuple(dataclasses.replace(term, term=spelled(term.term)) for term in terms)
    )


def _every_respondent(analysis: StyleAnalysis) -> pl.DataFrame:
    """The emoji with a row of zero for whoever uses none: each keeps their colour and place."""
    if not analysis.emoji.height:
        return analysis.emoji
    used = analysis.emoji.select("respondent", "emoji", "count", "per_response")
    first = used["emoji"][0]
    ordered = []
    for name in analysis.respondents:
        mine = used.filter(pl.col("respondent") == name)
        nothing = {"respondent": [name], "emoji": [first], "count": [0], "per_response": [0.0]}
        ordered.append(mine if mine.height else pl.DataFrame(nothing, schema=used.schema))
    return pl.concat(ordered)
