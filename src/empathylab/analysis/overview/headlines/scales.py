"""Sentences on the reactions that scales measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from empathylab.analysis.appraisal.result import distance_conclusion, interval_of
from empathylab.analysis.overview.collect import LabOverview
from empathylab.analysis.results import Conclusion
from empathylab.analysis.text.apa import listed
from empathylab.analysis.text.names import PEOPLE, name_of, owner
from empathylab.analysis.text.numbers import number, signed
from empathylab.stats.questionnaires.appraisal import ScaleChange

# Huang et al. 2024, 1,266 people on their own 428 situations; for labs that do not hold them.
PEOPLE_CHANGE = {"positive": -5.13, "negative": 10.44}


def scale_headlines(data: LabOverview) -> Iterator[Conclusion]:
    """The nearest to people and the farthest, then one conclusion per main subscale."""
    doubted = {
        (report.respondent, report.scale)
        for report in data.self_reports
        if report.validity.verdict == "meaningless"
    }
    # Distances on different scales cannot be ranked.
    main = main_scale(data)
    summaries = [
        summary
        for summary in data.appraisal.summaries
        if summary.scale == main and (summary.respondent, summary.scale) not in doubted
    ]
    if len(summaries) > 1:
        order = sorted(summaries, key=lambda item: item.distance)
        near, far = order[0], order[-1]
        yield replace(
            distance_conclusion(near),
            sentence=(
                f"{owner(near.respondent)} reactions are closest to people's, "
                f"{number(near.distance, 2)} SD away (95% CI {number(near.low, 2)} to "
                f"{number(near.high, 2)}), and {owner(far.respondent)} farthest, "
                f"{number(far.distance, 2)} SD ({number(far.low, 2)} to "
                f"{number(far.high, 2)}; {near.scale.upper()}, {near.factors} kinds of "
                "situation)."
            ),
        )
    names = subscale_names(data)
    for subscale, changes in main_changes(data).items():
        named = names.get((changes[0].scale, subscale), subscale)
        yield _subscale(changes, named, doubted)


def subscale_names(data: LabOverview) -> dict[tuple[str, str], str]:
    """What each subscale is called, by the ids of the scale and the subscale."""
    return {
        (scale.id, part.id): part.name
        for scale in data.appraisal.scales
        for part in scale.subscales
    }


def main_scale(data: LabOverview) -> str:
    """PANAS, else the first scale with a change; empty where there is none."""
    scales = [item.scale for item in _overall(data)]
    return "panas" if "panas" in scales else scales[0] if scales else ""


def _overall(data: LabOverview) -> list[ScaleChange]:
    return [
        change
        for change in data.appraisal.changes
        if change.level == "overall" and not math.isnan(change.delta)
    ]


def main_changes(data: LabOverview) -> dict[str, list[ScaleChange]]:
    """The overall changes of the main scale, by subscale."""
    main = main_scale(data)
    by_subscale: dict[str, list[ScaleChange]] = {}
    for item in _overall(data):
        if item.scale == main:
            by_subscale.setdefault(item.subscale, []).append(item)
    return by_subscale


def _subscale(changes: list[ScaleChange], named: str, doubted: set[tuple[str, str]]) -> Conclusion:
    first = changes[0]
    scale = first.scale.upper()
    what = scale if first.subscale == "total" else f"{named} ({scale})"
    people = next((change for change in changes if change.respondent == PEOPLE), None)
    models = [change for change in changes if change.respondent != PEOPLE]
    meant = [model for model in models if (model.respondent, model.scale) not in doubted]
    if models and not meant:
        names = listed([model.respondent for model in models[:3]])
        more = f" and {len(models) - 3} more" if len(models) > 3 else ""
        sentence = (
            f"{what}: the answers of {names}{more} are meaningless, because they do not follow "
            "what the items say. Their change shows nothing about feelings."
        )
        return _of_change(first, sentence, kind="inconclusive")
    order = sorted(meant, key=lambda item: item.cluster_delta)
    parts = []
    if people is not None:
        parts.append(_changed(people))
    elif first.subscale in PEOPLE_CHANGE and first.scale == "panas":
        known = signed(PEOPLE_CHANGE[first.subscale])
        parts.append(f"people {known} points on other situations (Huang et al. 2024)")
    if len(order) == 1:
        parts.insert(0, _changed(order[0]))
    elif order:
        ends = " to ".join(
            f"{signed(item.cluster_delta)} ({', '.join((item.respondent, *_interval(item)))})"
            for item in (order[0], order[-1])
        )
        counts = sorted({item.n for item in order})
        many = f"{number(counts[0], 0)} each"
        if len(counts) > 1:
            many = f"{number(counts[0], 0)} to {number(counts[-1], 0)}"
        parts.append(f"{len(order)} models from {ends}, n = {many}")
    return _of_change(
        order[0] if order else first,
        f"Change in {lowered(what)} after imagined situations: {'; '.join(parts)}.",
    )


def lowered(name: str) -> str:
    """With a small first letter, unless it is an abbreviation."""
    return name if name[:2].isupper() else name[:1].lower() + name[1:]


def _changed(change: ScaleChange) -> str:
    basis = "; ".join((*(_interval(change) or ("no interval",)), f"n = {number(change.n, 0)}"))
    return f"{name_of(change.respondent)} {signed(change.cluster_delta)} points ({basis})"


def _interval(change: ScaleChange) -> tuple[str, ...]:
    interval = interval_of(change)
    return (f"95% CI {signed(interval.low)} to {signed(interval.high)}",) if interval else ()


def _of_change(change: ScaleChange, sentence: str, kind: str = "descriptive") -> Conclusion:
    interval = interval_of(change)
    return Conclusion(
        kind="inconclusive" if kind == "inconclusive" else "descriptive",
        sentence=sentence,
        subject=change.respondent,
        reference="baseline",
        dimension=f"{change.scale} {change.subscale}",
        estimate=change.cluster_delta,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        unit="points",
        n=change.n,
        basis=f"{number(change.n, 0)} scores after {number(change.clusters, 0)} situations",
    )
