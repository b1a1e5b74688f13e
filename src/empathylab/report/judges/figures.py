"""The charts of judges, each with its name, title and note."""

from __future__ import annotations

from collections.abc import Iterator

from empathylab.analysis.judges.cards import JudgeCard
from empathylab.analysis.judges.result import JudgesResult
from empathylab.report.blocks import Figure, optional_figure, slug
from empathylab.report.judges.charts import (
    Labels,
    agreement_chart,
    bias_chart,
    confusion_chart,
    curve_chart,
    map_chart,
)

MOST_DRAWN = 12
"""Cards that get charts; a page with more is slow."""
FEWEST_DRAWN = 30
"""With fewer human ratings, a calibration curve shows mostly chance."""
_AGREEMENT = "95% intervals. The judge called style knows only how a reply is written."


def figures(result: JudgesResult) -> Iterator[Figure]:
    """All charts that the result has something for."""
    agreement = agreement_chart(result.cards)
    yield from optional_figure("agreement", "Agreement with people", agreement, _AGREEMENT)
    for place, card in enumerate(result.cards[:MOST_DRAWN], start=1):
        yield from card_figures(card, place, result.labels.get(card.dimension, {}))


def card_figures(card: JudgeCard, place: int, labels: Labels) -> Iterator[Figure]:
    """The charts of one judge on one dimension; `place` keeps the names different."""
    enough = card.n_ratings >= FEWEST_DRAWN
    drawn = {
        "confusion": ("The judge's rating, by people's rating", confusion_chart(card, labels)),
        "calibration": (
            "Calibration: people's mean rating, by the judge's rating",
            curve_chart(card) if enough else None,
        ),
        "map": (
            "Calibration map: people's rating, by the judge's rating",
            map_chart(card, labels) if enough else None,
        ),
        "biases": (
            "Biases, in points (position: proportion above one half)",
            bias_chart(card.biases),
        ),
        "emotions": ("By emotion, in points", bias_chart(card.emotions)),
    }
    for kind, (title, spec) in drawn.items():
        name = f"{kind}-{place}-{slug(card.judge)}"
        yield from optional_figure(
            name, f"{card.judge}: {card.dimension}. {title}", spec, wide=False
        )
