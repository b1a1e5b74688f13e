"""The section on whose replies people prefer."""

from __future__ import annotations

from collections.abc import Sequence

from empathylab.analysis.preferences import PreferencesResult, pair_rows, strength_rows
from empathylab.report.blocks import (
    Block,
    Fold,
    Heading,
    Section,
    Table,
    Text,
    conclusions_fold,
    kept,
    slug,
)
from empathylab.report.preferences.figures import figures

_ABOUT = "Raters read two replies to the same situation side by side and chose the better one."
_STRENGTH = (
    "The strength is the log of the odds to be chosen; the average is 0. Counts are of choices as "
    "they were made."
)


def preferences_section(results: Sequence[PreferencesResult], lead: Sequence[str]) -> Section:
    """Study by study; without blocks where the lab has none."""
    blocks: list[Block] = []
    for result in results:
        blocks += _study(result, named=len(results) > 1)
    if blocks:
        blocks.insert(0, Text((_ABOUT,)))
    return Section(id="preferences", title="Preferences", blocks=blocks, lead=lead)


def _study(result: PreferencesResult, *, named: bool) -> list[Block]:
    place = f"preferences-{slug(result.study or result.title)}"
    strengths = Table(
        title=f"Strengths: {result.title}", rows=strength_rows(result), caption=_STRENGTH
    )
    pairs = Table(title=f"Pairs of arms: {result.title}", rows=pair_rows(result))
    return list(
        kept(
            Heading(id=place, title=result.title) if named else None,
            *figures(result),
            Text((result.order_effect,) if result.order_effect else (), "note"),
            Text(result.caveats, "caveats"),
            conclusions_fold(place, result.conclusions),
            Fold(id=f"{place}-pairs", title="Pairs of arms", blocks=kept(pairs)),
            Fold(id=f"{place}-strengths", title="Strengths", blocks=kept(strengths)),
        )
    )
