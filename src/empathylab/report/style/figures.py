"""The charts of style, each with its name, title and note."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from empathylab.analysis.json_values import json_value
from empathylab.analysis.style.estimates import StyleEstimates
from empathylab.analysis.style.feature_titles import main_features
from empathylab.analysis.style.tables import feature_standings
from empathylab.analysis.style.terms import shown_terms, spelled
from empathylab.analysis.text.names import first_capital, name_of
from empathylab.report.blocks import Figure, slug
from empathylab.report.style.charts import (
    MOST_IN_PROFILE,
    MOST_PANELS,
    ablation_chart,
    confusion_chart,
    distinctive_chart,
    emoji_chart,
    feature_profile_chart,
    relation_chart,
)
from empathylab.report.style.tactic_charts import tactic_flow_chart, tactic_transition_chart
from empathylab.style.distinctive import DistinctiveTerms

_TERMS = 20


_NOTES = {
    "profile": "In standard deviations over responses from the mean of all respondents; 95% "
    "intervals over situations.",
    "features": f"The {MOST_PANELS} features whose means differ most in relation to their 95% "
    "intervals, which are over situations. In standard deviations over responses from the mean of "
    "all respondents.",
    "emoji": "The most common emoji. A PDF shows their names, because it cannot contain a font of "
    "coloured emoji; SVG and PNG show them where such a font is installed.",
}
_SMALL = ("distinctive", "transitions", "confusion", "ablations", "emoji")


def figures(analysis: StyleEstimates) -> Iterator[Figure]:
    """All charts that the analysis has something for."""
    for kind, title, name, spec in _drawn(analysis):
        if spec is not None:
            yield Figure(
                name=name,
                title=title,
                spec=json_value(spec),
                note=_NOTES.get(kind, ""),
                wide=kind not in _SMALL,
            )


def write_figures(analysis: StyleEstimates, folder: Path) -> list[Path]:
    """The figures as PNG, SVG and Vega-Lite JSON in that folder, and their paths."""
    import json

    from empathylab.report.pictures import png, svg

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in figures(analysis):
        path = folder / f"{figure.name}.json"
        path.write_text(json.dumps(figure.spec, ensure_ascii=False, indent=1), encoding="utf-8")
        path.with_suffix(".svg").write_text(svg(figure.spec), encoding="utf-8")
        path.with_suffix(".png").write_bytes(png(figure.spec))
        written += [path.with_suffix(ending) for ending in (".json", ".svg", ".png")]
    return written


def _drawn(
    analysis: StyleEstimates,
) -> Iterator[tuple[str, str, str, dict[str, Any] | None]]:
    titles = main_features(analysis)
    names = analysis.respondents
    chart: dict[str, Any] | None
    if len(names) > 1 and titles:
        chart = feature_profile_chart(feature_standings(analysis), titles=titles)
        some = len(names) > MOST_IN_PROFILE and len(titles) > MOST_PANELS
        title = "Features that differ most" if some else "Features, compared with the mean of all"
        yield "features" if some else "profile", title, "profile", chart
    readable = [_readable(item) for item in analysis.distinctive]
    for place, one in enumerate(readable, start=1):
        chart = distinctive_chart(readable, one.respondent, top=_TERMS) if one.terms else None
        name = f"distinctive-{place}-{slug(one.respondent)}"
        others = [name for name in names if name != one.respondent]
        against = one.against or (others[0] if len(others) == 1 else "the others")
        title = f"{name_of(one.respondent)}, compared with {name_of(against)}"
        yield "distinctive", first_capital(title), name, chart
    found = analysis.predictability
    if found is not None:
        yield "confusion", "Authors and predicted authors", "confusion", confusion_chart(found)
        if found.ablations:
            title = "Authors identified from part of the text"
            yield "ablations", title, "ablations", ablation_chart(found)
    yield "emoji", "Emoji per response", "emoji", emoji_chart(_every_respondent(analysis))
    flow = tactic_flow_chart(analysis.tactics.places)
    yield "tactics", "Where each tactic occurs", "tactics", flow
    for place, who in enumerate(names, start=1):
        chart = tactic_transition_chart(analysis.tactics.transitions, who)
        yield "transitions", f"{who}: what follows what", f"transitions-{place}-{slug(who)}", chart
    for place, rated in enumerate(analysis.rated, start=1):
        chart = relation_chart(rated, titles)
        title = f"Associations with {rated.dimension or 'the'} ratings"
        named = f"{title}, {rated.study}" if rated.study else title
        yield "ratings", named, f"ratings-{place}", chart


def _readable(distinctive_terms: DistinctiveTerms) -> DistinctiveTerms:
    terms = shown_terms(distinctive_terms.terms, _TERMS)
    return dataclasses.replace(
        distinctive_terms,
        terms=tuple(dataclasses.replace(term, term=spelled(term.term)) for term in terms),
    )


def _every_respondent(analysis: StyleEstimates) -> pl.DataFrame:
    """The emoji with a row of zero for respondents without any: each keeps its colour."""
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
